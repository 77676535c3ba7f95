// The one place that chooses: which family computes a part of an output or a node, and how.
#pragma once
#include "optimizer/choose/family.h"

namespace cameo {

/// The kernel that computes a part of an output.
LoweredKernel choose_kernel(const Problem& p);
/// The kernel of a node that has no expression; nullopt where no family has one.
std::optional<LoweredKernel> choose_kernel(const NodeProblem& p);

}  // namespace cameo
