// What rules ask of a node's operands.
#pragma once
#include <algorithm>

#include "frontend/ir/graph.h"
#include "frontend/ir/operator.h"
#include "runtime/kernels/depthwise_shape.h"

namespace cameo {

/// The tensor that a value always is; null where it is none, or absent.
inline const Tensor* constant(const Graph& g, ValueId v) { return v ? g[v].constant.get() : nullptr; }
inline bool is_8_bits(DType t) { return t == DType::i8 || t == DType::u8; }
/// The DequantizeLinear that makes a value of f32; none where it is made otherwise.
inline NodeId dequantizer_of(const Graph& g, ValueId v) {
  const NodeId made = v ? g[v].producer : NodeId{};
  return made && g[made].op->name == "DequantizeLinear" && g.type(v).dtype == DType::f32 ? made : NodeId{};
}
/// Whether a convolution with weights of this shape is one that families sum in integers: dense, or a channel a group.
inline bool has_integer_groups(const Shape& w, int64_t groups) {
  if (groups == 1) return true;
  const auto is_short = [](const Dim& d) { return d.is_static() && d.value() <= rt::kMostTaps; };
  return w[0].is_static(groups) && std::all_of(w.begin() + 1, w.end(), is_short) && w[1].is_static(1);
}
/// Operand `i`, absent where there are fewer.
inline ValueId operand(std::span<const ValueId> in, size_t i) { return i < in.size() ? in[i] : ValueId{}; }

}  // namespace cameo
