// Elu: x above zero, alpha * (exp(x) - 1) below.
#include "frontend/ir/operator.h"

namespace cameo::ops {

Operator declare_elu() {
  return {.name = "Elu",
          .since = {1, 6, 22},
          .inputs = {{"X", kFloats}},
          .attributes = {{"alpha", 1.0f}},
          .infer = infer::same_as_first,
          .meaning = elementwise([](const MeaningView& n, Expr x) {
            return select(lt(x, zero(x.type())), n.attr_float("alpha") * expm1(x), x);
          })};
}

}  // namespace cameo::ops
