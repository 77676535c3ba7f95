// The function table over one program. The program is a template argument, since the table's functions take no handle
// that could name it; everything of weight is in model.h.
#pragma once

#include "runtime/dtype.h"
#include "runtime/errors.h"
#include "runtime/libc.h"
#include "runtime/model.h"

namespace rt {

cameo_status describe_io(const Program& program, bool is_output, int32_t index, cameo_io* io);
cameo_status describe_element(const Program& program, bool is_output, int32_t index, int32_t depth, cameo_io* io);
cameo_status describe_node(const Program& program, int32_t index, cameo_node* node);
cameo_status describe_plan(const Program& program, const cameo_context* context, int32_t index, cameo_plan* plan);
cameo_status describe_outputs(const cameo_model* model, const cameo_value* in, int32_t in_count, cameo_io* out,
                              int32_t count, cameo_error* error);
cameo_status measure_workspace(const cameo_model* model, const cameo_value* in, int32_t in_count, size_t* bytes,
                               size_t* alignment, cameo_error* error);
void initialise(cameo_options* options);
const char* status_string(cameo_status status);
cameo_status no_weights_yet(cameo_error* error);

template <const Program& kProgram>
constexpr cameo_api make_api() {
  cameo_api api = {};
  api.struct_size = sizeof api;
  api.abi_major = CAMEO_ABI_MAJOR;
  api.abi_minor = CAMEO_ABI_MINOR;
  api.manifest = [](size_t* bytes) {
    if (bytes) *bytes = kProgram.manifest_bytes;
    return kProgram.manifest;
  };
  api.io_count = [](int32_t is_output) {
    return static_cast<int32_t>(is_output ? kProgram.output_count : kProgram.input_count);
  };
  api.io_get = [](int32_t is_output, int32_t index, cameo_io* io) {
    return describe_io(kProgram, is_output, index, io);
  };
  api.options_init = initialise;
  api.model_create = [](const cameo_options* options, cameo_model** model, cameo_error* error) {
    return create_model(kProgram, options, model, error);
  };
  api.model_retain = retain_model;
  api.model_release = release_model;
  api.context_create = create_context;
  api.context_release = release_context;
  api.bind_state = bind_state;
  api.workspace_size = measure_workspace;
  api.output_types = describe_outputs;
  api.prepare = prepare;
  api.run = run;
  api.cancel = [](cameo_context* context) {
    if (context) __atomic_store_n(&context->run.cancelled, 1, __ATOMIC_RELAXED);
  };
  api.weights_get = [](const cameo_model*, const char*, cameo_tensor*, cameo_error* error) {
    return no_weights_yet(error);
  };
  api.weights_set = [](cameo_model*, const char*, const cameo_tensor*, cameo_error* error) {
    return no_weights_yet(error);
  };
  api.weights_commit = [](cameo_model*, cameo_error* error) { return no_weights_yet(error); };
  api.node_count = [] { return static_cast<int32_t>(kProgram.node_count); };
  api.node_get = [](int32_t index, cameo_node* node) { return describe_node(kProgram, index, node); };
  api.tap = set_tap;
  api.profile = set_profile;
  api.selftest = [](const cameo_options* options, void (*report)(void*, const cameo_check*), void* user,
                    cameo_error* error) { return selftest(kProgram, options, report, user, error); };
  api.status_string = status_string;
  api.synchronize = synchronize;
  api.plan_count = [] { return static_cast<int32_t>(plan_count(kProgram)); };
  api.plan_get = [](const cameo_context* context, int32_t index, cameo_plan* plan) {
    return describe_plan(kProgram, context, index, plan);
  };
  api.reset_state = reset_state;
  api.io_element = [](int32_t is_output, int32_t index, int32_t depth, cameo_io* io) {
    return describe_element(kProgram, is_output, index, depth, io);
  };
  return api;
}

}  // namespace rt

// The emitted source's `<name>_api` and `cameo_model_api` return what this returns.
extern "C" __attribute__((visibility("hidden"))) const cameo_api* cameo_program_api(uint32_t abi_major);
