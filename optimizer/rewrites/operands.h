// What rules ask of a node's operands.
#pragma once
#include "frontend/ir/graph.h"
#include "frontend/ir/operator.h"

namespace cameo {

/// The tensor that a value always is; null where it is none, or absent.
inline const Tensor* constant(const Graph& g, ValueId v) { return v ? g[v].constant.get() : nullptr; }
inline bool is_8_bits(DType t) { return t == DType::i8 || t == DType::u8; }
/// The DequantizeLinear that makes a value of f32; none where it is made otherwise.
inline NodeId dequantizer_of(const Graph& g, ValueId v) {
  const NodeId made = v ? g[v].producer : NodeId{};
  return made && g[made].op->name == "DequantizeLinear" && g.type(v).dtype == DType::f32 ? made : NodeId{};
}
/// Operand `i`, absent where there are fewer.
inline ValueId operand(std::span<const ValueId> in, size_t i) { return i < in.size() ? in[i] : ValueId{}; }

}  // namespace cameo
