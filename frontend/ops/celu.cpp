// Celu: max(0, x) + min(0, alpha * (exp(x / alpha) - 1)).
#include "frontend/ir/operator.h"

namespace cameo::ops {

Operator declare_celu() {
  return {.name = "Celu",
          .since = {12, 28},
          .inputs = {{"X", kFloats}},
          .attributes = {{"alpha", 1.0f}},
          .infer = infer::same_as_first,
          .meaning = elementwise([](const MeaningView& n, Expr x) {
            double alpha = n.attr_float("alpha");
            return max(x, zero(x.type())) + min(zero(x.type()), alpha * expm1(x / alpha));
          })};
}

}  // namespace cameo::ops
