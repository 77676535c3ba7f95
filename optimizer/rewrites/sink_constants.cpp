// sink_constants: what a body captures and is constant outside becomes a constant inside, so that a loop's weights are packed
// once when compiling and not laid out in every iteration.
#include "frontend/operator.h"
#include "optimizer/pipeline.h"

namespace cameo {

Graph sink_constants(const Graph& g, PassContext& context) {
  Rule rule = [&](Graph& into, const Node& n, std::span<const ValueId> inputs) -> std::optional<std::vector<ValueId>> {
    if (n.bodies.empty()) return std::nullopt;
    auto count = n.attrs.find("captures");
    size_t captures = count == n.attrs.end() ? inputs.size() - 1 : static_cast<size_t>(std::get<int64_t>(count->second));  // If: all but the condition
    size_t first = inputs.size() - captures;
    auto constant = [&](size_t capture) { return into[inputs[first + capture]].constant; };
    std::vector<ValueId> kept(inputs.begin(), inputs.begin() + static_cast<long>(first));
    for (size_t c = 0; c < captures; ++c)
      if (!constant(c)) kept.push_back(inputs[first + c]);
    if (kept.size() == inputs.size() || !context.apply("sink_constant", into, n.origin)) return std::nullopt;

    std::vector<std::shared_ptr<const Graph>> bodies;
    for (const auto& old : n.bodies) {
      Graph body(old->shared_sources());
      std::vector<ValueId> given;
      size_t own = old->inputs().size() - captures;
      for (size_t i = 0; i < old->inputs().size(); ++i) {
        bool sinks = i >= own && constant(i - own);
        given.push_back(sinks ? body.constant(constant(i - own)) : body.add_input(old->input_name(static_cast<int>(i)), old->type(old->inputs()[i])));
      }
      std::vector<ValueId> results = inline_graph(body, *old, given, {}, rule);
      for (size_t o = 0; o < results.size(); ++o) body.add_output(old->outputs()[o].name, results[o]);
      bodies.push_back(std::make_shared<const Graph>(std::move(body)));
    }
    Attrs attrs = n.attrs;
    if (count != n.attrs.end()) attrs["captures"] = static_cast<int64_t>(kept.size() - first);
    return into.add(*n.op, std::move(kept), std::move(attrs), n.origin, n.version, static_cast<int>(n.outputs.size()), std::move(bodies));
  };
  return replay(g, rule);
}

}  // namespace cameo
