// See state.h. A state has two blocks: runs read one and write the other, then they swap. Blocks of bounded sizes are
// taken by `bind_state`, others grow with the runs.
#include "runtime/state.h"

#include "runtime/device.h"
#include "runtime/dtype.h"
#include "runtime/errors.h"
#include "runtime/libc.h"
#include "runtime/lists.h"
#include "runtime/sizes.h"
#include "runtime/values.h"

namespace rt {
namespace {

const Append* append_of(const cameo_context* context, int32_t output, int32_t input) {
  const cameo_model& model = *context->model;
  if (model.program->bucket_count || driver_of(model) || model.program->outputs[output].learned) return nullptr;
  for (const Append* a = model.image->appends; a < model.image->appends + model.image->append_count; ++a)
    if (a->output == static_cast<uint32_t>(output) && a->input == static_cast<uint32_t>(input)) return a;
  return nullptr;
}

int64_t length_of_input(const cameo_context* context, const Binding& b) {
  return dim_of(context->model->program->inputs[b.input], static_cast<int32_t>(b.append->axis), context->sizes);
}
int64_t length_of_output(const cameo_context* context, const Binding& b) {
  return dim_of(context->model->program->outputs[b.output], static_cast<int32_t>(b.append->axis), context->sizes);
}

// The kernels of one plan know all states in place, or none.
bool all_bound(const cameo_context* context) {
  uint32_t bound = 0;
  for (int32_t i = 0; i < context->binding_count; ++i) bound += context->bindings[i].append != nullptr;
  return bound && bound == context->model->image->append_count;
}

bool may_stay(const cameo_context* context) {
  bool may = true;
  for (const Binding* b = context->bindings; b < context->bindings + context->binding_count; ++b)
    if (b->append)
      may &= b->reads && b->capacity > length_of_input(context, *b) && b->capacity >= length_of_output(context, *b);
  return may;
}

int64_t new_capacity(const cameo_context* context, const Binding& b) {
  const Io& io = context->model->program->outputs[b.output];
  const int64_t length = length_of_output(context, b), most = io.dim_max[b.append->axis];
  return length && most >= 0 ? most : length + length / 2;
}

// False where states that share a size of the table would want others of it.
bool write_rooms(cameo_context* context, bool* changed) {
  const Binding *begin = context->bindings, *end = begin + context->binding_count;
  int64_t* table = context->sizes;
  for (const Binding* b = begin; b < end; ++b) {
    if (!b->append) continue;
    const int64_t in = b->stays ? b->capacity - length_of_input(context, *b) : 0;
    const int64_t out = b->next_capacity - length_of_output(context, *b);
    *changed |= table[b->append->input_room] != in || table[b->append->output_room] != out;
    table[b->append->input_room] = in;
    table[b->append->output_room] = out;
  }
  for (const Binding* b = begin; b < end; ++b)
    if (b->append && (table[b->append->output_room] != b->next_capacity - length_of_output(context, *b) ||
                      (b->stays && table[b->append->input_room] != b->capacity - length_of_input(context, *b))))
      return false;
  return true;
}

// The state's tensor as it stands: its pitch along the axis is its capacity.
cameo_tensor with_gaps(const Binding& b, const Io& io, void* memory, int64_t capacity, int64_t* strides) {
  int64_t stride = 1;
  for (int32_t d = io.rank; d-- > 0;) {
    strides[d] = stride;
    stride *= b.append && d == static_cast<int32_t>(b.append->axis) ? capacity : io.dims[d];
  }
  return {memory, {CAMEO_CPU, 0}, io.rank, to_dlpack(io.dtype), const_cast<int64_t*>(io.dims), strides, 0};
}

// Towards its beginning, so that no element is overwritten before it has moved.
void close_gaps(cameo_context* context, Binding& b) {
  const Io& io = context->inputs[b.input];
  int64_t strides[kMaxRank];
  copy_strided(with_gaps(b, io, b.blocks[0].memory, b.capacity, strides), b.blocks[0].memory, element_bytes(io.dtype));
  b.capacity = io.dims[b.append->axis];
}

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

// Of the largest state, where there is one.
cameo_status take_blocks(cameo_context* context, Binding* binding, const Io& from, const Io& to, cameo_error* error) {
  if (is_open(from) || is_open(to)) return CAMEO_OK;
  const uint64_t most = most_bytes(from) > most_bytes(to) ? most_bytes(from) : most_bytes(to);
  for (Grown& block : binding->blocks)
    if (cameo_status status = reserve(*context->model, Side::Kernels, &block, most + 1, binding->output, error))
      return status;
  return CAMEO_OK;
}

void release_blocks(cameo_context* context, Binding& binding) {
  for (const Grown& block : binding.blocks) release(*context->model, Side::Kernels, block);
}

cameo_status add_binding(cameo_context* context, int32_t output, int32_t input, cameo_error* error) {
  const Program& program = *context->model->program;
  Binding& binding = context->bindings[context->binding_count];
  int64_t* dims = context->state_dims + (context->shapes[output] - context->shapes[0]);
  binding = {output, input, {}, dims, true, append_of(context, output, input), 0, 0, false, false};
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
    Binding* binding = binding_of(context, -1, i);
    if (!binding) continue;
    binding->reads = value.kind == CAMEO_KIND_NONE && !binding->fresh;
    if (binding->reads) value = state_value(context, *binding);
  }
  return context->values;
}

bool set_rooms(cameo_context* context) {
  Binding *begin = context->bindings, *end = begin + context->binding_count;
  bool changed = false, grow_alike = all_bound(context), stay = grow_alike && may_stay(context);
  do {
    for (Binding* b = begin; b < end; ++b) {
      if (!b->append) continue;
      b->stays = stay;
      b->next_capacity = stay ? b->capacity : grow_alike ? new_capacity(context, *b) : length_of_output(context, *b);
    }
    if (write_rooms(context, &changed) || !grow_alike) return changed;
    grow_alike = stay = false;
  } while (true);
}

cameo_status begin_states(cameo_context* context, cameo_error* error) {
  const DeviceDriver* driver = driver_of(*context->model);
  for (int32_t i = 0; i < context->binding_count; ++i) {
    Binding& binding = context->bindings[i];
    cameo_value& value = context->values[binding.input];
    if (binding.append && binding.reads && !binding.stays) close_gaps(context, binding);
    if (value.kind != CAMEO_KIND_NONE) continue;
    const Io& io = context->inputs[binding.input];
    const uint64_t bytes = io_bytes(io);
    cameo_status status = reserve(*context->model, Side::Kernels, &binding.blocks[0], bytes, binding.output, error);
    if (!status && driver) status = driver->clear(context, binding.blocks[0].memory, bytes, error);
    if (status) return status;
    if (!driver) libc::memset(binding.blocks[0].memory, 0, bytes);
    for (int32_t d = 0; d < io.rank; ++d) binding.dims[d] = io.dims[d];
    value = state_value(context, binding);
  }
  return CAMEO_OK;
}

cameo_status reserve_state(cameo_context* context, Binding* binding, cameo_error* error) {
  const Io& io = context->outputs[binding->output];
  if (binding->stays) return CAMEO_OK;
  uint64_t bytes = io_bytes(io);
  if (bytes && binding->append)
    bytes =
        bytes / static_cast<uint64_t>(io.dims[binding->append->axis]) * static_cast<uint64_t>(binding->next_capacity);
  return reserve(*context->model, Side::Kernels, &binding->blocks[1], bytes, binding->output, error);
}

cameo_status reserve_copy(cameo_context* context, const Binding& binding, cameo_error* error) {
  const Io& io = context->outputs[binding.output];
  if (!has_gaps(binding, io)) return CAMEO_OK;
  Grown& memory = context->open_outputs[binding.output];
  if (cameo_status status = reserve(*context->model, Side::Kernels, &memory, io_bytes(io), binding.output, error))
    return status;
  context->owned[binding.output] = memory.memory;
  return CAMEO_OK;
}

void copy_state(const cameo_context* context, const Binding& binding, void* to) {
  const Io& io = context->outputs[binding.output];
  int64_t strides[kMaxRank];
  copy_strided(with_gaps(binding, io, written_by(binding), binding.next_capacity, strides), to,
               element_bytes(io.dtype));
}

void keep_states(cameo_context* context) {
  for (Binding* binding = context->bindings; binding < context->bindings + context->binding_count; ++binding) {
    if (!binding->stays) {
      const Grown written = binding->blocks[1];
      binding->blocks[1] = binding->blocks[0];
      binding->blocks[0] = written;
    }
    binding->capacity = binding->next_capacity;
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
  if (from.kind != CAMEO_KIND_TENSOR || to.kind != CAMEO_KIND_TENSOR)
    return fail(error, CAMEO_UNIMPLEMENTED, output, -1,
                "output %s or input %s is no tensor of numbers, as a state has to be", Quoted(from.name).text,
                Quoted(to.name).text);
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
