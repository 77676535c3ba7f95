// Atanh: inverse hyperbolic tangent.
#include "frontend/ir/operator.h"

namespace cameo::ops {

Operator declare_atanh() {
  return {.name = "Atanh",
          .since = {9, 22},
          .inputs = {{"X", kFloats}},
          .infer = infer::same_as_first,
          .meaning = elementwise([](const MeaningView&, Expr x) { return apply(Op::Atanh, {x}); })};
}

}  // namespace cameo::ops
