// The one place that chooses: which family computes a part of an output or a node, and how.
#pragma once
#include "optimizer/choose/family.h"

namespace cameo {

/// All families in order of their efficiency, each with what it has read off a problem, or why it cannot compute it.
struct FamilyMatch {
  const Family* family;
  Matched matched;
};
std::vector<FamilyMatch> match_families(const Problem& p);

/// The kernel that computes a part of an output, by one of the families that matched.
LoweredKernel choose_kernel(const Problem& p, std::span<const FamilyMatch> matches);
/// The kernel of a node that has no expression; nullopt where no family has one.
std::optional<LoweredKernel> choose_kernel(const NodeProblem& p);

}  // namespace cameo
