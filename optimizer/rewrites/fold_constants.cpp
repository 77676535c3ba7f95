// fold_constants: nodes whose inputs are all constant are evaluated by the interpreter, however large, within a budget of
// elements for each node; what is larger stays a kernel that runs.
#include "frontend/interpret.h"
#include "frontend/operator.h"
#include "optimizer/pipeline.h"

namespace cameo {
namespace {
constexpr int64_t kBudget = 1 << 26;  // elements; 256 MB of f32

bool worth_folding(const Graph& g, const Node& n, std::span<const ValueId> inputs) {
  if (!n.op->foldable || !n.bodies.empty() || n.op->meaning == nullptr) return false;
  for (ValueId v : inputs)
    if (v && !g[v].constant) return false;
  return true;
}
}  // namespace

Graph fold_constants(const Graph& g, PassContext& context) {
  return replay(g, [&](Graph& into, const Node& n, std::span<const ValueId> inputs) -> std::optional<std::vector<ValueId>> {
    if (!worth_folding(into, n, inputs)) return std::nullopt;
    std::vector<ValueId> outs = into.add(*n.op, {inputs.begin(), inputs.end()}, n.attrs, n.origin, n.version, static_cast<int>(n.outputs.size()));
    NodeId made = into[outs[0]].producer;
    if (!made) return outs;  // small: folded when it was added
    for (ValueId v : outs)
      if (!is_static(into.type(v).shape) || product(into.type(v).shape).value() > kBudget || !runs(into.type(v).dtype)) return outs;
    if (!context.apply("fold_constant", into, n.origin)) return outs;
    std::vector<Tensor> in;
    for (ValueId v : inputs) in.push_back(v ? *into[v].constant : Tensor());
    std::vector<ValueId> folded;
    for (Tensor& t : interpret_node(into, into[made], in)) folded.push_back(into.constant(std::move(t)));
    return folded;
  });
}

}  // namespace cameo
