// Reciprocal: 1 / x.
#include "frontend/ir/operator.h"

namespace cameo::ops {

Operator declare_reciprocal() {
  return {.name = "Reciprocal",
          .since = {1, 6, 13},
          .inputs = {{"X", kFloats}},
          .infer = infer::same_as_first,
          .meaning = elementwise([](const MeaningView&, Expr x) { return 1.0 / x; })};
}

}  // namespace cameo::ops
