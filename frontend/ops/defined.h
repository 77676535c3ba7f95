// Operators whose definition says their shapes too: both rules are taken of the graph that `define` gives.
#pragma once
#include "frontend/ir/build.h"
#include "frontend/ops/operands.h"

namespace cameo::ops {

using Define = Composite (*)(const NodeView&);

/// What cameo does not compute of an operator that it knows.
[[noreturn]] inline void refuse(const NodeView& n, std::string_view what) {
  n.fail(Code::E0403, "`" + std::string(n.node().op->name) + "` " + std::string(what));
}

template <Define define>
void infer_defined(Infer& n) {
  const Composite composite = define(n);
  const Graph& g = *composite.definition;
  for (const Requirement& r : g.requirements()) n.require(r.condition);
  for (size_t i = 0; i < g.outputs().size(); ++i) n.output(static_cast<int>(i), g.type(g.outputs()[i].value));
  for (size_t i = g.outputs().size(); i < n.types.size(); ++i)
    refuse(n, "with its output `" + std::string(n.node().op->outputs[i].name) + "`");
}
template <Define define>
Meaning defined(const MeaningView& n) {
  return define(n);
}

/// Rank or one of several ranks that an operand must have.
inline void check_rank(const NodeView& n, int input, std::initializer_list<int> ranks, std::string_view meaning) {
  if (!n.has(input) || std::ranges::find(ranks, n.rank(input)) != ranks.end()) return;
  n.fail(Code::E0302, "`" + std::string(n.node().op->inputs[input].name) + "` is " + to_string(n.type(input)) +
                          ", it must be " + std::string(meaning));
}

}  // namespace cameo::ops
