// Derivatives of values of a graph, as more nodes of it.
#pragma once
#include <span>
#include <vector>

#include "frontend/ir/graph.h"

namespace cameo {

/// The derivative of the sum of `y`'s elements with respect to each of `xs`, in reverse mode. E0402 where an operator
/// on the way has no rule.
std::vector<ValueId> differentiate(Graph& g, ValueId y, std::span<const ValueId> xs, const Provenance& provenance);

}  // namespace cameo
