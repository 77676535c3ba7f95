// The fused interpreter: a graph run cluster by cluster, each as the one kernel that fusion makes of it, so that a
// wrong cluster or a wrong substitution shows before anything is compiled.
#pragma once
#include "frontend/reference/interpret.h"

namespace cameo::test {

/// `g` is a graph optimised for a processor; bodies of control flow run as they are.
Interpretation interpret_fused(const Graph& g, std::span<const Tensor> inputs);

}  // namespace cameo::test
