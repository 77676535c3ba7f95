// LinearRegressor: products of each row with the coefficients of each target.
#include "frontend/ops/ml/linear.h"

namespace cameo::ops {
namespace {

void infer_linear_regressor(Infer& n) {
  post_transform(n);
  const int64_t targets = count_attr(n, "targets");
  if (linear_scores(n) != targets)
    n.fail(Code::E0204, fmt::format("coefficients of {} targets, `targets` is {}", linear_scores(n), targets));
  n.output(0, DType::f32, {linear_rows(n), targets});
}

Meaning linear_regressor(const MeaningView& n) {
  Build b(n);
  return b.outputs({b.cast(transformed(b, linear(n, b), post_transform(n)), DType::f32)});
}

}  // namespace

Operator declare_ml_linear_regressor() {
  return {.name = "LinearRegressor",
          .domain = "ai.onnx.ml",
          .since = {1},
          .inputs = {{"X", kOfRows}},
          .attributes = {{"coefficients", AttrKind::Floats},
                         {"intercepts", AttrKind::Floats},
                         {"post_transform", "NONE"},
                         {"targets", 1}},
          .infer = infer_linear_regressor,
          .meaning = linear_regressor};
}

}  // namespace cameo::ops
