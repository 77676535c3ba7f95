// Folds in a kernel's expressions: which function of rt:: computes one, as the kernel's choice has `lanes`,
// `fold_lanes` and `team`, and what that costs a processor.
#pragma once
#include "optimizer/choose/family.h"

namespace cameo {

inline constexpr int kFoldLanes = 16;
/// Whether a fold can run in so many lanes along its own variable, where `lanes` are taken along the last axis: one
/// that needs none of those, and reads memory in order.
bool runs_in_lanes(const Kernel& k, Expr fold, int64_t lanes, int64_t fold_lanes);
std::string fold_function(const Kernel& k, Expr fold);
/// A nest with folds on one core: what it issues, elements that are no neighbours one by one, or if that is more what
/// its long folds wait for. A fold in order waits for each term's result, those of a vector's lanes at once.
double cycles_of_folds(const Kernel& k, const Choice& choice, const Target& target);
}  // namespace cameo
