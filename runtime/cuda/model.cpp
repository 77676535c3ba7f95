// A model on a GPU: the driver, the card's primary context, the code that fits it, its functions and the weights.
#include "runtime/cuda/cuda.h"
#include "runtime/cuda/unpack.h"
#include "runtime/libc.h"

namespace rt::cuda {
namespace {

cameo_status find_code(const Device& device, int32_t ordinal, Driver* driver, Card* card, const DeviceCode** code,
                       cameo_error* error) {
  cameo_status status = load_driver(driver, error);
  if (!status) status = find_card(*driver, ordinal, card, error);
  if (status) return status;
  *code = choose_code(device, *card);
  return *code ? CAMEO_OK : no_code(device, *card, error);
}

cameo_status load_code(Model* m, const cameo_options& options, const DeviceCode& code, cameo_error* error) {
  char log[256] = "";
  const int32_t names[] = {kErrorLog, kErrorLogBytes};
  void* values[] = {log, reinterpret_cast<void*>(sizeof log)};
  const uint64_t bytes = code_bytes(code);
  char* unpacked = static_cast<char*>(allocate(options, bytes));
  if (!unpacked) return fail(error, CAMEO_OUT_OF_MEMORY, -1, -1, "cannot allocate %lu bytes for code", bytes);
  unpack(code, unpacked, bytes);
  const int32_t result = m->driver.cuModuleLoadDataEx.call(&m->module, unpacked, 2, names, values);
  deallocate(options, unpacked, bytes);
  if (!result) return CAMEO_OK;
  const cameo_status status = failed_call(m->driver, "cuModuleLoadDataEx", result, error);
  if (!log[0]) return status;
  return fail(error, status, -1, -1, "NVIDIA's driver does not take the code for `%s`: %s", code.architecture, log);
}

void log_refusal(const cameo_model& model, const DeviceCode& refused, const DeviceCode& next, const char* why) {
  char text[640];
  if (!model.options.log) return;
  libc::snprintf(text, sizeof text, "it runs its code for `%s`, not that for `%s`: %s", next.architecture,
                 refused.architecture, why);
  model.options.log(model.options.user, 1, text);
}

// The best code first. An image that the driver refuses may have a sibling that it takes: PTX beside cubins of a
// toolkit that is newer than the driver.
cameo_status load_best_code(Model* m, const cameo_model& model, const DeviceCode* code, cameo_error* error) {
  const Device& device = *model.image->device;
  for (;;) {
    cameo_error reason;
    reason.struct_size = sizeof reason;
    const cameo_status status = load_code(m, model.options, *code, &reason);
    const DeviceCode* next = status == CAMEO_UNAVAILABLE ? choose_code(device, m->card, code) : nullptr;
    if (!next) return status ? fail(error, status, -1, -1, "%s", reason.message) : CAMEO_OK;
    log_refusal(model, *code, *next, reason.message);
    code = next;
  }
}

cameo_status find_functions(Model* m, const cameo_model& model, cameo_error* error) {
  const Device& device = *model.image->device;
  Calls calls(m->driver, error);
  const Kernel* on_host = model.image->kernels;
  for (uint32_t i = 0; i < device.entry_count; ++i)
    if (!on_host || !on_host[i])
      calls(m->driver.cuModuleGetFunction, &m->functions[i], m->module, model.program->text + device.entries[i].name);
  return calls.status();
}

cameo_status move_weights(Model* m, cameo_model* model, cameo_error* error) {
  const uint64_t bytes = model->program->weights_bytes;
  if (!bytes) return CAMEO_OK;
  if (cameo_status status = take_memory(*m, &m->weights, bytes, error)) return status;
  Calls calls(m->driver, error);
  calls(m->driver.cuMemcpyHtoD, m->weights, model->weights, bytes);
  model->weights = m->weights;
  release_weights(model);
  return calls.status();
}

void log_graphs(const cameo_model& model) {
  char text[120];
  const Graphs g = graphs_of(*model.image, *model.image->schedule);
  if (!model.options.log || model.image->device->mode != Mode::ReduceOverhead) return;
  libc::snprintf(text, sizeof text, "reduce-overhead: %u steps in %u graph%s, %u launched one by one", g.steps, g.count,
                 g.count == 1 ? "" : "s", g.others);
  model.options.log(model.options.user, 0, text);
}

}  // namespace

cameo_status take_memory(const Model& model, void** memory, uint64_t bytes, cameo_error* error) {
  const int32_t result = model.driver.cuMemAlloc.call(memory, bytes);
  if (result == kOutOfMemory) return no_memory(model, bytes, error);
  return result ? failed_call(model.driver, "cuMemAlloc", result, error) : CAMEO_OK;
}

cameo_status no_memory(const Model& model, uint64_t bytes, cameo_error* error) {
  size_t free = 0, total = 0;
  model.driver.cuMemGetInfo.call(&free, &total);
  return fail(error, CAMEO_OUT_OF_MEMORY, -1, -1, "cannot allocate %lu bytes on GPU %d (%s), which has %lu of %lu free",
              bytes, model.card.ordinal, model.card.name, free, total);
}

cameo_status probe(const Device& device, int32_t ordinal, FoundDevice* found, cameo_error* error) {
  Driver driver;
  Card card;
  *found = {};
  const cameo_status status = find_code(device, ordinal, &driver, &card, &found->code, error);
  found->count = card.count;
  libc::memcpy(found->name, card.name, sizeof found->name);
  return status;
}

cameo_status open_model(cameo_model* model, cameo_error* error) {
  const Device& device = *model->image->device;
  const uint64_t bytes = sizeof(Model) + device.entry_count * sizeof(void*);
  Model* m = static_cast<Model*>(allocate(model->options, bytes));
  if (!m) return fail(error, CAMEO_OUT_OF_MEMORY, -1, -1, "cannot allocate a model");
  *m = {};
  m->functions = reinterpret_cast<void**>(m + 1);
  m->bytes = bytes;
  model->device_state = m;
  const DeviceCode* code = nullptr;
  if (cameo_status status = find_code(device, model->options.device.device_id, &m->driver, &m->card, &code, error))
    return status;
  Calls calls(m->driver, error);
  calls(m->driver.cuDevicePrimaryCtxRetain, &m->primary, m->card.device);
  const Current current(*m, calls);
  cameo_status status = calls.status();
  if (!status) status = load_best_code(m, *model, code, error);
  if (!status) status = find_functions(m, *model, error);
  if (!status) status = move_weights(m, model, error);
  if (!status) log_graphs(*model);
  return status;
}

void close_model(cameo_model* model) {
  Model* m = static_cast<Model*>(model->device_state);
  if (!m) return;
  Calls calls(m->driver, nullptr);
  if (m->primary) {
    const Current current(*m, calls);
    if (m->weights) m->driver.cuMemFree.call(m->weights);
    if (m->module) m->driver.cuModuleUnload.call(m->module);
  }
  if (m->primary) m->driver.cuDevicePrimaryCtxRelease.call(m->card.device);
  deallocate(model->options, m, m->bytes);
}

}  // namespace rt::cuda

namespace rt {
const DeviceDriver cuda_driver = {cuda::probe,         cuda::graphs,       cuda::open_model,    cuda::close_model,
                                  cuda::context_bytes, cuda::open_context, cuda::close_context, cuda::grow,
                                  cuda::release,       cuda::clear,        cuda::read,          cuda::upload_input,
                                  cuda::walk,          cuda::synchronize,  cuda::report,        cuda::return_output};
}
