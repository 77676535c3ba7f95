// See work.h.
#include "optimizer/work.h"

#include <algorithm>
#include <cmath>
#include <ranges>
#include <unordered_map>

namespace cameo {
namespace {

double count(Expr extent, double unknown = INFINITY) {
  return extent.is_const() ? static_cast<double>(extent.int_value()) : unknown;
}

double points_over(std::span<const Expr> vars) {
  double points = 1;
  for (Expr v : vars) points *= count(v.extent());
  return points;
}
double work_of(std::span<const Expr> vars, std::span<const Expr> roots) {
  double work = 0;
  for (Expr root : roots)
    for (const auto& [e, times] : evaluations(root, points_over(vars))) work += times;
  return work;
}
double work_of(const OutputExpr& out) { return work_of(out.index, std::span(&out.value, 1)); }

double elements(const Graph& g, std::span<const ValueId> values) {
  double sum = 0;
  for (ValueId v : values)
    if (v) sum += count(product(g.type(v).shape).extent());
  return sum;
}

struct Counter {
  const Graph& g;
  const Node& n;

  static double of(const Graph& body) {
    double work = 0;
    for (const Node& inner : body.nodes()) work += work_of(body, inner);
    return work;
  }
  double operator()(const Compute& m) const {
    double work = 0;
    for (const OutputExpr& out : m.outputs) work += work_of(out);
    return work;
  }
  double operator()(const View&) const { return 0; }
  double operator()(const Scatter& m) const {
    std::vector<Expr> roots = m.to;
    roots.push_back(m.update);
    return work_of(m.start) + work_of(m.over, roots);
  }
  double operator()(const Composite& m) const { return of(*m.definition); }
  double operator()(const Control& m) const {
    double work = 0;
    for (const auto& body : n.bodies) work += of(*body);
    if (m.form == Control::If) return work;
    const bool known = n.inputs[0] && g[n.inputs[0]].constant;
    return known ? work * static_cast<double>(g[n.inputs[0]].constant->get_int(0)) : INFINITY;
  }
  double operator()(const Opaque&) const { return elements(g, n.inputs) * elements(g, n.outputs); }
};

// ---- floating-point operations
/// Floating-point operations of an output, each term of a fold one.
double operations_of(const OutputExpr& out, double elements) {
  double sum = 0;
  for (const auto& [e, times] : evaluations(out.value, elements, 1)) {
    const bool fold = e.op() == Op::Fold && e.arg(0).extent().is_const();
    if (is_float(e.type()) && is_operation(e))
      sum += fold ? times * static_cast<double>(e.arg(0).extent().int_value()) : times;
  }
  return sum;
}

double elements_of(const Type& t) {
  return t.kind == Kind::Tensor && is_static(t.shape) ? static_cast<double>(product(t.shape).value()) : 1;
}

double trips_of(const Graph& g, const Node& n) {
  constexpr double kUnknown = 100;
  if (n.inputs.empty() || !n.inputs[0] || !g[n.inputs[0]].constant) return kUnknown;
  return static_cast<double>(g[n.inputs[0]].constant->get_int(0));
}

double operations_of(const Graph& g, const Node& n) {
  double sum = 0;
  const Meaning& m = meaning_of(g, n);
  if (const auto* c = std::get_if<Compute>(&m)) {
    for (size_t i = 0; i < c->outputs.size() && i < n.outputs.size(); ++i)
      if (n.outputs[i]) sum += operations_of(c->outputs[i], elements_of(g.type(n.outputs[i])));
  } else if (const auto* c = std::get_if<Composite>(&m)) {
    sum = estimate_operations(*c->definition);
  } else if (const auto* c = std::get_if<Control>(&m)) {
    for (const auto& body : n.bodies) sum += estimate_operations(*body);
    if (c->form == Control::Loop) sum *= trips_of(g, n);
  }
  return sum;
}

}  // namespace

double elements_loaded(uint32_t operand, Expr root, double points) {
  double loads = 0;
  for (const auto& [e, times] : evaluations(root, points))
    if (e.op() == Op::Load && e.operand() == operand) loads += times;
  return loads;
}

bool is_read_again(const Graph& g, ValueId v, Expr root, double points, double times) {
  return elements_loaded(v.index, root, points) >= times * static_cast<double>(product(g.type(v).shape).estimate());
}

bool is_operation(Expr e) {
  switch (e.op()) {
    case Op::Const:
    case Op::Var:
    case Op::Symbol:
    case Op::Load:
    case Op::Read:
    case Op::Cast:
    case Op::Select: return false;
    case Op::Fold: return e.arg(1).op() != Op::Fold || e.arg(1).fold_kind() != e.fold_kind();
    default: return true;
  }
}

std::vector<std::pair<Expr, double>> evaluations(Expr root, double points, double unknown) {
  std::vector<std::pair<Expr, double>> all;
  visit(std::span(&root, 1), [&](Expr e) { all.emplace_back(e, 0); });
  std::unordered_map<Expr, double, ExprHash> times{{root, points}};
  for (auto& [e, own] : std::views::reverse(all)) {  // users before arguments
    own = times[e];
    const double inside = e.op() == Op::Fold ? own * count(e.arg(0).extent(), unknown) : own;
    for (Expr a : e.args()) times[a] = std::max(times[a], inside);
  }
  return all;
}

double work_of(const Graph& g, const Node& n) { return std::visit(Counter{g, n}, meaning_of(g, n)); }

double estimate_operations(const Graph& g) {
  double sum = 0;
  for (const Node& n : g.nodes()) sum += operations_of(g, n);
  return sum;
}

}  // namespace cameo
