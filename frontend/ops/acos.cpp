// Acos: inverse cosine.
#include "frontend/ir/operator.h"

namespace cameo::ops {

Operator declare_acos() {
  return {.name = "Acos",
          .since = {7, 22},
          .inputs = {{"X", kFloats}},
          .infer = infer::same_as_first,
          .meaning = elementwise([](const MeaningView&, Expr x) { return apply(Op::Acos, {x}); })};
}

}  // namespace cameo::ops
