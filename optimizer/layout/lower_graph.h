// lower_graph: all clusters of one graph as kernels, ahead of planning, since the layouts of values wait for what
// kernels ask of them. Readers' halos are made by the producer, and operands of a Concat where the whole wants them.
#pragma once
#include <map>
#include <optional>

#include "optimizer/lower/lower_kernel.h"

namespace cameo {

using Parts = std::vector<LoweredKernel>;  // of one output; none where it is not lowered ahead

struct LoweredGraph {
  const Graph& g;
  std::vector<FusedCluster> clusters;
  Layouts layouts;
  std::vector<Parts> lowered;          // by cluster; of those with one fused output
  std::map<ValueId, size_t> maker;     // the cluster that makes a value
  std::map<ValueId, ValueId> windows;  // values that are made where another one wants them: parts of its buffer
};
/// The machine that runs a cluster or a kernel: the target, or the processor beside it.
const Target& machine_of(bool on_host, const Target& target);
LoweredGraph lower_graph(const Graph& g, std::vector<FusedCluster> clusters, const Target& target);

Parts lower_output(const LoweredGraph& f, ValueId v, const OutputExpr& out, const Target& target);
/// Not a kernel at all: how far into the bytes of operand 1 the value begins.
std::optional<int64_t> alias_of(const Parts& parts);

}  // namespace cameo
