// Walking a graph: each node's meaning is run on the values so far, which are dropped after their last use. What was
// compiled for a node is kept, so that the body of a Loop is compiled once.
#include "frontend/reference/interpret.h"

#include <fmt/format.h>

#include <algorithm>

#include "frontend/ir/check.h"
#include "frontend/reference/interpret_run.h"

namespace cameo {
namespace tape {
namespace {

/// Learns the values of symbols from a tensor that stands for a value of this type.
void learn(Symbols& symbols, const Type& type, const Tensor& t) {
  if (type.kind != Kind::Tensor || type.shape.size() != t.dims().size()) return;
  for (size_t d = 0; d < type.shape.size(); ++d)
    if (Expr e = type.shape[d].extent(); e.op() == Op::Symbol) symbols[e.bits()] = t.dims()[d];
}

/// What sizes of the inputs decide already.
void check_requirements(const Graph& g, const Symbols& symbols) {
  for (const Requirement& r : g.requirements())
    if (simplify_index(bind_symbols(r.condition, symbols)).is_const(0)) throw misfit(g.sources(), r);
}

/// Dims of a type; one that nothing tells yet is found from the element count.
std::vector<int64_t> bound_dims(const Type& type, const Symbols& symbols, int64_t count) {
  std::vector<int64_t> dims;
  int64_t unknown = -1, known = 1;
  for (const Dim& d : type.shape) {
    Expr e = simplify_index(bind_symbols(d.extent(), symbols));
    if (!e.is_const() && unknown >= 0)
      throw CompileError(Code::E0404, fmt::format("the dims {} are not known", to_string(type.shape)));
    if (!e.is_const()) unknown = static_cast<int64_t>(dims.size());
    dims.push_back(e.is_const() ? e.int_value() : 0);
    if (e.is_const()) known *= e.int_value();
  }
  if (unknown >= 0 && known) dims[unknown] = count / known;
  return dims;
}

}  // namespace

namespace {

/// The shadow of a value, its floats in the types of that value.
Tensor stored_as(const Tensor& rounded, const Tensor& unrounded) {
  if (!rounded.is_list()) return converted(unrounded, rounded.dtype());
  std::vector<Tensor> items;
  for (size_t i = 0; i < rounded.items().size(); ++i)
    items.push_back(stored_as(rounded.items()[i], unrounded.items()[i]));
  return Tensor::of_items(std::move(items));
}

/// What a function made of shadows, where it is as large as what it made of the values; of integers the values.
Tensor shadow_of(const Tensor& rounded, const Tensor& unrounded) {
  if (!rounded.is_list()) {
    const bool same = !is_float(rounded.dtype()) || unrounded.dims() != rounded.dims();
    return same ? rounded : unrounded;
  }
  if (rounded.items().size() != unrounded.items().size()) return rounded;
  std::vector<Tensor> items;
  for (size_t i = 0; i < rounded.items().size(); ++i)
    items.push_back(shadow_of(rounded.items()[i], unrounded.items()[i]));
  return Tensor::of_items(std::move(items));
}

}  // namespace

Tensor in_f64(const Tensor& rounded, const Tensor& unrounded) {
  if (!rounded.is_list()) return is_float(rounded.dtype()) ? converted(unrounded, DType::f64) : rounded;
  std::vector<Tensor> items;
  for (size_t i = 0; i < rounded.items().size(); ++i) items.push_back(in_f64(rounded.items()[i], unrounded.items()[i]));
  return Tensor::of_items(std::move(items));
}

void learn(Symbols& symbols, const Value& value, const Tensor& t) {
  learn(symbols, value.type, t);
  for (size_t i = 0; i < value.content.size(); ++i)
    if (const auto symbol = symbol_of_element(value.content[i]))
      symbols[symbol->bits()] = t.get_int(static_cast<int64_t>(i));
}

NodeRun::NodeRun(const Graph& g, const Node& n, Symbols& symbols, bool shadow)
    : graph_(g), node_(n), symbols_(symbols), shadow_(shadow) {}
NodeRun::~NodeRun() = default;

const Type& NodeRun::out_type(int i) const { return graph_.type(node_.outputs[i]); }

Dual NodeRun::new_output(int i, std::vector<int64_t> dims) const {
  DType t = out_type(i).dtype;
  Dual d{Tensor(t, dims), {}};
  if (shadow_)
    d.unrounded = is_float(t) ? Tensor(DType::f64, std::move(dims)) : d.rounded;  // integers share their bytes
  return d;
}

const Tape& NodeRun::compile(size_t slot, std::span<const Expr> index, std::span<const Expr> roots,
                             std::span<const Dual> inputs) {
  std::vector<std::vector<int64_t>> dims;
  for (const Dual& d : inputs) dims.push_back(d.rounded.dims());
  if (tapes_.size() <= slot) tapes_.resize(slot + 1);
  Slot& s = tapes_[slot];
  if (s.tape && !s.symbolic && s.tape->operand_dims() == dims) return *s.tape;
  std::vector<Expr> all(index.begin(), index.end());
  all.insert(all.end(), roots.begin(), roots.end());
  s.symbolic = std::ranges::any_of(all, is_symbolic);
  if (s.symbolic)
    for (Expr& e : all) e = bind_symbols(e, symbols_);
  std::span<const Expr> bound(all);
  s.tape = std::make_unique<Tape>(bound.first(index.size()), bound.subspan(index.size()), std::move(dims));
  return *s.tape;
}

Dual NodeRun::run_output(size_t i, const OutputExpr& e, std::span<const Dual> inputs) {
  const Tape& tape = compile(i, e.index, std::span(&e.value, 1), inputs);
  Dual out = new_output(static_cast<int>(i), tape.dims());
  auto keep = [&](const Tape::Block& b) { store(out, b.first, b.lanes, b.roots[0]); };
  tape.run(inputs, {.shadow = shadow_, .in_order = false}, keep);
  return out;
}

std::vector<Dual> NodeRun::run_compute(const Compute& m, std::span<const Dual> inputs) {
  CAMEO_CHECK(m.outputs.size() >= node_.outputs.size(), "a meaning for every output");
  std::vector<Dual> out(node_.outputs.size());
  for (size_t i = 0; i < out.size(); ++i)
    if (node_.outputs[i]) out[i] = run_output(i, m.outputs[i], inputs);
  return out;
}

std::vector<Dual> NodeRun::run_view(const View& m, std::span<const Dual> inputs) {
  const Dual& x = inputs[m.input];
  if (x.rounded.is_list()) return {x};
  std::vector<int64_t> dims = bound_dims(out_type(0), symbols_, x.rounded.size());
  return {{x.rounded.reshaped(dims), shadow_ ? x.unrounded.reshaped(dims) : Tensor()}};
}

std::vector<Dual> NodeRun::run_composite(const Composite& m, std::span<const Dual> inputs) {
  if (bodies_.empty()) bodies_.push_back(std::make_unique<GraphRun>(*m.definition, symbols_, shadow_));
  std::vector<Dual> present;
  for (size_t i = 0; i < inputs.size(); ++i)
    if (node_.inputs[i]) present.push_back(inputs[i]);
  std::vector<Dual> out = bodies_[0]->run(std::move(present));
  out.resize(node_.outputs.size());
  return out;
}

/// The reference runs on the rounded tensors; floating outputs are shadowed by a run on the shadows, stored as
/// declared.
std::vector<Dual> NodeRun::run_opaque(std::span<const Dual> inputs) {
  CAMEO_CHECK(node_.op->reference, "a reference function");
  MeaningView view(graph_, node_);
  std::vector<Tensor> in, shadows;
  for (size_t i = 0; i < inputs.size(); ++i) {
    in.push_back(inputs[i].rounded);
    shadows.push_back(shadow_ ? stored_as(inputs[i].rounded, inputs[i].unrounded) : Tensor());
  }
  std::vector<Tensor> rounded = node_.op->reference(view, in), unrounded = rounded;
  if (shadow_) unrounded = node_.op->reference(view, shadows);
  std::vector<Dual> out(node_.outputs.size());
  for (size_t i = 0; i < out.size() && i < rounded.size(); ++i)
    out[i] = {rounded[i], shadow_ ? shadow_of(rounded[i], unrounded[i]) : Tensor()};
  return out;
}

std::vector<Dual> NodeRun::run(std::span<const Dual> inputs) {
  if (!meaning_) meaning_ = &meaning_of(graph_, node_);
  for (size_t i = 0; i < inputs.size(); ++i)
    if (node_.inputs[i]) learn(symbols_, graph_.type(node_.inputs[i]), inputs[i].rounded);
  struct Visitor {
    NodeRun& run;
    std::span<const Dual> in;
    std::vector<Dual> operator()(const Compute& m) { return run.run_compute(m, in); }
    std::vector<Dual> operator()(const View& m) { return run.run_view(m, in); }
    std::vector<Dual> operator()(const Scatter& m) { return run.run_scatter(m, in); }
    std::vector<Dual> operator()(const Composite& m) { return run.run_composite(m, in); }
    std::vector<Dual> operator()(const Control& m) { return m.form == Control::If ? run.run_if(in) : run.run_loop(in); }
    std::vector<Dual> operator()(const Opaque&) { return run.run_opaque(in); }
  };
  std::vector<Dual> out = std::visit(Visitor{*this, inputs}, *meaning_);
  for (size_t i = 0; i < out.size(); ++i)
    if (node_.outputs[i]) learn(symbols_, graph_[node_.outputs[i]], out[i].rounded);
  return out;
}

GraphRun::GraphRun(const Graph& g, Symbols& symbols, bool shadow)
    : graph_(g), symbols_(symbols), shadow_(shadow), last_use_(g.values().size(), -1) {
  nodes_.reserve(g.nodes().size());
  for (const Node& n : g.nodes()) {
    for (ValueId v : n.inputs)
      if (v) last_use_[v.index] = static_cast<int>(nodes_.size());
    nodes_.emplace_back(g, n, symbols, shadow);
  }
  for (const Port& p : g.outputs()) last_use_[p.value.index] = static_cast<int>(nodes_.size());
}

Dual GraphRun::value(ValueId v) const {
  if (!v) return {};
  if (const Constant& c = graph_[v].constant) return {*c, shadow_ ? *c : Tensor()};
  return values_[v.index];
}

void GraphRun::run_node(size_t i, const Observer& observe) {
  const Node& n = graph_.nodes()[i];
  std::vector<Dual> in;
  for (ValueId v : n.inputs) in.push_back(value(v));
  std::vector<Dual> out;
  try {
    out = nodes_[i].run(in);
  } catch (CompileError& e) {
    if (e.diagnostic.node.empty()) e.diagnostic.node = where(graph_.sources(), n.provenance);
    throw;
  }
  CAMEO_CHECK(out.size() == n.outputs.size(), "a tensor for every output");
  if (std::ranges::any_of(n.outputs, [&](ValueId v) { return v && !graph_[v].content.empty(); }))
    check_requirements(graph_, symbols_);
  if (observe) {
    std::vector<Tensor> rounded, unrounded;
    for (const Dual& d : out) {
      rounded.push_back(d.rounded);
      unrounded.push_back(in_f64(d.rounded, d.unrounded));
    }
    observe(n, rounded, unrounded);
  }
  for (size_t k = 0; k < out.size(); ++k)
    if (n.outputs[k] && last_use_[n.outputs[k].index] > static_cast<int>(i))
      values_[n.outputs[k].index] = std::move(out[k]);
  for (ValueId v : n.inputs)
    if (v && last_use_[v.index] == static_cast<int>(i)) values_[v.index] = {};
}

std::vector<Dual> GraphRun::run(std::vector<Dual> inputs, const Observer& observe) {
  CAMEO_CHECK(inputs.size() == graph_.inputs().size(), "a tensor for each input of the graph");
  values_.assign(graph_.values().size(), {});
  for (size_t i = 0; i < inputs.size(); ++i) {
    learn(symbols_, graph_[graph_.inputs()[i]], inputs[i].rounded);
    values_[graph_.inputs()[i].index] = std::move(inputs[i]);
  }
  check_requirements(graph_, symbols_);
  for (size_t i = 0; i < nodes_.size(); ++i) run_node(i, observe);
  std::vector<Dual> out;
  for (const Port& p : graph_.outputs()) out.push_back(value(p.value));
  values_.clear();
  return out;
}

Tensor converted(const Tensor& t, DType to) {
  if (t.dtype() == to || !is_float(t.dtype())) return t;
  Tensor r(to, t.dims());
  for (int64_t i = 0; i < t.size(); ++i) r.set(i, t.get(i));
  return r;
}

}  // namespace tape

std::vector<Tensor> interpret_node(const Graph& g, const Node& n, std::span<const Tensor> inputs) {
  tape::Symbols symbols;
  std::vector<tape::Dual> in;
  for (const Tensor& t : inputs) in.push_back({t, {}});
  std::vector<Tensor> out;
  for (tape::Dual& d : tape::NodeRun(g, n, symbols, false).run(in)) out.push_back(std::move(d.rounded));
  return out;
}

namespace {
bool fits(const Type& type, const Tensor& t) {
  if (type.is_list() != t.is_list()) return false;
  if (type.kind == Kind::Map)
    return t.items().size() == 2 && t.items()[0].dtype() == type.key && t.items()[0].rank() == 1 &&
           t.items()[0].dims() == t.items()[1].dims() && fits(*type.of, t.items()[1]);
  if (type.is_list())
    return (type.kind == Kind::Sequence || t.items().size() <= 1) &&
           std::ranges::all_of(t.items(), [&](const Tensor& item) { return fits(*type.of, item); });
  bool fit = type.kind == Kind::Tensor && t.dtype() == type.dtype && (!type.ranked || t.rank() == type.rank());
  for (int d = 0; fit && d < type.rank(); ++d) fit = !type.shape[d].is_static() || type.shape[d].value() == t.dims()[d];
  return fit;
}

void check_input(const Graph& g, size_t i, const Tensor& t) {
  const Type& type = g.type(g.inputs()[i]);
  if (!fits(type, t))
    throw CompileError(Code::E0302,
                       fmt::format("input `{}` is {}, it was given {}", printable(g.input_name(static_cast<int>(i))),
                                   to_string(type), to_string(type_of(t))));
}
}  // namespace

Interpretation interpret(const Graph& g, std::span<const Tensor> inputs, const Observer& observe) {
  if (inputs.size() != g.inputs().size())
    throw CompileError(Code::E0302,
                       fmt::format("the model has {} inputs, it was given {}", g.inputs().size(), inputs.size()));
  tape::Symbols symbols;
  std::vector<tape::Dual> in;
  for (size_t i = 0; i < inputs.size(); ++i) {
    check_input(g, i, inputs[i]);
    in.push_back({inputs[i], inputs[i]});
  }
  Interpretation r;
  for (tape::Dual& d : tape::GraphRun(g, symbols, true).run(std::move(in), observe)) {
    r.unrounded.push_back(tape::in_f64(d.rounded, d.unrounded));
    r.rounded.push_back(std::move(d.rounded));
  }
  return r;
}

}  // namespace cameo
