// One run: find its sizes, check and bind inputs, check and bind outputs, walk the rows, hand out. No lock is taken,
// and nothing allocated but where sizes have no upper bound; `prepare`, `bind_state` and `set_tap` allocate what runs
// need.
#include "runtime/device.h"
#include "runtime/dtype.h"
#include "runtime/errors.h"
#include "runtime/libc.h"
#include "runtime/lists.h"
#include "runtime/sizes.h"
#include "runtime/state.h"
#include "runtime/string_heap.h"
#include "runtime/values.h"

namespace rt {
namespace {

// At the upper bound, where there is one: runs of other sizes need no more.
[[gnu::cold]] cameo_status reserve_staging(cameo_context* context, int32_t index, cameo_error* error) {
  const Io& io = context->inputs[index];
  const uint64_t bytes = is_open(io) ? io_bytes(io) : most_bytes(io);
  if (grow(context->model->options, &context->staging[index], bytes)) return CAMEO_OK;
  return fail(error, CAMEO_OUT_OF_MEMORY, index, -1, "cannot allocate %lu bytes for a compact copy of input %d", bytes,
              index);
}

cameo_status stage(cameo_context* context, int32_t index, const cameo_tensor& tensor, cameo_error* error) {
  const Io& io = context->inputs[index];
  if (context->run.device)
    return fail(error, CAMEO_INVALID_ARGUMENT, index, -1, "input %d %s is on the GPU and not compact", index,
                Quoted(io.name).text);
  if (!context->staging[index].memory)
    return fail(error, CAMEO_FAILED_PRECONDITION, index, -1,
                "input %d %s is not compact; call prepare with it once, which allocates room for a compact copy", index,
                Quoted(io.name).text);
  if (cameo_status status = reserve_staging(context, index, error)) return status;
  copy_strided(tensor, context->staging[index].memory, element_bytes(io.dtype));
  context->run.bases[input_base(static_cast<uint32_t>(index))] = context->staging[index].memory;
  return CAMEO_OK;
}

cameo_status bind_tensor(cameo_context* context, int32_t index, const cameo_tensor& tensor, cameo_error* error) {
  const Io& io = context->inputs[index];
  void*& base = context->run.bases[input_base(static_cast<uint32_t>(index))];
  if (cameo_status status = check_tensor(io, tensor, context->model->options.device, "input", index, error))
    return status;
  if (!is_here(context, tensor)) return driver_of(*context->model)->upload_input(context, index, tensor, error);
  if (!is_compact(tensor)) return stage(context, index, tensor, error);
  base = data_of(tensor);
  return CAMEO_OK;
}

// As codes, which stand where a compact copy of numbers would.
cameo_tensor tensor_of_codes(const cameo_context* context, int32_t index, const cameo_value& value) {
  return {context->staging[index].memory,
          {CAMEO_CPU, 0},
          value.tensor.ndim,
          to_dlpack(kString),
          value.tensor.shape,
          nullptr,
          0};
}

cameo_status bind_strings(cameo_context* context, int32_t index, const cameo_value& value, cameo_error* error) {
  if (cameo_status status = reserve_staging(context, index, error)) return status;
  const cameo_tensor codes = tensor_of_codes(context, index, value);
  const Io& io = context->inputs[index];
  cameo_status status = check_tensor(io, codes, context->model->options.device, "input", index, error);
  if (!status)
    status = context->model->program->strings->functions->take(*context->run.strings, value, index, elements(io),
                                                               static_cast<int64_t*>(codes.data), error);
  return status ? status : bind_tensor(context, index, codes, error);
}

cameo_status bind_input(cameo_context* context, int32_t index, const cameo_value& value, cameo_error* error) {
  const Program& program = *context->model->program;
  if (is_list(program.inputs[index])) return program.lists->bind(context, index, value, error);
  if (value.kind == CAMEO_KIND_STRINGS) return bind_strings(context, index, value, error);
  return bind_tensor(context, index, value.tensor, error);
}

// What the run before handed out is given again.
bool is_own(const cameo_context* context, int32_t index, const Binding* binding, const void* data) {
  return data == context->owned[index] ||
         (binding && (data == binding->blocks[0].memory || data == binding->blocks[1].memory));
}

cameo_status bind_output(cameo_context* context, int32_t index, cameo_value& value, cameo_error* error) {
  const Io& io = context->outputs[index];
  void*& base = context->run.bases[output_base(*context->model->program, static_cast<uint32_t>(index))];
  Binding* binding = binding_of(context, index, -1);
  if (value.kind != CAMEO_KIND_NONE)
    if (cameo_status status = check_kind(io, value, "output", index, error)) return status;
  if (is_list(io)) value.tensor = {};
  if (io.kind == CAMEO_KIND_STRINGS && value.kind && value.tensor.device.device_type == CAMEO_CUDA)
    return fail(error, CAMEO_INVALID_ARGUMENT, index, -1, "output %d %s is of strings, which no GPU's memory holds",
                index, Quoted(io.name).text);
  if (is_own(context, index, binding, value.tensor.data)) value.tensor.data = nullptr;
  if (binding && !io.learned)
    if (cameo_status status = reserve_state(context, binding, error)) return status;
  base = binding ? written_by(*binding) : context->owned[index];
  if (io.learned)  // the run takes memory for it when it knows its size
    return is_owned(value) ? CAMEO_OK : check_room(io, value, context->model->options.device, index, error);
  if (is_owned(value) && binding) return is_open(io) ? reserve_copy(context, *binding, error) : CAMEO_OK;
  if (is_open(io) && !binding && (is_owned(value) || !is_here(context, value.tensor)))
    if (cameo_status status = context->model->program->sizing->reserve_output(context, index, error)) return status;
  if (is_owned(value)) return CAMEO_OK;
  if (cameo_status status = check_tensor(io, value.tensor, context->model->options.device, "output", index, error))
    return status;
  if (!is_compact(value.tensor))
    return fail(error, CAMEO_INVALID_ARGUMENT, index, -1, "output %d %s must be compact, its strides are not", index,
                Quoted(io.name).text);
  if (!binding && is_here(context, value.tensor)) base = data_of(value.tensor);
  return CAMEO_OK;
}

// Of the context's own memory as it is before the run, which may ask for more.
Span output_span(cameo_context* context, const cameo_value* out, int32_t i) {
  const cameo_value& value = value_at(out, i);
  const Io& io = context->outputs[i];
  const bool is_given = !is_owned(value) && !is_own(context, i, binding_of(context, i, -1), value.tensor.data);
  if (!is_given && (is_open(io) || io.learned))
    return {static_cast<char*>(context->open_outputs[i].memory), context->open_outputs[i].bytes};
  return {is_given ? data_of(value.tensor) : static_cast<char*>(context->owned[i]),
          is_given && io.learned ? static_cast<uint64_t>(bytes_of(io.dtype, value.count)) : io_bytes(io)};
}

cameo_status check_overlap(cameo_context* context, const cameo_value* in, const cameo_value* out, cameo_error* error) {
  const Program& program = *context->model->program;
  for (int32_t o = 0; o < static_cast<int32_t>(program.output_count); ++o) {
    const Span span = output_span(context, out, o);
    if (!span.bytes) continue;
    for (int32_t i = 0; i < static_cast<int32_t>(program.input_count); ++i) {
      const cameo_value& value = value_at(in, i);
      if (value.kind == CAMEO_KIND_TENSOR && overlap(span, extent_of(value.tensor, program.inputs[i].dtype)))
        return fail(error, CAMEO_INVALID_ARGUMENT, o, -1,
                    "output %d %s overlaps input %d %s; give it a copy, or bind a state", o,
                    Quoted(program.outputs[o].name).text, i, Quoted(program.inputs[i].name).text);
    }
    for (int32_t p = 0; p < o; ++p)
      if (overlap(span, output_span(context, out, p)))
        return fail(error, CAMEO_INVALID_ARGUMENT, o, -1, "output %d %s overlaps output %d %s", o,
                    Quoted(program.outputs[o].name).text, p, Quoted(program.outputs[p].name).text);
  }
  return CAMEO_OK;
}

cameo_status reserve_run(cameo_context* context, cameo_error* error) {
  const cameo_status status = context->model->program->sizing->reserve_blocks(context, error, {});
  return status || !context->tap ? status : reserve_tap(context, error);
}

// The sizes of the run, and the states that it reads.
cameo_status take_inputs(cameo_context* context, const cameo_value*& in, int32_t count, cameo_error* error) {
  const Program& program = *context->model->program;
  cameo_status status = check_count(in, count, program.input_count, "input", error);
  if (!status) in = with_states(context, in);
  for (int32_t i = 0; !status && i < count; ++i)
    if (const cameo_value& value = value_at(in, i); value.kind != CAMEO_KIND_NONE || !binding_of(context, -1, i))
      status = check_kind(program.inputs[i], value, "input", i, error);
  if (!status && program.sizing) status = program.sizing->fit(context, in, error);
  return status ? status : begin_states(context, error);
}

cameo_status bind_values(cameo_context* context, const cameo_value* in, int32_t in_count, cameo_value* out,
                         int32_t out_count, cameo_error* error) {
  const Program& program = *context->model->program;
  cameo_status status = take_inputs(context, in, in_count, error);
  if (!status && program.lists) status = program.lists->begin(context, in, error);
  for (int32_t i = 0; !status && i < in_count; ++i) status = bind_input(context, i, value_at(in, i), error);
  if (!status) status = check_overlap(context, in, out, error);
  for (int32_t i = 0; !status && i < out_count; ++i) status = bind_output(context, i, value_at(out, i), error);
  return !status && program.sizing ? reserve_run(context, error) : status;
}

cameo_status check_run_options(const cameo_context* context, const cameo_run_options* options, const cameo_value* out,
                               cameo_error* error) {
  if (!options) return CAMEO_OK;
  if (!is_struct_size(options->struct_size, sizeof *options))
    return fail(error, CAMEO_INVALID_ARGUMENT, -1, -1,
                "the run's options have struct_size %u; set it to sizeof(cameo_run_options), %zu", options->struct_size,
                sizeof *options);
  if (options->flags & ~uint64_t{CAMEO_RUN_ASYNC})
    return fail(error, CAMEO_INVALID_ARGUMENT, -1, -1, "run flags 0x%lx are not defined",
                options->flags & ~uint64_t{CAMEO_RUN_ASYNC});
  if (!options->flags || !context->run.device) return CAMEO_OK;
  const int32_t count = static_cast<int32_t>(context->model->program->output_count);
  for (int32_t i = 0; i < count; ++i)
    if (value_at(out, i).kind != CAMEO_KIND_NONE && !is_here(context, value_at(out, i).tensor))
      return fail(error, CAMEO_INVALID_ARGUMENT, i, -1,
                  "output %d is the CPU's; a run that does not wait writes to the GPU's memory alone", i);
  return CAMEO_OK;
}

[[gnu::cold]] cameo_status report_fault(cameo_context* context, cameo_error* error) {
  const Program& program = *context->model->program;
  const Fault& fault = context->run.fault;
  if (fault.code == kDeviceFault) return driver_of(*context->model)->report(context, error);
  if (fault.code == kSizeFault)  // the same once more, with words
    if (const cameo_status status = program.sizing->fit_learned(
            context, {static_cast<uint32_t>(fault.index), static_cast<uint32_t>(fault.limit)}, error))
      return status;
  const uint32_t node = context->run.schedule->rows[fault.row].node;
  const Quoted name(name_of_node(program, node));
  if (fault.code == kMemoryFault)
    return fail(error, CAMEO_OUT_OF_MEMORY, -1, static_cast<int32_t>(node),
                "node %s: cannot allocate %ld bytes for a list", name.text, fault.index);
  if (fault.code == kSentenceFault)
    return fail(error, CAMEO_OUT_OF_RANGE, -1, static_cast<int32_t>(node), "node %s: %s", name.text,
                reinterpret_cast<const char*>(fault.index));
  const char* what = "node %s: index %ld is outside a dim of %ld";
  if (fault.code == kIndexFault && fault.limit == 0) what = "node %s: index %ld is outside a dim, or a list, of none";
  if (fault.code == kIndexFault && fault.index == kNoIndex)
    what = "node %s does not fit these dims: it was built for others, or an axis that it reads is none of them";
  if (fault.code == kValueFault)
    what =
        "node %s: tensors of a list do not fit, %ld is an extent, a rank or a sum of them where %ld is wanted, or is "
        "the most";
  return fail(error, CAMEO_OUT_OF_RANGE, -1, static_cast<int32_t>(node), what, name.text, fault.index, fault.limit);
}

Outcome walk_here(cameo_context* context) {
  Execution& run = context->run;
  Pool* pool = context->model->pool;
  run.pool = pool && pool->try_acquire() ? pool : nullptr;
  const Outcome outcome = execute(run);
  if (run.pool) run.pool->release();
  return outcome;
}

cameo_status walk(cameo_context* context, const cameo_value* out, const cameo_run_options* options,
                  cameo_error* error) {
  const DeviceDriver* driver = driver_of(*context->model);
  context->run.fault = {};
  const Outcome outcome = driver ? driver->walk(context, out, options) : walk_here(context);
  if (outcome == Outcome::Done) return CAMEO_OK;
  if (outcome == Outcome::Fault) return report_fault(context, error);
  return fail(error, CAMEO_CANCELLED, -1, -1, "the run was cancelled");
}

cameo_status finish_walk(cameo_context* context, cameo_error* error) {
  const DeviceDriver* driver = driver_of(*context->model);
  return driver && driver->synchronize(context) == Outcome::Fault ? report_fault(context, error) : CAMEO_OK;
}

cameo_status return_outputs(cameo_context* context, cameo_value* out, cameo_error* error) {
  const Program& program = *context->model->program;
  const DeviceDriver* driver = driver_of(*context->model);
  for (int32_t i = 0; i < static_cast<int32_t>(program.output_count); ++i) {
    cameo_value& value = value_at(out, i);
    void* written = context->run.bases[output_base(program, static_cast<uint32_t>(i))];
    if (value.kind == CAMEO_KIND_NONE) continue;
    if (is_list(program.outputs[i])) {
      if (cameo_status status = program.lists->give(context, i, value, error)) return status;
      continue;
    }
    if (driver) {
      driver->return_output(context, i, value);
      continue;
    }
    const Binding* state = binding_of(context, i, -1);
    void* given = is_owned(value) ? nullptr : data_of(value.tensor);
    if (state && has_gaps(*state, context->outputs[i])) {
      written = given ? given : context->owned[i];
      copy_state(context, *state, written);
    } else if (state && given) {
      libc::memcpy(given, written, io_bytes(context->outputs[i]));
    }
    if (!given) fill_output(context, i, value, written, {CAMEO_CPU, 0});
  }
  keep_states(context);
  return CAMEO_OK;
}

cameo_status give_strings(cameo_context* context, cameo_value* out, cameo_error* error) {
  const StringTable* table = context->model->program->strings;
  const int32_t count = table ? static_cast<int32_t>(context->model->program->output_count) : 0;
  cameo_status status = table ? table->functions->check(*context->run.strings, error) : CAMEO_OK;
  for (int32_t i = 0; !status && i < count; ++i)
    if (value_at(out, i).kind == CAMEO_KIND_STRINGS)
      status = table->functions->give(*context->run.strings, i, elements(context->outputs[i]), value_at(out, i), error);
  return status;
}

cameo_status prepare_input(cameo_context* context, int32_t index, const cameo_value& value, cameo_error* error) {
  const Io& io = context->inputs[index];
  if (is_list(io)) return CAMEO_OK;
  if (value.kind == CAMEO_KIND_STRINGS) return reserve_staging(context, index, error);
  const cameo_status status = check_tensor(io, value.tensor, context->model->options.device, "input", index, error);
  if (status || is_compact(value.tensor) || context->run.device) return status;
  return reserve_staging(context, index, error);
}

}  // namespace

bool is_owned(const cameo_value& value) { return value.kind != CAMEO_KIND_TENSOR || !value.tensor.data; }

void fill_output(cameo_context* context, int32_t index, cameo_value& value, void* data, cameo_device device) {
  const Io& io = context->model->program->outputs[index];
  value.kind = io.kind;
  value.tensor = {data, device, io.rank, to_dlpack(io.dtype), context->shapes[index], nullptr, 0};
}

cameo_status run(cameo_context* context, const cameo_value* in, int32_t in_count, cameo_value* out, int32_t out_count,
                 const cameo_run_options* options, cameo_error* error) {
  if (!context) return fail(error, CAMEO_INVALID_ARGUMENT, -1, -1, "run: `context` is null");
  if (cameo_status status = enter(context, error)) return status;
  __atomic_store_n(&context->run.cancelled, 0, __ATOMIC_RELAXED);
  cameo_status status = finish_walk(context, error);
  if (!status) status = check_count(out, out_count, context->model->program->output_count, "output", error);
  if (!status) status = check_run_options(context, options, out, error);
  context->stream = !status && options ? options->stream : nullptr;
  if (const StringTable* table = context->model->program->strings) table->functions->begin_run(*context->run.strings);
  if (!status) status = bind_values(context, in, in_count, out, out_count, error);
  context->out = out;
  if (!status) status = walk(context, out, options, error);
  context->out = nullptr;
  if (!status) status = return_outputs(context, out, error);
  if (!status) status = give_strings(context, out, error);
  if (!status) __atomic_fetch_add(&context->plan_runs[context->plan], 1, __ATOMIC_RELAXED);
  leave(context);
  return status;
}

cameo_status synchronize(cameo_context* context, cameo_error* error) {
  if (!context) return fail(error, CAMEO_INVALID_ARGUMENT, -1, -1, "synchronize: `context` is null");
  if (cameo_status status = enter(context, error)) return status;
  const cameo_status status = finish_walk(context, error);
  leave(context);
  return status;
}

[[gnu::cold]] cameo_status prepare(cameo_context* context, const cameo_value* in, int32_t count, cameo_error* error) {
  if (!context) return fail(error, CAMEO_INVALID_ARGUMENT, -1, -1, "prepare: `context` is null");
  const Program& program = *context->model->program;
  const Sizing* sizing = program.sizing;
  if (!in && count == 0 && !sizing) return CAMEO_OK;  // nothing depends on the values
  if (cameo_status status = enter(context, error)) return status;
  cameo_status status = sizing ? finish_walk(context, error) : CAMEO_OK;  // of a plan that may not be this one's
  if (!status) status = take_inputs(context, in, count, error);
  for (int32_t i = 0; !status && i < count; ++i) status = prepare_input(context, i, value_at(in, i), error);
  for (int32_t i = 0; !status && i < static_cast<int32_t>(program.output_count); ++i)
    if (is_open(context->outputs[i]) && !context->outputs[i].learned)
      status = sizing->reserve_output(context, i, error);
  if (!status && sizing) status = reserve_run(context, error);
  leave(context);
  return status;
}

[[gnu::cold]] cameo_status set_profile(cameo_context* context, uint64_t* nanoseconds, int32_t count,
                                       cameo_error* error) {
  if (!context) return fail(error, CAMEO_INVALID_ARGUMENT, -1, -1, "profile: `context` is null");
  const uint32_t nodes = context->model->program->node_count;
  const bool counts = nanoseconds && count == static_cast<int32_t>(2 * nodes);
  if (nanoseconds && !counts && count != static_cast<int32_t>(nodes))
    return fail(error, CAMEO_INVALID_ARGUMENT, -1, -1, "profile: room for %d nodes, the model has %u", count, nodes);
  if (cameo_status status = enter(context, error)) return status;
  context->run.nanoseconds = nanoseconds;
  context->run.executions = counts ? nanoseconds + nodes : nullptr;
  context->run.observed = nanoseconds || context->tap;
  leave(context);
  return CAMEO_OK;
}

}  // namespace rt
