// How often values of a graph are read.
#pragma once
#include <vector>

#include "frontend/ir/operator.h"

namespace cameo {

/// Counts the reads by the nodes of a graph itself, not by those of its bodies; an output counts twice, what reads
/// nothing but sizes (Shape, Size) not at all.
class Uses {
 public:
  explicit Uses(const Graph& g) : graph_(g), counts_(g.values().size()) {
    for (const Node& n : g.nodes())
      for (ValueId v : n.inputs)
        if (v && n.op->name != "Shape" && n.op->name != "Size") ++counts_[v.index];
    for (const Port& p : g.outputs()) counts_[p.value.index] += 2;
  }

  int of(ValueId v) const { return counts_[v.index]; }
  /// Whether it is a node of the graph itself.
  bool has(const Node& n) const {
    return &n >= graph_.nodes().data() && &n < graph_.nodes().data() + graph_.nodes().size();
  }
  /// Whether nothing but `n`, a node of the graph itself, reads its input.
  bool once(const Node& n, size_t input) const { return has(n) && n.inputs[input] && of(n.inputs[input]) == 1; }

 private:
  const Graph& graph_;
  std::vector<int> counts_;
};

}  // namespace cameo
