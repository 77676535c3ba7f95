// Relu: max(x, 0).
#include "frontend/ir/operator.h"

namespace cameo::ops {

Operator declare_relu() {
  return {.name = "Relu",
          .since = {1, 6, 13, 14},
          .inputs = {{"X", kSigned}},
          .infer = infer::same_as_first,
          .meaning = elementwise([](const MeaningView&, Expr x) { return max(x, zero(x.type())); })};
}

}  // namespace cameo::ops
