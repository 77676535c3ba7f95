// Swish: x * sigmoid(alpha * x).
#include "frontend/ir/operator.h"

namespace cameo::ops {

Operator declare_swish() {
  return {.name = "Swish",
          .since = {24},
          .inputs = {{"X", kFloats}},
          .attributes = {{"alpha", 1.0f}},
          .infer = infer::same_as_first,
          .meaning = elementwise([](const MeaningView& n, Expr x) {
            double alpha = n.attr_float("alpha");
            return x * sigmoid(alpha == 1 ? x : alpha * x);
          })};
}

}  // namespace cameo::ops
