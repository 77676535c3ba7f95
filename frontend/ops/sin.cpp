// Sin: sine of radians.
#include "frontend/ir/operator.h"

namespace cameo::ops {

Operator declare_sin() {
  return {.name = "Sin",
          .since = {7, 22},
          .inputs = {{"X", kFloats}},
          .infer = infer::same_as_first,
          .meaning = elementwise([](const MeaningView&, Expr x) { return sin(x); })};
}

}  // namespace cameo::ops
