// bind_plan: a plan over sizes that only a run knows, as it is for one binding of them. Kernels, steps and places stay
// what they are; what was said in sizes becomes numbers, so that verifier and evaluator work on it.
#pragma once
#include "frontend/ir/bind_dims.h"
#include "optimizer/plan/plan.h"

namespace cameo {

/// Whether what the plan requires of its sizes holds.
bool runs_at(const Plan& plan, const DimBinding& sizes);
Plan bind_plan(const Plan& plan, const DimBinding& sizes);
/// The expressions of its kernels, and the sizes that only a run knows: bytes of blocks and buffers, and of steps.
void each_size(Plan& plan, const std::function<void(Expr&)>& f);
/// The expressions of one kernel at these sizes; what it does not name stays.
void bind_kernel(Kernel& k, const DimBinding& sizes);
/// Of a plan the nodes of kernels that have one, for runs of the plan: at the largest of open sizes, at which a plan
/// is verified, no machine holds what they make, and nodes are typed anew.
void bind_nodes(Plan& plan, const SymbolBinding& binding);
/// The module with all of its plans, and its interface, at these sizes.
Interface bind_interface(Interface io, const DimBinding& sizes);
Module bind_module(const Module& m, const DimBinding& sizes);
/// What inputs of a run give its symbols.
DimBinding sizes_of_run(const Interface& io, std::span<const Tensor> inputs);
/// All sizes of the inputs at their lowest, and all at their highest; nothing bound where there are none.
std::vector<DimBinding> ends_of_sizes(const Interface& io);

}  // namespace cameo
