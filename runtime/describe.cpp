// What the table answers without running: inputs, outputs, nodes, sizes, status names.
#include "runtime/abi.h"
#include "runtime/device.h"
#include "runtime/lists.h"
#include "runtime/sizes.h"

namespace rt {
namespace {

// Writes as much of `value` as the caller's structure holds.
template <class T>
void give(const T& value, T* to) {
  const uint32_t room = to->struct_size;
  libc::memcpy(to, &value, room < sizeof value ? room : sizeof value);
  to->struct_size = room;
}

cameo_io io_of(const Io& io) {
  return {sizeof(cameo_io),
          io.kind,
          io.name,
          !is_list(io) ? to_dlpack(io.dtype)
          : io.key     ? to_dlpack(io.key)
                       : cameo_dtype{},
          io.rank,
          io.dims,
          io.dim_min ? io.dim_min : io.dims,
          io.dim_max ? io.dim_max : io.dims,
          io.dim_names,
          nullptr,
          0};
}

// With the sizes of a run, where there is a table of them, in the memory that the caller has brought.
cameo_status give_io(const Io& io, int32_t index, const int64_t* table, uint32_t room, cameo_io* out,
                     cameo_error* error) {
  cameo_io described = io_of(io);
  if (room >= sizeof *out) described.run_dims = out->run_dims, described.run_dim_count = out->run_dim_count;
  if (table && has_sizes(io) && !io.learned && described.run_dims) {
    if (described.run_dim_count < io.rank)
      return fail(error, CAMEO_INVALID_ARGUMENT, index, -1, "output %d %s has %d dims, run_dims has room for %d", index,
                  Quoted(io.name).text, io.rank, described.run_dim_count);
    for (int32_t d = 0; d < io.rank; ++d) described.run_dims[d] = dim_of(io, d, table);
    described.dims = described.dim_min = described.dim_max = described.run_dims;
  }
  out->struct_size = room;
  give(described, out);
  return CAMEO_OK;
}

}  // namespace

cameo_status describe_io(const Program& program, bool is_output, int32_t index, cameo_io* io) {
  const uint32_t count = is_output ? program.output_count : program.input_count;
  if (!io || io->struct_size < sizeof io->struct_size) return CAMEO_INVALID_ARGUMENT;
  if (index < 0 || static_cast<uint32_t>(index) >= count) return CAMEO_NOT_FOUND;
  return give_io((is_output ? program.outputs : program.inputs)[index], index, nullptr, io->struct_size, io, nullptr);
}

cameo_status describe_element(const Program& program, bool is_output, int32_t index, int32_t depth, cameo_io* io) {
  const uint32_t count = is_output ? program.output_count : program.input_count;
  if (!io || io->struct_size < sizeof io->struct_size) return CAMEO_INVALID_ARGUMENT;
  if (index < 0 || static_cast<uint32_t>(index) >= count || depth < 0) return CAMEO_NOT_FOUND;
  const Io* at = &(is_output ? program.outputs : program.inputs)[index];
  for (int32_t d = 0; at && d <= depth; ++d) at = at->of;
  return at ? give_io(*at, index, nullptr, io->struct_size, io, nullptr) : CAMEO_NOT_FOUND;
}

cameo_status describe_node(const Program& program, int32_t index, cameo_node* node) {
  if (!node || node->struct_size < sizeof node->struct_size) return CAMEO_INVALID_ARGUMENT;
  if (index < 0 || static_cast<uint32_t>(index) >= program.node_count) return CAMEO_NOT_FOUND;
  const Node& from = program.nodes[index];
  for (uint32_t i = from.names; i < from.names + from.name_count; ++i)  // whoever asks at the same time writes the same
    __atomic_store_n(&program.named[i], program.text + program.node_names[i], __ATOMIC_RELAXED);
  const cameo_node described = {sizeof described,
                                static_cast<int32_t>(from.name_count),
                                program.named + from.names,
                                program.text + from.kernel,
                                from.flops,
                                from.bytes};
  give(described, node);
  return CAMEO_OK;
}

cameo_status describe_plan(const Program& program, const cameo_context* context, int32_t index, cameo_plan* plan) {
  if (!plan || plan->struct_size < sizeof plan->struct_size) return CAMEO_INVALID_ARGUMENT;
  if (index < 0 || static_cast<uint32_t>(index) >= plan_count(program)) return CAMEO_NOT_FOUND;
  const uint64_t runs = context ? __atomic_load_n(&context->plan_runs[index], __ATOMIC_RELAXED) : 0;
  give(cameo_plan{sizeof(cameo_plan), 0, index ? program.buckets[index - 1].name : "", runs}, plan);
  return CAMEO_OK;
}

cameo_status describe_outputs(const cameo_model* model, const cameo_value* in, int32_t in_count, cameo_io* out,
                              int32_t count, cameo_error* error) {
  if (!model || !out)
    return fail(error, CAMEO_INVALID_ARGUMENT, -1, -1, "output_types: `%s` is null", model ? "out" : "model");
  const Program& program = *model->program;
  if (count != static_cast<int32_t>(program.output_count))
    return fail(error, CAMEO_INVALID_ARGUMENT, -1, -1, "room for %d outputs, the model has %u", count,
                program.output_count);
  const uint32_t stride = out->struct_size;
  if (!is_struct_size(stride, offsetof(cameo_io, run_dims)) || stride % alignof(cameo_io))
    return fail(error, CAMEO_INVALID_ARGUMENT, 0, -1, "output 0 has struct_size %u, this library writes %zu", stride,
                sizeof *out);
  const bool asks = in && program.sizing;
  const SizeTable table(*model, asks);
  cameo_status status = asks ? table.find(in, in_count, error) : CAMEO_OK;
  for (int32_t i = 0; !status && i < count; ++i) {
    cameo_io* io = reinterpret_cast<cameo_io*>(reinterpret_cast<char*>(out) + static_cast<size_t>(i) * stride);
    status = give_io(program.outputs[i], i, table.get(), stride, io, error);
  }
  return status;
}

cameo_status measure_workspace(const cameo_model* model, const cameo_value* in, int32_t in_count, size_t* bytes,
                               size_t* alignment, cameo_error* error) {
  if (!model) return fail(error, CAMEO_INVALID_ARGUMENT, -1, -1, "workspace_size: `model` is null");
  const Sizing* sizing = model->program->sizing;
  const bool asks = sizing && !sizing->is_bounded(*model);
  if (asks && !in)
    return fail(error, CAMEO_INVALID_ARGUMENT, -1, -1,
                "workspace_size: the model has sizes without an upper bound; give the inputs of a run in `in`");
  const SizeTable table(*model, asks);
  if (cameo_status status = asks ? table.find(in, in_count, error) : CAMEO_OK) return status;
  const DeviceDriver* driver = driver_of(*model);
  if (bytes)
    *bytes = plan_context(*model).bytes + (driver ? driver->context_bytes(*model) : 0) +
             (asks ? sizing->grown_bytes(*model, table.get()) : 0);
  if (alignment) *alignment = kAlign;
  return CAMEO_OK;
}

void initialise(cameo_options* options) {
  if (!options || options->struct_size < sizeof options->struct_size) return;
  cameo_options defaults = default_options();
  defaults.alloc = nullptr;  // null means the library's own
  defaults.free = nullptr;
  give(defaults, options);
}

cameo_status no_weights_yet(cameo_error* error) {
  return fail(error, CAMEO_UNIMPLEMENTED, -1, -1,
              "this library cannot read or swap weights; build it again with new ones");
}

const char* status_string(cameo_status status) {
  switch (status) {
    case CAMEO_OK: return "ok";
    case CAMEO_CANCELLED: return "cancelled";
    case CAMEO_INVALID_ARGUMENT: return "invalid argument";
    case CAMEO_NOT_FOUND: return "not found";
    case CAMEO_OUT_OF_MEMORY: return "out of memory";
    case CAMEO_FAILED_PRECONDITION: return "failed precondition";
    case CAMEO_OUT_OF_RANGE: return "out of range";
    case CAMEO_UNIMPLEMENTED: return "unimplemented";
    case CAMEO_INTERNAL: return "internal error";
    case CAMEO_UNAVAILABLE: return "unavailable on this processor or device";
    case CAMEO_DATA_LOSS: return "weights could not be read";
    case CAMEO_MISMATCH: return "outside the tolerance";
    case CAMEO_TOO_SMALL: return "too small";
    default: return "unknown status";
  }
}

}  // namespace rt
