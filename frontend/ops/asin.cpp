// Asin: inverse sine.
#include "frontend/ir/operator.h"

namespace cameo::ops {

Operator declare_asin() {
  return {.name = "Asin",
          .since = {7, 22},
          .inputs = {{"X", kFloats}},
          .infer = infer::same_as_first,
          .meaning = elementwise([](const MeaningView&, Expr x) { return apply(Op::Asin, {x}); })};
}

}  // namespace cameo::ops
