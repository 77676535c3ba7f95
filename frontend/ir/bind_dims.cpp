// Symbols are replaced in the types and contents of inputs, of the graph and of every body; replaying does the rest.
#include "frontend/ir/bind_dims.h"

namespace cameo {

Expr bind_symbols(Expr e, const DimBinding& dims) {
  if (dims.empty() || e.is_const()) return e;
  return rewrite(e, [&](Expr x) {
    if (x.op() != Op::Symbol) return x;
    auto it = dims.find(std::string(symbol_name(x)));
    return it == dims.end() ? x : integer(it->second);
  });
}

Type bind_symbols(const Type& t, const DimBinding& dims) {
  Type r = t;
  for (Dim& d : r.shape) d = Dim(bind_symbols(d.extent(), dims));
  if (t.of) r.of = std::make_shared<const Type>(bind_symbols(*t.of, dims));
  return r;
}

Graph bind_dims(const Graph& g, const DimBinding& dims) {
  Graph into(g.shared_sources());
  std::vector<ValueId> inputs;
  for (ValueId v : g.inputs()) {
    inputs.push_back(into.add_input(g[v].name, bind_symbols(g.type(v), dims)));
    std::vector<Expr> content = g[v].content;
    for (Expr& e : content) e = bind_symbols(e, dims);
    into.set_content(inputs.back(), std::move(content));
  }
  Rule bind_bodies = [&](Graph& to, const Node& n, std::span<const ValueId> in) -> std::optional<std::vector<ValueId>> {
    if (n.bodies.empty()) return std::nullopt;
    std::vector<std::shared_ptr<const Graph>> bodies;
    for (auto& b : n.bodies) bodies.push_back(std::make_shared<const Graph>(bind_dims(*b, dims)));
    return to.add(*n.op, {in.begin(), in.end()}, n.attrs, n.provenance, n.version, static_cast<int>(n.outputs.size()),
                  std::move(bodies));
  };
  std::vector<ValueId> outputs = inline_graph(into, g, inputs, {}, bind_bodies);
  for (size_t i = 0; i < outputs.size(); ++i) into.add_output(g.outputs()[i].name, outputs[i]);
  return into;
}

}  // namespace cameo
