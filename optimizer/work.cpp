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

}  // namespace

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

}  // namespace cameo
