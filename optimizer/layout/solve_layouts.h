// Which wishes of kernels come true: the layouts of a graph's values, from the order of their axes and what all kernels
// ask for, solved once before any kernel is lowered.
#pragma once
#include <span>

#include "optimizer/layout/assign_orders.h"
#include "optimizer/layout/regions.h"

namespace cameo {

/// The regions of an output, each with the operands that the families which can compute it wish for, best family first.
struct OutputWishes {
  ValueId value;
  struct Region {
    const OutputPart* part;
    std::vector<Operand> wishes;
  };
  std::vector<Region> regions;
};

/// Completes layouts in which `made` has the order of each value's axes: aliases, room around values, values that are
/// made inside of others, panels that are shared. `outputs`: of all clusters, in execution order.
void solve_layouts(const Graph& g, std::span<const FusedCluster> clusters, std::span<const OutputWishes> outputs,
                   Layouts& layouts);

}  // namespace cameo
