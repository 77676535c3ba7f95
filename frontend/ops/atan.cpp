// Atan: inverse tangent.
#include "frontend/ir/operator.h"

namespace cameo::ops {

Operator declare_atan() {
  return {.name = "Atan",
          .since = {7, 22},
          .inputs = {{"X", kFloats}},
          .infer = infer::same_as_first,
          .meaning = elementwise([](const MeaningView&, Expr x) { return apply(Op::Atan, {x}); })};
}

}  // namespace cameo::ops
