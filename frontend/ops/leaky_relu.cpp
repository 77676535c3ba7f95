// LeakyRelu: x, or alpha * x below zero.
#include "frontend/ir/operator.h"

namespace cameo::ops {

Operator declare_leaky_relu() {
  return {.name = "LeakyRelu",
          .since = {1, 6, 16},
          .inputs = {{"X", kFloats}},
          .attributes = {{"alpha", 0.01f}},
          .infer = infer::same_as_first,
          .meaning = elementwise([](const MeaningView& n, Expr x) {
            return select(lt(x, zero(x.type())), n.attr_float("alpha") * x, x);
          })};
}

}  // namespace cameo::ops
