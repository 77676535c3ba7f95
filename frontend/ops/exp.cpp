// Exp: e to the x.
#include "frontend/ir/operator.h"

namespace cameo::ops {

Operator declare_exp() {
  return {.name = "Exp",
          .since = {1, 6, 13},
          .inputs = {{"X", kFloats}},
          .infer = infer::same_as_first,
          .meaning = elementwise([](const MeaningView&, Expr x) { return exp(x); })};
}

}  // namespace cameo::ops
