// Runs the embedded golden cases on a model and a context of its own.
#include "runtime/compare.h"
#include "runtime/dtype.h"
#include "runtime/errors.h"
#include "runtime/sizes.h"
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
  value.kind = CAMEO_KIND_TENSOR;
  value.tensor = {const_cast<void*>(data),       {CAMEO_CPU, 0}, io.rank, to_dlpack(io.dtype),
                  const_cast<int64_t*>(io.dims), nullptr,        0};
  return value;
}

// Whether an output came out with the dims that are expected, which stand at `dims`: it moves on behind them.
bool has_dims(const Io& io, const int64_t*& dims) {
  bool same = true;
  for (int32_t d = 0; dims && d < io.rank; ++d) same &= *dims++ == io.dims[d];
  return same;
}

cameo_check check_output(const Io& io, const Golden& golden, uint32_t i, const void* got) {
  Tolerance tolerance;
  if (golden.tolerances) tolerance.absolute = golden.tolerances[i];
  const Comparison c = compare(io.dtype, elements(io), got, golden.outputs[i], tolerance);
  return {sizeof(cameo_check), c.passed,    golden.name,  static_cast<int32_t>(i), 0,          c.max_error,
          c.magnitude,         c.tolerance, c.mismatches, c.worst_index,           c.expected, c.got};
}

cameo_status run_case(cameo_context* context, const Golden& golden, cameo_value* in, cameo_value* out, Report report,
                      cameo_error* error) {
  const Program& program = *context->model->program;
  cameo_status status = program.sizing ? program.sizing->fit_to_symbols(context, golden.symbols, error) : CAMEO_OK;
  for (uint32_t i = 0; i < program.input_count; ++i) in[i] = golden_value(context->inputs[i], golden.inputs[i]);
  for (uint32_t i = 0; i < program.output_count; ++i) out[i] = golden_value(context->outputs[i], nullptr);
  if (!status)
    status = run(context, in, static_cast<int32_t>(program.input_count), out,
                 static_cast<int32_t>(program.output_count), nullptr, error);
  const int64_t* dims = golden.dims;
  for (uint32_t i = 0; i < program.output_count && (!status || status == CAMEO_MISMATCH); ++i) {
    if (!has_dims(context->outputs[i], dims))
      return fail(error, CAMEO_MISMATCH, static_cast<int32_t>(i), -1, "case %s: output %u %s has other dims: %s",
                  Quoted(golden.name).text, i, Quoted(program.outputs[i].name).text,
                  TypeText(program.outputs[i].dtype, context->outputs[i].rank, context->outputs[i].dims).text);
    const cameo_check check = check_output(context->outputs[i], golden, i, out[i].tensor.data);
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
  for (uint32_t i = 0; i < program.golden_count; ++i) {
    const cameo_status status =
        run_case(context, program.goldens[i], values, values + program.input_count, report, first ? nullptr : error);
    if (!first) first = status;
    if (status && status != CAMEO_MISMATCH) break;
  }
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
