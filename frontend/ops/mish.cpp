// Mish: x * tanh(softplus(x)).
#include "frontend/ir/operator.h"

namespace cameo::ops {

Operator declare_mish() {
  return {.name = "Mish",
          .since = {18, 22},
          .inputs = {{"X", kFloats}},
          .infer = infer::same_as_first,
          .meaning = elementwise([](const MeaningView&, Expr x) { return x * tanh(softplus(x)); })};
}

}  // namespace cameo::ops
