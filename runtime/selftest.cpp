// Runs the embedded golden cases on a model and a context of its own.
#include "runtime/compare.h"
#include "runtime/dtype.h"
#include "runtime/errors.h"
#include "runtime/libc.h"
#include "runtime/lists.h"
#include "runtime/sizes.h"
#include "runtime/string_heap.h"
#include "runtime/values.h"

namespace rt {
namespace {

struct Report {
  void (*call)(void* user, const cameo_check* check);
  void* user;
};

cameo_value golden_value(const Io& io, const void* data) {
  cameo_value value = {};
  value.struct_size = sizeof value;
  value.kind = io.kind;
  value.tensor = {const_cast<void*>(data),       {CAMEO_CPU, 0}, io.rank, to_dlpack(io.dtype),
                  const_cast<int64_t*>(io.dims), nullptr,        0};
  return value;
}

// With `room` for the addresses and lengths of its strings.
cameo_value golden_strings(const Io& io, const void* data, void* room) {
  cameo_value value = golden_value(io, nullptr);
  const int64_t count = elements(io);
  const char** texts = static_cast<const char**>(room);
  int64_t* lengths = reinterpret_cast<int64_t*>(texts + count);
  for (int64_t i = 0; i < count; ++i) {
    const Text text = spelled_text(data, count, i);
    texts[i] = text.data, lengths[i] = text.bytes;
  }
  value.strings = texts;
  value.lengths = lengths;
  return value;
}

Comparison compare_strings(int64_t count, const cameo_value& got, const void* expected) {
  Comparison c = {};
  for (int64_t i = 0; i < count; ++i) {
    const Text text = spelled_text(expected, count, i);
    const bool same =
        text.bytes == got.lengths[i] && !libc::memcmp(text.data, got.strings[i], static_cast<uint64_t>(text.bytes));
    if (!same && !c.mismatches++) c.worst_index = static_cast<uint64_t>(i);
  }
  c.passed = !c.mismatches;
  return c;
}

// Whether an output came out with the dims that are expected, which stand at `dims`: it moves on behind them.
bool has_dims(const Io& io, const int64_t*& dims) {
  bool same = true;
  for (int32_t d = 0; dims && d < io.rank; ++d) same &= *dims++ == io.dims[d];
  return same;
}

Comparison compare_output(const Io& io, const void* expected, const double*& tolerances, const cameo_value& got) {
  Tolerance tolerance;
  if (tolerances) tolerance.absolute = *tolerances++;
  return io.kind == CAMEO_KIND_STRINGS ? compare_strings(elements(io), got, expected)
                                       : compare(io.dtype, elements(io), got.tensor.data, expected, tolerance);
}

cameo_check check_of(const Comparison& c, const char* name, uint32_t output) {
  return {sizeof(cameo_check),
          c.passed,
          name,
          static_cast<int32_t>(output),
          0,
          c.max_error,
          c.magnitude,
          c.tolerance,
          c.mismatches,
          c.worst_index,
          c.expected,
          c.got};
}

// The inputs of a case; `strings` grows by what those of strings need.
cameo_status set_inputs(cameo_context* context, const Golden& golden, cameo_value* in, Grown* strings,
                        cameo_error* error) {
  const uint32_t count = context->model->program->input_count;
  uint64_t bytes = 0;
  for (uint32_t i = 0; i < count; ++i)
    if (context->inputs[i].kind == CAMEO_KIND_STRINGS) bytes += bytes_of_strings(elements(context->inputs[i]));
  if (bytes && !grow(context->model->options, strings, bytes))
    return fail(error, CAMEO_OUT_OF_MEMORY, -1, -1, "cannot allocate %lu bytes for strings", bytes);
  char* room = static_cast<char*>(strings->memory);
  for (uint32_t i = 0; i < count; ++i) {
    const Io& io = context->inputs[i];
    const bool is_strings = io.kind == CAMEO_KIND_STRINGS;
    if (io.of) {
      in[i] = *static_cast<const cameo_value*>(golden.inputs[i]);
      continue;
    }
    in[i] = is_strings ? golden_strings(io, golden.inputs[i], room) : golden_value(io, golden.inputs[i]);
    if (is_strings) room += bytes_of_strings(elements(io));
  }
  return CAMEO_OK;
}

cameo_status run_case(cameo_context* context, const Golden& golden, cameo_value* in, cameo_value* out, Grown* strings,
                      Report report, cameo_error* error) {
  const Program& program = *context->model->program;
  cameo_status status = program.sizing ? program.sizing->fit_to_symbols(context, golden.symbols, error) : CAMEO_OK;
  if (!status) status = set_inputs(context, golden, in, strings, error);
  for (uint32_t i = 0; i < program.output_count; ++i) out[i] = golden_value(context->outputs[i], nullptr);
  if (!status)
    status = run(context, in, static_cast<int32_t>(program.input_count), out,
                 static_cast<int32_t>(program.output_count), nullptr, error);
  const int64_t* dims = golden.dims;
  const double* tolerances = golden.tolerances;
  for (uint32_t i = 0; i < program.output_count && (!status || status == CAMEO_MISMATCH); ++i) {
    const Io& io = context->outputs[i];
    Comparison c = {};
    if (io.of) {
      const cameo_status other = program.lists->compare(io, golden, i, out[i], tolerances, c, error);
      if (other) return other;
    } else if (has_dims(io, dims)) {
      c = compare_output(io, golden.outputs[i], tolerances, out[i]);
    } else {
      const cameo_check check = check_of({}, golden.name, i);
      if (report.call) report.call(report.user, &check);
      return fail(error, CAMEO_MISMATCH, static_cast<int32_t>(i), -1, "case %s: output %u %s has other dims: %s",
                  Quoted(golden.name).text, i, Quoted(program.outputs[i].name).text,
                  TypeText(io.dtype, io.rank, io.dims).text);
    }
    const cameo_check check = check_of(c, golden.name, i);
    if (report.call) report.call(report.user, &check);
    if (check.passed || status) continue;
    status = fail(error, CAMEO_MISMATCH, static_cast<int32_t>(i), -1,
                  "case %s: output %u %s differs by %g, tolerance %g: %lu of %ld elements, the worst is %lu, got %.9g, "
                  "expected %.9g",
                  Quoted(golden.name).text, i, Quoted(program.outputs[i].name).text, check.max_error, check.tolerance,
                  check.mismatches, elements(context->outputs[i]), check.worst_index, check.got, check.expected);
  }
  return status;
}

cameo_status run_cases(cameo_context* context, Report report, cameo_error* error) {
  const Program& program = *context->model->program;
  const cameo_options& options = context->model->options;
  const uint64_t count = program.input_count + program.output_count + 1, bytes = count * sizeof(cameo_value);
  cameo_value* values = static_cast<cameo_value*>(allocate(options, bytes));
  if (!values) return fail(error, CAMEO_OUT_OF_MEMORY, -1, -1, "cannot allocate %lu values", count);
  cameo_status first = CAMEO_OK;
  Grown strings = {};
  for (uint32_t i = 0; i < program.golden_count; ++i) {
    const cameo_status status = run_case(context, program.goldens[i], values, values + program.input_count, &strings,
                                         report, first ? nullptr : error);
    if (!first) first = status;
    if (status && status != CAMEO_MISMATCH) break;
  }
  if (strings.memory) deallocate(options, strings.memory, strings.bytes);
  deallocate(options, values, bytes);
  return first;
}

}  // namespace

cameo_status selftest(const Program& program, const cameo_options* options, void (*report)(void*, const cameo_check*),
                      void* user, cameo_error* error) {
  if (!program.golden_count)
    return fail(error, CAMEO_NOT_FOUND, -1, -1,
                "no golden case is embedded; build with `--golden=DIR` or `--golden=random:3`");
  cameo_model* model = nullptr;
  cameo_context* context = nullptr;
  cameo_status status = create_model(program, options, &model, error);
  if (!status) status = create_context(model, &context, error);
  if (!status) status = run_cases(context, {report, user}, error);
  release_context(context);
  release_model(model);
  return status;
}

}  // namespace rt
