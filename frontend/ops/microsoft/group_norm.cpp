// GroupNorm: groups of channels to mean 0 and variance 1, scaled and shifted, and through SiLU if asked for.
#include "frontend/ops/microsoft/normalized_groups.h"

namespace cameo::ops {
namespace {
Composite define_group_norm(const NodeView& n) {
  Build b(n);
  return b.outputs({normalized_groups(n, b, b.in(0))});
}
}  // namespace

Operator declare_microsoft_group_norm() {
  return {.name = "GroupNorm",
          .domain = "com.microsoft",
          .since = {1},
          .inputs = {{"X", kGroupTypes}, {"gamma", kGroupTypes}, {"beta", kGroupTypes, InputSpec::Required, 1}},
          .attributes = group_attributes(),
          .infer = infer_defined<define_group_norm>,
          .meaning = defined<define_group_norm>};
}

}  // namespace cameo::ops
