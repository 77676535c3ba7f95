// Sigmoid: 1 / (1 + exp(-x)).
#include "frontend/ir/operator.h"

namespace cameo::ops {

Operator declare_sigmoid() {
  return {.name = "Sigmoid",
          .since = {1, 6, 13},
          .inputs = {{"X", kFloats}},
          .infer = infer::same_as_first,
          .meaning = elementwise([](const MeaningView&, Expr x) { return sigmoid(x); })};
}

}  // namespace cameo::ops
