// SkipGroupNorm: GroupNorm of the sum of a tensor, another one and a bias; the sum is an output too.
#include "frontend/ops/microsoft/normalized_groups.h"

namespace cameo::ops {
namespace {

/// One a channel, or an image of those, as X stands.
ValueId as_image(const NodeView& n, Build& b, ValueId v) {
  if (b.type(v).rank() == n.rank()) return v;
  if (!n.attr_int("channels_last")) return b.unsqueeze(v, {-1, -2});
  return b.type(v).rank() == 2 ? b.unsqueeze(v, {1, 2}) : v;
}

Composite define_skip_group_norm(const NodeView& n) {
  check_rank(n, 0, {4}, "an image");
  check_rank(n, 3, {2, 4}, "an image or one a channel");
  check_rank(n, 4, {1}, "one a channel");
  Build b(n);
  ValueId sum = b.add(b.in(0), as_image(n, b, b.in(3)));
  if (b.in(4)) sum = b.add(sum, as_image(n, b, b.in(4)));
  return b.outputs({normalized_groups(n, b, sum), sum});
}

}  // namespace

Operator declare_microsoft_skip_group_norm() {
  return {.name = "SkipGroupNorm",
          .domain = "com.microsoft",
          .since = {1},
          .inputs = {{"X", kGroupTypes},
                     {"gamma", kGroupTypes},
                     {"beta", kGroupTypes, InputSpec::Required, 1},
                     {"skip", kGroupTypes, InputSpec::Required, 0},
                     {"bias", kGroupTypes, InputSpec::Optional, 0}},
          .outputs = {{"Y"}, {"S", OutputSpec::Optional}},
          .attributes = group_attributes(),
          .infer = infer_defined<define_skip_group_norm>,
          .meaning = defined<define_skip_group_norm>};
}

}  // namespace cameo::ops
