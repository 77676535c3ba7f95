// lower_graph: the kernels of one graph. Families read their roles off each output and say how they would like operands
// to stand; layouts are solved for all of them; then each output is lowered, once.
#pragma once
#include <map>

#include "optimizer/layout/appends.h"
#include "optimizer/lower/lower_kernel.h"

namespace cameo {

/// The kernel of one region of an output.
struct LoweredPart {
  OutputPart region;
  LoweredKernel lowered;
};

struct LoweredGraph {
  const Graph& g;
  std::vector<FusedCluster> clusters;
  Layouts layouts;
  std::map<ValueId, std::vector<LoweredPart>> outputs;  // of fused clusters, but for aliases and empty ones
  std::vector<bool> needed;                             // by value: see `needed_values`
  std::vector<Append> appends = {};                     // of a model's own graph
};
/// The machine that runs a cluster or a kernel: the target, or the processor beside it.
const Target& machine_of(bool on_host, const Target& target);
/// `has_room`: the inputs and outputs may be states.
LoweredGraph lower_graph(const Graph& g, std::vector<FusedCluster> clusters, const Target& target, bool has_room);

/// By value: whether the graph gives it out or a kernel reads it, or makes a part of what one reads. Others need not be
/// computed: an operand that decides a shape is known from the sizes that it was made of.
std::vector<bool> needed_values(const LoweredGraph& f);

/// In layouts that are settled.
std::vector<LoweredPart> lower_output(const LoweredGraph& f, ValueId v, const OutputExpr& out, const Target& target);

}  // namespace cameo
