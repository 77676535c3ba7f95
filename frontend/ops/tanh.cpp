// Tanh: hyperbolic tangent.
#include "frontend/ir/operator.h"

namespace cameo::ops {

Operator declare_tanh() {
  return {.name = "Tanh",
          .since = {1, 6, 13},
          .inputs = {{"X", kFloats}},
          .infer = infer::same_as_first,
          .meaning = elementwise([](const MeaningView&, Expr x) { return tanh(x); })};
}

}  // namespace cameo::ops
