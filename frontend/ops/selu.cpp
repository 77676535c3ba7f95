// Selu: gamma * x above zero, gamma * alpha * (exp(x) - 1) below.
#include "frontend/ir/operator.h"

namespace cameo::ops {

Operator declare_selu() {
  return {.name = "Selu",
          .since = {6, 22},
          .inputs = {{"X", kFloats}},
          .attributes = {{"alpha", 1.67326319217681884765625f}, {"gamma", 1.05070102214813232421875f}},
          .infer = infer::same_as_first,
          .meaning = elementwise([](const MeaningView& n, Expr x) {
            return n.attr_float("gamma") * select(gt(x, zero(x.type())), x, n.attr_float("alpha") * expm1(x));
          })};
}

}  // namespace cameo::ops
