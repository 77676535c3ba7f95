// HardSigmoid: alpha * x + beta between 0 and 1.
#include "frontend/ir/operator.h"

namespace cameo::ops {

Operator declare_hard_sigmoid() {
  return {.name = "HardSigmoid",
          .since = {1, 6, 22},
          .inputs = {{"X", kFloats}},
          .attributes = {{"alpha", 0.2f}, {"beta", 0.5f}},
          .infer = infer::same_as_first,
          .meaning = elementwise([](const MeaningView& n, Expr x) {
            Expr line = n.attr_float("alpha") * x + n.attr_float("beta");
            return max(zero(x.type()), min(one(x.type()), line));
          })};
}

}  // namespace cameo::ops
