// Softplus: log(1 + exp(x)).
#include "frontend/ir/operator.h"

namespace cameo::ops {

Operator declare_softplus() {
  return {.name = "Softplus",
          .since = {1, 22},
          .inputs = {{"X", kFloats}},
          .infer = infer::same_as_first,
          .meaning = elementwise([](const MeaningView&, Expr x) { return softplus(x); })};
}

}  // namespace cameo::ops
