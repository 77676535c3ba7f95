// SVMRegressor: a sum of the kernel function with each support vector, or a product with the coefficients where there
// is no vector; of one class its sign.
#include <cmath>

#include "frontend/ops/ml/svm.h"

namespace cameo::ops {
namespace {

/// Support vectors, or none; and as many coefficients, or one a feature.
int64_t check_svm_regressor(const NodeView& n) {
  const int64_t features = svm_features(n), vectors = n.attr_int("n_supports");
  if (vectors < 0 || vectors > kMaxStep) n.fail(Code::E0204, fmt::format("`n_supports` is {}", vectors));
  if (vectors) svm_list(n, "support_vectors", vectors * features, "rows of features");
  svm_list(n, "coefficients", vectors ? vectors : features, "one a support vector, or a feature");
  svm_list(n, "rho", 1, "what is added");
  return vectors;
}

void infer_svm_regressor(Infer& n) {
  post_transform(n);
  svm_kernel(n);
  check_svm_regressor(n);
  n.output(0, DType::f32, {svm_rows(n), 1});
}

Meaning svm_regressor(const MeaningView& n) {
  Build b(n);
  const int64_t vectors = check_svm_regressor(n);
  ValueId x = svm_rows_of(n, b);
  const DType t = b.type(x).dtype;
  if (vectors) x = svm_products(b, x, matrix_of(b, t, n.attr_floats("support_vectors"), vectors), svm_kernel(n));
  const std::vector<double> coefficients = n.attr_floats("coefficients");
  ValueId y = b.matmul(x, matrix_of(b, t, coefficients, std::ssize(coefficients)));
  y = b.add(y, b.like(y, n.attr_floats("rho")[0]));
  if (n.attr_int("one_class")) y = b.op("Where", {b.op("Less", {b.like(y, 0), y}), b.like(y, 1), b.like(y, -1)});
  return b.outputs({b.cast(transformed(b, y, post_transform(n)), DType::f32)});
}

}  // namespace

Operator declare_ml_svm_regressor() {
  return {.name = "SVMRegressor",
          .domain = "ai.onnx.ml",
          .since = {1},
          .inputs = {{"X", kOfRows}},
          .attributes = svm_attributes({{"n_supports", 0}, {"one_class", 0}}),
          .infer = infer_svm_regressor,
          .meaning = svm_regressor};
}

}  // namespace cameo::ops
