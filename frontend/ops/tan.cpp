// Tan: tangent of radians.
#include "frontend/ir/operator.h"

namespace cameo::ops {

Operator declare_tan() {
  return {.name = "Tan",
          .since = {7, 22},
          .inputs = {{"X", kFloats}},
          .infer = infer::same_as_first,
          .meaning = elementwise([](const MeaningView&, Expr x) { return tan(x); })};
}

}  // namespace cameo::ops
