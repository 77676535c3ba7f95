// HardSwish: x * HardSigmoid(x) with alpha = 1/6 and beta = 1/2.
#include "frontend/ir/operator.h"

namespace cameo::ops {

Operator declare_hard_swish() {
  return {.name = "HardSwish",
          .since = {14, 22},
          .inputs = {{"X", kFloats}},
          .infer = infer::same_as_first,
          .meaning = elementwise([](const MeaningView&, Expr x) {
            return x * max(zero(x.type()), min(one(x.type()), 1.0 / 6 * x + 0.5));
          })};
}

}  // namespace cameo::ops
