// What one execution of a kernel does, read off its expressions: what profiles print and prices are made of.
#pragma once
#include <cstdint>

#include "optimizer/plan/plan.h"

namespace cameo {

struct KernelCost {
  double flops = 0;  // operations on floating-point numbers, each function and each term of a fold one
  double bytes = 0;  // of distinct memory that is read or written
};
/// An expression counts once for each combination of the axes and fold variables that it depends on: that is how often
/// it is computed. A guarded access counts as if it were made.
KernelCost cost_of(const Kernel& k);

}  // namespace cameo
