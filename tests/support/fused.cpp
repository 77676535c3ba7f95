// See fused.h. The operand of a fused Load is the number of a value, so every value's dims and tensor are given to the
// tape.
#include "tests/support/fused.h"

#include "frontend/reference/interpret_run.h"
#include "optimizer/clusters/clusters.h"
#include "optimizer/plan/bind_plan.h"

namespace cameo::test {
namespace {

using tape::Dual;

bool fusible(const Graph& g, const Cluster& c) {
  const Meaning& m = meaning_of(g, g[c.nodes[0]]);
  if (g.type(c.outputs[0]).is_list()) return false;
  return c.nodes.size() > 1 || std::holds_alternative<Compute>(m) || std::holds_alternative<View>(m);
}

class Run {
 public:
  explicit Run(const Graph& g) : g_(g), values_(g.values().size()) {
    for (size_t v = 0; v < values_.size(); ++v)
      if (const Constant& c = g.values()[v].constant) values_[v] = {*c, *c};
  }
  void set(ValueId v, const Tensor& t) { values_[v.index] = {t, t}; }
  const Dual& operator[](ValueId v) const { return values_[v.index]; }

  void run(const Cluster& c) {
    if (!fusible(g_, c)) return run_node(g_[c.nodes[0]]);  // which learns what it decides
    std::vector<OutputExpr> meanings = fuse(g_, c);
    std::vector<Dual> out;
    for (size_t i = 0; i < meanings.size(); ++i) out.push_back(evaluate(meanings[i], g_.type(c.outputs[i]).dtype));
    for (size_t i = 0; i < out.size(); ++i) {
      tape::learn(symbols_, g_[c.outputs[i]], out[i].rounded);
      values_[c.outputs[i].index] = std::move(out[i]);
    }
  }

 private:
  Dual evaluate(OutputExpr e, DType dtype) {
    for (Expr& index : e.index) index = tape::bind_symbols(index, symbols_);
    e.value = tape::bind_symbols(e.value, symbols_);
    std::vector<std::vector<int64_t>> dims;
    for (const Dual& d : values_) dims.push_back(d.rounded.dims());
    tape::Tape tape(e.index, std::span(&e.value, 1), std::move(dims));
    Dual out{Tensor(dtype, tape.dims()), {}};
    out.unrounded = is_float(dtype) ? Tensor(DType::f64, tape.dims()) : out.rounded;
    tape.run(values_, {.shadow = true, .round_f32 = true},
             [&](const tape::Tape::Block& b) { store(out, b.first, b.lanes, b.roots[0]); });
    return out;
  }
  void run_node(const Node& n) {
    std::vector<Dual> in;
    for (ValueId v : n.inputs) in.push_back(v ? values_[v.index] : Dual{});
    std::vector<Dual> out = tape::NodeRun(g_, n, symbols_, true).run(in);
    for (size_t i = 0; i < out.size(); ++i)
      if (n.outputs[i]) values_[n.outputs[i].index] = std::move(out[i]);
  }

  const Graph& g_;
  std::vector<Dual> values_;
  tape::Symbols symbols_;
};

/// The graph at the sizes that these inputs have, which it must fit.
Graph at_sizes_of(const Graph& g, std::span<const Tensor> inputs) {
  const DimBinding sizes = sizes_of_run(interface_of(g), inputs);
  for (const Requirement& r : g.requirements())
    if (simplify_index(bind_symbols(r.condition, sizes)).is_const(0)) throw misfit(g.sources(), r);
  return bind_dims(g, sizes);
}

}  // namespace

Interpretation interpret_fused(const Graph& graph, std::span<const Tensor> inputs) {
  const Graph g = at_sizes_of(graph, inputs);
  Run run(g);
  for (size_t i = 0; i < inputs.size(); ++i) run.set(g.inputs()[i], inputs[i]);
  for (const Cluster& c : form_clusters(g, *find_target("x86-64-v3"))) run.run(c);
  Interpretation r;
  for (const Port& p : g.outputs()) {
    const Dual& d = run[p.value];
    r.unrounded.push_back(tape::in_f64(d.rounded, d.unrounded));
    r.rounded.push_back(d.rounded);
  }
  return r;
}

}  // namespace cameo::test
