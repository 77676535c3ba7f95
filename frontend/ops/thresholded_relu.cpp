// ThresholdedRelu: x where it is above alpha, else zero.
#include "frontend/ir/operator.h"

namespace cameo::ops {

Operator declare_thresholded_relu() {
  return {.name = "ThresholdedRelu",
          .since = {1, 10, 22},
          .inputs = {{"X", kFloats}},
          .attributes = {{"alpha", 1.0f}},
          .infer = infer::same_as_first,
          .meaning = elementwise([](const MeaningView& n, Expr x) {
            return select(gt(x, like(x, n.attr_float("alpha"))), x, zero(x.type()));
          })};
}

}  // namespace cameo::ops
