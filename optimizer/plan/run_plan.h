// run_plan: the physical mode of the interpreter. Steps are walked as the artifact's runtime walks them, but those of a
// group backwards, so that what needs their order comes out wrong. Kernels are evaluated from their lowered Exprs
// over an arena with the planned offsets, and every byte that holds no value is poison: NaN, or an integer that no
// model computes. So whatever reads a halo, a padding, a buffer before it is written or after it is reused, changes the
// answer; whatever reaches out of its buffer is an error. Plain and slow.
#pragma once
#include <span>
#include <stdexcept>
#include <vector>

#include "optimizer/plan/plan.h"

namespace cameo {

/// A plan that is wrong, whatever the data: names the step.
struct PlanFault : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// One plan of the module. An index out of range that the data caused is the CompileError of the interpreter.
std::vector<Tensor> run_plan(const Module& m, const Plan& p, std::span<const Tensor> inputs);

}  // namespace cameo
