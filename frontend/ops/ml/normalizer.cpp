// Normalizer: each row divided by its norm: the sum of magnitudes (L1), the root of the sum of squares (L2) or the
// largest number, which may be negative (MAX). Rows with a norm of 0 stay.
#include "frontend/ops/ml/rows.h"

namespace cameo::ops {
namespace {

void infer_normalizer(Infer& n) {
  const std::string norm = n.attr_string("norm");
  if (norm != "MAX" && norm != "L1" && norm != "L2")
    n.fail(Code::E0204, fmt::format("`norm` is `{}`", printable(norm)), "MAX, L1 or L2");
  if (n.rank() != 1 && n.rank() != 2) n.fail(Code::E0302, "X is " + to_string(n.type(0)) + ", not one row or rows");
  n.output(0, DType::f32, n.shape());
}

Meaning normalizer(const MeaningView& n) {
  Build b(n);
  const ValueId x = b.cast(b.in(0), type_of_sums(n.dtype()));
  const std::string norm = n.attr_string("norm");
  const ValueId size = b.reduce(norm == "MAX" ? "ReduceMax" : norm == "L1" ? "ReduceL1" : "ReduceL2", x, {-1});
  const ValueId divisor = b.op("Where", {b.op("Equal", {size, b.like(x, 0)}), b.like(x, 1), size});
  return b.outputs({b.cast(b.div(x, divisor), DType::f32)});
}

}  // namespace

Operator declare_ml_normalizer() {
  return {.name = "Normalizer",
          .domain = "ai.onnx.ml",
          .since = {1},
          .inputs = {{"X", kOfRows}},
          .attributes = {{"norm", "MAX"}},
          .infer = infer_normalizer,
          .meaning = normalizer};
}

}  // namespace cameo::ops
