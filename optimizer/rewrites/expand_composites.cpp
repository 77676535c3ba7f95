// expand_composites: a composite operator that no family has claimed becomes the graph that defines it, composites
// inside included. expand_domains does the same before all other passes for operators of other domains than ai.onnx,
// one level deep: passes and families know one name of everything.
#include <algorithm>

#include "frontend/ir/operator.h"
#include "optimizer/choose/claim.h"
#include "optimizer/pipeline.h"

namespace cameo {
namespace {

/// A loop whose body has been expanded may be a composite after all, by the types that its body now gives.
bool has_composite_loops(const Graph& g, bool (*stays)(const Node&)) {
  return std::ranges::any_of(g.nodes(), [&](const Node& n) {
    if (n.bodies.empty() || stays(n)) return false;
    return std::holds_alternative<Composite>(meaning_of(g, n)) ||
           std::ranges::any_of(n.bodies, [&](const auto& body) { return has_composite_loops(*body, stays); });
  });
}

int depth_of_bodies(const Graph& g) {
  int depth = 0;
  for (const Node& n : g.nodes())
    for (const auto& body : n.bodies) depth = std::max(depth, 1 + depth_of_bodies(*body));
  return depth;
}

/// Of a ComplexParts what its operand was made of; else nothing.
ValueId put_together(const Graph& into, const Node& n, std::span<const ValueId> inputs) {
  if (n.op->name != "ComplexParts") return {};
  const NodeId maker = into[inputs[0]].producer;
  return maker && into[maker].op->name == "ComplexOfParts" ? into[maker].inputs[0] : ValueId{};
}

/// A Slice for each part of a Split, if their extents are known: what makes one tensor may join what reads it.
std::optional<std::vector<ValueId>> slices_of(Graph& into, NodeId split) {
  const Node n = into[split];
  const ValueId whole = n.inputs[0];
  const int axis = NodeView::axis(NodeView(into, n).attr_int("axis"), into.type(whole).rank());
  const auto extent = [&](ValueId part) { return into.type(part).shape[static_cast<size_t>(axis)]; };
  if (!std::ranges::all_of(n.outputs, [&](ValueId part) { return extent(part).is_static(); })) return std::nullopt;
  const auto list = [&](int64_t number) { return into.constant(Tensor::i64({1}, std::vector{number})); };
  std::vector<ValueId> slices;
  int64_t end = 0;
  for (const ValueId part : n.outputs) {
    const int64_t begin = end;
    end += extent(part).value();
    slices.push_back(into.add(get_operator("Slice"), {whole, list(begin), list(end), list(axis)}, {}, n.provenance)[0]);
  }
  return slices;
}

Graph expand(const Graph& g, PassContext& context, bool (*stays)(const Node&)) {
  Rule rule = [&](Graph& into, const Node& n, std::span<const ValueId> inputs) -> std::optional<std::vector<ValueId>> {
    if (stays(n)) return std::nullopt;
    if (const auto parts = put_together(into, n, inputs); parts && context.apply("put_together", into, n.provenance))
      return std::vector{parts};
    auto count = static_cast<int>(n.outputs.size());
    std::vector<ValueId> outs =
        into.add(*n.op, {inputs.begin(), inputs.end()}, n.attrs, n.provenance, n.version, count, n.bodies);
    NodeId made = into.maker_of(outs);
    if (!made) return outs;
    const Meaning& m = meaning_of(into, into[made]);
    auto* composite = std::get_if<Composite>(&m);
    if (n.op->name == "Split" && !composite)
      if (const auto slices = slices_of(into, made); slices && context.apply("split_to_slices", into, n.provenance))
        return slices;
    if (!composite)
      return n.bodies.empty() ? std::optional(outs) : std::nullopt;  // composites inside of bodies are left
    std::vector<ValueId> present;
    for (ValueId v : inputs)
      if (v) present.push_back(v);
    context.note("expand_composite", into, n.provenance);
    std::vector<ValueId> values = inline_graph(into, *composite->definition, present, n.provenance, rule);
    values.resize(std::max(values.size(), n.outputs.size()));
    return values;
  };
  Graph expanded = replay(g, rule);
  for (int left = depth_of_bodies(expanded); left > 0 && has_composite_loops(expanded, stays); --left)
    expanded = replay(expanded, rule);  // each time it is loops further outside
  return expanded;
}

}  // namespace

Graph expand_domains(const Graph& g, PassContext& context) {
  return expand(g, context, [](const Node& n) { return n.op->domain.empty() || n.op->domain == "cameo"; });
}

Graph expand_composites(const Graph& g, PassContext& context) { return expand(g, context, is_claimed); }

}  // namespace cameo
