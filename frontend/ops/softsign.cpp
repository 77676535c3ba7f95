// Softsign: x / (1 + |x|).
#include "frontend/ir/operator.h"

namespace cameo::ops {

Operator declare_softsign() {
  return {.name = "Softsign",
          .since = {1, 22},
          .inputs = {{"X", kFloats}},
          .infer = infer::same_as_first,
          .meaning = elementwise([](const MeaningView&, Expr x) { return x / (1.0 + abs(x)); })};
}

}  // namespace cameo::ops
