// What one execution of a kernel does, read off its expressions when it is chosen: `Kernel::cost`.
#pragma once
#include "optimizer/plan/plan.h"

namespace cameo {

/// An expression counts once for each combination of the axes and fold variables that it depends on: that is how often
/// it is computed. A guarded access counts as if it were made.
KernelCost cost_of(const Kernel& k);

}  // namespace cameo
