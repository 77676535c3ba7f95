// GroupNorm and SkipGroupNorm: groups of channels, which are the last axis or axis 1, to mean 0 and variance 1, scaled
// and shifted, and through SiLU if asked for.
#pragma once
#include "frontend/ops/defined.h"
#include "frontend/ops/microsoft/channels.h"

namespace cameo::ops {

inline constexpr DTypes kGroupTypes{DType::f32, DType::f16};

/// Of `x`, which stands as the node's X does; gamma and beta are inputs 1 and 2.
inline ValueId normalized_groups(const NodeView& n, Build& b, ValueId x) {
  const bool last = n.attr_int("channels_last");
  const DType type = b.type(x).dtype;
  x = b.cast(last ? channels_first(b, x) : x, DType::f32);
  ValueId y = b.op("GroupNormalization", {x, b.cast(b.in(1), DType::f32), b.cast(b.in(2), DType::f32)},
                   {{"num_groups", n.attr_int("groups")}, {"epsilon", n.attr_float("epsilon")}});
  const int64_t activation = n.attr_int("activation");
  if (activation < 0 || activation > 1) n.fail(Code::E0204, "`activation` is neither 0 nor 1");
  if (activation) y = b.mul(y, b.op("Sigmoid", {y}));
  y = b.cast(y, type);
  return last ? channels_last(b, y) : y;
}
inline std::vector<AttrSpec> group_attributes() {
  return {{"activation", AttrKind::Int}, {"channels_last", 1}, {"epsilon", 1e-5f}, {"groups", AttrKind::Int}};
}

}  // namespace cameo::ops
