// ParametricSoftplus: alpha * log(exp(beta * x) + 1).
#include "frontend/ir/operator.h"

namespace cameo::ops {

Operator declare_removed_parametric_softplus() {
  return {.name = "ParametricSoftplus",
          .domain = "removed",
          .since = {1},
          .inputs = {{"X", kFloats}},
          .attributes = {{"alpha", AttrKind::Float}, {"beta", AttrKind::Float}},
          .infer = infer::same_as_first,
          .meaning = elementwise(
              [](const MeaningView& n, Expr x) { return softplus(x * n.attr_float("beta")) * n.attr_float("alpha"); })};
}

}  // namespace cameo::ops
