// Binarizer: 1 above the threshold, else 0.
#include "frontend/ops/ml/rows.h"

namespace cameo::ops {

Operator declare_ml_binarizer() {
  return {.name = "Binarizer",
          .domain = "ai.onnx.ml",
          .since = {1},
          .inputs = {{"X", kOfRows}},
          .attributes = {{"threshold", 0.f}},
          .infer = infer::same_as_first,
          .meaning = elementwise([](const MeaningView& n, Expr x) {
            const double threshold = n.attr_float("threshold");
            const Expr number = is_float(x.type()) ? x : cast(x, DType::f64);
            return cast(gt(number, like(number, threshold)), x.type());
          })};
}

}  // namespace cameo::ops
