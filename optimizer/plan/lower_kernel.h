// Lowering: the fused meaning of a cluster becomes a kernel: Loads and stores get physical offsets and only the guards that
// range analysis cannot discharge, axes and folds that walk memory together collapse, and one axis is chosen for the lanes.
#pragma once
#include <functional>

#include "optimizer/annotate/clusters.h"
#include "optimizer/plan/plan.h"

namespace cameo {

struct LoweredKernel {
  Kernel kernel;
  std::vector<ValueId> operands;  // values: first the outputs, then what is read
};

LoweredKernel lower_kernel(const Graph& g, const Cluster& c, std::vector<OutputExpr> outputs);

/// The updates of a Scatter, one after another; its start is a kernel of its own that ran before.
LoweredKernel lower_scatter(const Graph& g, const Node& n, const Scatter& s);

}  // namespace cameo
