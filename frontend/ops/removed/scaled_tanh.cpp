// ScaledTanh: alpha * tanh(beta * x).
#include "frontend/ir/operator.h"

namespace cameo::ops {

Operator declare_removed_scaled_tanh() {
  return {.name = "ScaledTanh",
          .domain = "removed",
          .since = {1},
          .inputs = {{"X", kFloats}},
          .attributes = {{"alpha", AttrKind::Float}, {"beta", AttrKind::Float}},
          .infer = infer::same_as_first,
          .meaning = elementwise(
              [](const MeaningView& n, Expr x) { return tanh(x * n.attr_float("beta")) * n.attr_float("alpha"); })};
}

}  // namespace cameo::ops
