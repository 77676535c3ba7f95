// See state.h. A state has two blocks: runs read one and write the other, then they swap. Blocks of bounded sizes are
// taken by `bind_state`, others grow with the runs.
#include "runtime/state.h"

#include "runtime/device.h"
#include "runtime/dtype.h"
#include "runtime/errors.h"
#include "runtime/libc.h"
#include "runtime/sizes.h"
#include "runtime/values.h"

namespace rt {
namespace {

cameo_value state_value(const cameo_context* context, const Binding& binding) {
  const Io& io = context->inputs[binding.input];
  cameo_value value = {};
  value.struct_size = sizeof value;
  value.kind = CAMEO_KIND_TENSOR;
  value.tensor = {
      binding.blocks[0].memory, context->model->options.device, io.rank, to_dlpack(io.dtype), binding.dims, nullptr, 0};
  return value;
}

bool may_be_equal(const Io& from, const Io& to) {
  bool may = from.dtype == to.dtype && from.rank == to.rank;
  for (int32_t d = 0; may && d < from.rank; ++d)
    may = from.dims[d] == to.dims[d] || size_place(from, d) >= 0 || size_place(to, d) >= 0;
  return may;
}

cameo_status no_memory(int32_t output, uint64_t bytes, cameo_error* error) {
  return fail(error, CAMEO_OUT_OF_MEMORY, output, -1, "cannot allocate %lu bytes of state", bytes);
}

// Of the largest state, where there is one.
cameo_status take_blocks(cameo_context* context, Binding* binding, const Io& from, const Io& to, cameo_error* error) {
  const DeviceDriver* driver = driver_of(*context->model);
  const bool open = is_open(from) || is_open(to);
  if (driver && open)
    return fail(error, CAMEO_UNIMPLEMENTED, binding->output, -1,
                "on a GPU a state needs an upper bound of its sizes; output %s is %s", Quoted(from.name).text,
                TypeText(from).text);
  if (open) return CAMEO_OK;
  const uint64_t most = most_bytes(from) > most_bytes(to) ? most_bytes(from) : most_bytes(to), bytes = most + 1;
  if (driver) return driver->open_state(context, binding, bytes, error);
  for (Grown& block : binding->blocks)
    if (!grow(context->model->options, &block, bytes)) return no_memory(binding->output, 2 * bytes, error);
  return CAMEO_OK;
}

void release_blocks(cameo_context* context, Binding& binding) {
  const DeviceDriver* driver = driver_of(*context->model);
  if (driver) return driver->close_state(context, binding);
  for (const Grown& block : binding.blocks)
    if (block.memory) deallocate(context->model->options, block.memory, block.bytes);
}

cameo_status add_binding(cameo_context* context, int32_t output, int32_t input, cameo_error* error) {
  const Program& program = *context->model->program;
  Binding& binding = context->bindings[context->binding_count];
  int64_t* dims = context->state_dims + (context->shapes[output] - context->shapes[0]);
  binding = {output, input, {}, dims, true};
  const cameo_status status = take_blocks(context, &binding, program.outputs[output], program.inputs[input], error);
  if (status) return release_blocks(context, binding), status;
  ++context->binding_count;
  return CAMEO_OK;
}

}  // namespace

Binding* binding_of(cameo_context* context, int32_t output, int32_t input) {
  for (int32_t i = 0; i < context->binding_count; ++i)
    if (context->bindings[i].output == output || context->bindings[i].input == input) return &context->bindings[i];
  return nullptr;
}

const cameo_value* with_states(cameo_context* context, const cameo_value* in) {
  if (!context->binding_count) return in;
  for (int32_t i = 0; i < static_cast<int32_t>(context->model->program->input_count); ++i) {
    cameo_value& value = context->values[i];
    libc::memcpy(&value, &value_at(in, i), sizeof value);  // the caller's may be longer
    value.struct_size = sizeof value;
    const Binding* binding = value.kind == CAMEO_KIND_NONE ? binding_of(context, -1, i) : nullptr;
    if (binding && !binding->fresh) value = state_value(context, *binding);
  }
  return context->values;
}

cameo_status begin_states(cameo_context* context, cameo_error* error) {
  const DeviceDriver* driver = driver_of(*context->model);
  for (int32_t i = 0; i < context->binding_count; ++i) {
    Binding& binding = context->bindings[i];
    cameo_value& value = context->values[binding.input];
    if (value.kind != CAMEO_KIND_NONE) continue;
    const Io& io = context->inputs[binding.input];
    const uint64_t bytes = io_bytes(io);
    if (!grow(context->model->options, &binding.blocks[0], bytes)) return no_memory(binding.output, bytes, error);
    if (!driver) libc::memset(binding.blocks[0].memory, 0, bytes);
    if (cameo_status status = driver ? driver->clear_state(context, binding.blocks[0].memory, bytes, error) : CAMEO_OK)
      return status;
    for (int32_t d = 0; d < io.rank; ++d) binding.dims[d] = io.dims[d];
    value = state_value(context, binding);
  }
  return CAMEO_OK;
}

cameo_status reserve_state(cameo_context* context, Binding* binding, cameo_error* error) {
  const uint64_t bytes = io_bytes(context->outputs[binding->output]);
  return grow(context->model->options, &binding->blocks[1], bytes) ? CAMEO_OK
                                                                   : no_memory(binding->output, bytes, error);
}

void keep_states(cameo_context* context) {
  for (Binding* binding = context->bindings; binding < context->bindings + context->binding_count; ++binding) {
    const Grown written = binding->blocks[1];
    binding->blocks[1] = binding->blocks[0];
    binding->blocks[0] = written;
    const Io& io = context->outputs[binding->output];
    for (int32_t d = 0; d < io.rank; ++d) binding->dims[d] = io.dims[d];
    binding->fresh = false;
  }
}

void release_states(cameo_context* context) {
  for (int32_t i = 0; i < context->binding_count; ++i) release_blocks(context, context->bindings[i]);
}

[[gnu::cold]] cameo_status bind_state(cameo_context* context, int32_t output, int32_t input, cameo_error* error) {
  if (!context) return fail(error, CAMEO_INVALID_ARGUMENT, -1, -1, "bind_state: `context` is null");
  const Program& program = *context->model->program;
  if (output < 0 || input < 0 || output >= static_cast<int32_t>(program.output_count) ||
      input >= static_cast<int32_t>(program.input_count))
    return fail(error, CAMEO_NOT_FOUND, output, -1, "no output %d or no input %d; the model has %u and %u", output,
                input, program.output_count, program.input_count);
  const Io &from = program.outputs[output], &to = program.inputs[input];
  if (!may_be_equal(from, to))
    return fail(error, CAMEO_INVALID_ARGUMENT, output, -1, "output %s is %s, but input %s is %s",
                Quoted(from.name).text, TypeText(from).text, Quoted(to.name).text, TypeText(to).text);
  if (cameo_status status = enter(context, error)) return status;
  const cameo_status status =
      binding_of(context, output, input)
          ? fail(error, CAMEO_FAILED_PRECONDITION, output, -1, "output %d or input %d is bound already", output, input)
          : add_binding(context, output, input, error);
  leave(context);
  return status;
}

[[gnu::cold]] cameo_status reset_state(cameo_context* context, cameo_error* error) {
  if (!context) return fail(error, CAMEO_INVALID_ARGUMENT, -1, -1, "reset_state: `context` is null");
  if (cameo_status status = enter(context, error)) return status;
  for (int32_t i = 0; i < context->binding_count; ++i) context->bindings[i].fresh = true;
  leave(context);
  return CAMEO_OK;
}

}  // namespace rt
