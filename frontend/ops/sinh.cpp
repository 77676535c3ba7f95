// Sinh: hyperbolic sine.
#include "frontend/ir/operator.h"

namespace cameo::ops {

Operator declare_sinh() {
  return {.name = "Sinh",
          .since = {9, 22},
          .inputs = {{"X", kFloats}},
          .infer = infer::same_as_first,
          .meaning = elementwise([](const MeaningView&, Expr x) { return apply(Op::Sinh, {x}); })};
}

}  // namespace cameo::ops
