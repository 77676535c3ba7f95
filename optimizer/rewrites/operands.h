// What rules ask of a node's operands, and how they cast them.
#pragma once
#include <algorithm>

#include "frontend/ir/graph.h"
#include "frontend/ir/operator.h"
#include "runtime/kernels/contract_shape.h"
#include "runtime/kernels/depthwise_shape.h"

namespace cameo {

/// The tensor that a value always is; null where it is none, or absent.
inline const Tensor* constant(const Graph& g, ValueId v) { return v ? g[v].constant.get() : nullptr; }
/// The DequantizeLinear that makes a value of f32; none where it is made otherwise.
inline NodeId dequantizer_of(const Graph& g, ValueId v) {
  const NodeId made = v ? g[v].producer : NodeId{};
  return made && g[made].op->name == "DequantizeLinear" && g.type(v).dtype == DType::f32 ? made : NodeId{};
}
/// Whether a convolution with weights of this shape has a channel a group.
inline bool has_single_channels(const Shape& w, int64_t groups) {
  return groups > 1 && w[0].is_static(groups) && w[1].is_static(1);
}
/// Whether it is one that families sum in integers: of single channels those with short windows.
inline bool has_integer_groups(const Shape& w, int64_t groups) {
  const auto is_short = [](const Dim& d) { return d.is_static() && d.value() <= rt::kMostTaps; };
  return !has_single_channels(w, groups) || std::all_of(w.begin() + 1, w.end(), is_short);
}
/// Whether it is in groups that floats are summed in as fast as integers, or faster: several share a panel of floats as
/// they are, but one of quads only with zeros between them.
inline bool has_groups_of_floats(const Shape& w, int64_t groups, bool has_dot8) {
  const auto is_power_of_two = [](int64_t n) { return (n & (n - 1)) == 0; };
  if (groups == 1 || has_single_channels(w, groups)) return false;
  const int64_t columns = w[0].value() / groups, members = w[1].value();
  const bool share = columns > 1 && columns < rt::kPanel && is_power_of_two(columns) && is_power_of_two(members);
  return share && (!has_dot8 || members < rt::kQuad);
}
inline ValueId cast(Graph& g, ValueId v, DType to, const Provenance& o) {
  return g.add(get_operator("Cast"), {v}, {{"to", static_cast<int64_t>(to)}}, o)[0];
}
/// Operand `i`, absent where there are fewer.
inline ValueId operand(std::span<const ValueId> in, size_t i) { return i < in.size() ? in[i] : ValueId{}; }

}  // namespace cameo
