// What one execution of a kernel does, read off its expressions when it is chosen: `Kernel::cost`.
#pragma once
#include <set>
#include <unordered_map>

#include "optimizer/plan/plan.h"

namespace cameo {

/// An expression counts once for each combination of the axes and fold variables that it depends on: that is how often
/// it is computed. A guarded access counts as if it were made.
KernelCost cost_of(const Kernel& k);

/// The variables that expressions depend on, by number; a fold's own is inside of it alone.
class FreeVariables {
 public:
  const std::set<uint64_t>& of(Expr root);

 private:
  std::unordered_map<Expr, std::set<uint64_t>, ExprHash> known_;
};

}  // namespace cameo
