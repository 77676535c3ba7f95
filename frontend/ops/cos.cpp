// Cos: cosine of radians.
#include "frontend/ir/operator.h"

namespace cameo::ops {

Operator declare_cos() {
  return {.name = "Cos",
          .since = {7, 22},
          .inputs = {{"X", kFloats}},
          .infer = infer::same_as_first,
          .meaning = elementwise([](const MeaningView&, Expr x) { return cos(x); })};
}

}  // namespace cameo::ops
