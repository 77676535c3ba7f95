// Acosh: inverse hyperbolic cosine.
#include "frontend/ir/operator.h"

namespace cameo::ops {

Operator declare_acosh() {
  return {.name = "Acosh",
          .since = {9, 22},
          .inputs = {{"X", kFloats}},
          .infer = infer::same_as_first,
          .meaning = elementwise([](const MeaningView&, Expr x) { return apply(Op::Acosh, {x}); })};
}

}  // namespace cameo::ops
