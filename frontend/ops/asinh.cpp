// Asinh: inverse hyperbolic sine.
#include "frontend/ir/operator.h"

namespace cameo::ops {

Operator declare_asinh() {
  return {.name = "Asinh",
          .since = {9, 22},
          .inputs = {{"X", kFloats}},
          .infer = infer::same_as_first,
          .meaning = elementwise([](const MeaningView&, Expr x) { return apply(Op::Asinh, {x}); })};
}

}  // namespace cameo::ops
