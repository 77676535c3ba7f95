// Symbols are replaced in the types and contents of inputs, of the graph and of every body; replaying does the rest.
#include "frontend/ir/bind_dims.h"

#include "frontend/reference/interpret_tape.h"

namespace cameo {

namespace {

/// Whether it is an integer made of floating constants: sizes may be, of scales.
bool is_whole_part(Expr e) {
  return e.op() == Op::Cast && is_size(e) && !is_symbolic(e) && is_integer(e.type()) && is_float(e.arg(0).type());
}
/// As a kernel computes it.
Expr number_of(Expr constants) {
  int64_t value = 0;
  const auto keep = [&](const tape::Tape::Block& b) { value = b.roots[0].ints[0]; };
  tape::Tape({}, std::span(&constants, 1), {}).run({}, {.round_f32 = true}, keep);
  return integer(value, constants.type());
}

}  // namespace

SymbolBinding numbers(const DimBinding& dims) {
  return [&dims](Expr symbol) {
    auto it = dims.find(std::string(symbol_name(symbol)));
    return it == dims.end() ? symbol : integer(it->second);
  };
}

Expr bind_symbols(Expr e, const SymbolBinding& binding) {
  if (!is_symbolic(e)) return e;
  return rewrite(e, [&](Expr x) {
    if (x.op() == Op::Symbol) return binding(x);
    return is_whole_part(x) ? number_of(x) : x;
  });
}
Expr bind_symbols(Expr e, const DimBinding& dims) { return dims.empty() ? e : bind_symbols(e, numbers(dims)); }

Type bind_symbols(const Type& t, const SymbolBinding& binding) {
  Type r = t;
  for (Dim& d : r.shape) d = Dim(bind_symbols(d.extent(), binding));
  if (t.of) r.of = std::make_shared<const Type>(bind_symbols(*t.of, binding));
  return r;
}
Type bind_symbols(const Type& t, const DimBinding& dims) { return bind_symbols(t, numbers(dims)); }

Graph bind_dims(const Graph& g, const SymbolBinding& binding) {
  Graph into(g.shared_sources());
  std::vector<ValueId> inputs;
  for (ValueId v : g.inputs()) {
    inputs.push_back(into.add_input(g[v].name, bind_symbols(g.type(v), binding)));
    std::vector<Expr> content = g[v].content;
    for (Expr& e : content) e = bind_symbols(e, binding);
    into.set_content(inputs.back(), std::move(content));
  }
  Rule bind_bodies = [&](Graph& to, const Node& n, std::span<const ValueId> in) -> std::optional<std::vector<ValueId>> {
    if (n.bodies.empty()) return std::nullopt;
    std::vector<std::shared_ptr<const Graph>> bodies;
    for (auto& b : n.bodies) bodies.push_back(std::make_shared<const Graph>(bind_dims(*b, binding)));
    return to.add(*n.op, {in.begin(), in.end()}, n.attrs, n.provenance, n.version, static_cast<int>(n.outputs.size()),
                  std::move(bodies));
  };
  std::vector<ValueId> outputs = inline_graph(into, g, inputs, {}, bind_bodies);
  for (size_t i = 0; i < outputs.size(); ++i) into.add_output(g.outputs()[i].name, outputs[i]);
  return into;
}
Graph bind_dims(const Graph& g, const DimBinding& dims) { return bind_dims(g, numbers(dims)); }
Graph bound_dims(const Graph& g, const DimBounds& bounds) {
  return bind_dims(g, [&](Expr s) {
    auto it = bounds.find(std::string(symbol_name(s)));
    return it == bounds.end() ? s : symbol(it->first, it->second);
  });
}

}  // namespace cameo
