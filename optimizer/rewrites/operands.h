// What rules ask of a node's operands.
#pragma once
#include "frontend/ir/graph.h"

namespace cameo {

/// The tensor that a value always is; null where it is none, or absent.
inline const Tensor* constant(const Graph& g, ValueId v) { return v ? g[v].constant.get() : nullptr; }
/// Operand `i`, absent where there are fewer.
inline ValueId operand(std::span<const ValueId> in, size_t i) { return i < in.size() ? in[i] : ValueId{}; }

}  // namespace cameo
