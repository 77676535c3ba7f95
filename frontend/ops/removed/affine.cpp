// Affine: alpha * x + beta.
#include "frontend/ir/operator.h"

namespace cameo::ops {

Operator declare_removed_affine() {
  return {.name = "Affine",
          .domain = "removed",
          .since = {1},
          .inputs = {{"X", kFloats}},
          .attributes = {{"alpha", 1.f}, {"beta", 0.f}},
          .infer = infer::same_as_first,
          .meaning = elementwise(
              [](const MeaningView& n, Expr x) { return x * n.attr_float("alpha") + n.attr_float("beta"); })};
}

}  // namespace cameo::ops
