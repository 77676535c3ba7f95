// Cosh: hyperbolic cosine.
#include "frontend/ir/operator.h"

namespace cameo::ops {

Operator declare_cosh() {
  return {.name = "Cosh",
          .since = {9, 22},
          .inputs = {{"X", kFloats}},
          .infer = infer::same_as_first,
          .meaning = elementwise([](const MeaningView&, Expr x) { return apply(Op::Cosh, {x}); })};
}

}  // namespace cameo::ops
