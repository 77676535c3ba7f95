// Sqrt: square root; NaN below zero.
#include "frontend/ir/operator.h"

namespace cameo::ops {

Operator declare_sqrt() {
  return {.name = "Sqrt",
          .since = {1, 6, 13},
          .inputs = {{"X", kFloats}},
          .infer = infer::same_as_first,
          .meaning = elementwise([](const MeaningView&, Expr x) { return sqrt(x); })};
}

}  // namespace cameo::ops
