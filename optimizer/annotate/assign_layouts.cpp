// See assign_layouts.h.
#include "optimizer/annotate/assign_layouts.h"

#include <algorithm>
#include <map>
#include <numeric>

namespace cameo {
namespace {

using Order = std::vector<int>;

Order identity(int rank) {
  Order o(static_cast<size_t>(rank));
  std::iota(o.begin(), o.end(), 0);
  return o;
}
Order with_last(Order order, int axis) {
  std::erase(order, axis);
  order.push_back(axis);
  return order;
}

bool reads(Expr e, Expr v) { return depends_on(e, v); }

/// The order of the output in which a Load of an operand in `from` order walks memory as before; nullopt if axes mix.
std::optional<Order> carried_order(const OutputExpr& out, Expr load, const Order& from) {
  Order order;
  for (int d : from) {
    Expr at = load.index()[d];
    int axis = -1;
    for (size_t a = 0; a < out.index.size(); ++a) {
      if (!reads(at, out.index[a])) continue;
      if (axis >= 0) return std::nullopt;
      axis = static_cast<int>(a);
    }
    if (axis < 0) continue;
    if (std::ranges::find(order, axis) != order.end()) return std::nullopt;
    order.push_back(axis);
  }
  if (order.size() < 2) return std::nullopt;
  for (size_t a = 0; a < out.index.size(); ++a)  // axes that the operand lacks keep their place at the front
    if (std::ranges::find(order, static_cast<int>(a)) == order.end()) order.insert(order.begin(), static_cast<int>(a));
  return order;
}

/// Where a fold is shared by the elements of a row, the axes along the row come last, so that it is computed once for each.
std::optional<Order> row_order(const OutputExpr& out) {
  std::vector<Expr> roots{out.value};
  std::vector<bool> shared(out.index.size(), false);
  visit(roots, [&](Expr e) {
    if (e.op() != Op::Fold) return;
    for (size_t a = 0; a < out.index.size(); ++a)
      shared[a] = shared[a] || (!out.index[a].extent().is_const(1) && !reads(e, out.index[a]));
  });
  Order front, back;
  for (size_t a = 0; a < shared.size(); ++a) (shared[a] ? back : front).push_back(static_cast<int>(a));
  if (back.empty()) return std::nullopt;
  front.insert(front.end(), back.begin(), back.end());
  return front;
}

}  // namespace

std::optional<ContractMatch> match_contract(const Graph& g, const Type& type, const OutputExpr& out) {
  ContractMatch m;
  std::vector<Expr> roots{out.value};
  int sums = 0;
  bool other = false;
  Expr inner;
  visit(roots, [&](Expr e) {  // arguments first, so the outermost of nested Folds comes last
    if (e.op() != Op::Fold) return;
    if (e.fold_kind() != FoldKind::Sum || (inner && e.arg(1) != m.sum)) { other = true; return; }
    if (!inner) inner = e;
    m.sum = e;
    ++sums;
  });
  if (!sums || other || type.dtype != DType::f32) return std::nullopt;
  for (Expr e = m.sum; e.op() == Op::Fold; e = e.arg(1)) m.folds.push_back(e.arg(0));
  Expr product = inner.arg(1);
  if (product.op() != Op::Mul || product.arg(0).op() != Op::Load || product.arg(1).op() != Op::Load || product.type() != DType::f32) return std::nullopt;
  m.a = product.arg(0);
  m.b = product.arg(1);
  for (Expr l : {m.a, m.b})
    for (Expr i : l.index()) {
      bool nested = false;
      std::vector<Expr> r{i};
      visit(r, [&](Expr e) { nested |= e.op() == Op::Load; });
      if (nested || l.checked()) return std::nullopt;
    }
  auto has = [](Expr l, Expr v) { return std::ranges::any_of(l.index(), [&](Expr i) { return reads(i, v); }); };
  // the N axis: read by one operand alone; a constant operand is B, else the one whose axis is the output's last such
  bool swap_for_constant = g[ValueId{m.a.operand()}].constant && !g[ValueId{m.b.operand()}].constant;
  if (swap_for_constant) std::swap(m.a, m.b);
  auto find_n = [&]() {
    m.n_axis = -1;
    for (size_t a = 0; a < out.index.size(); ++a)
      if (has(m.b, out.index[a]) && !has(m.a, out.index[a]) && !out.index[a].extent().is_const(1)) m.n_axis = static_cast<int>(a);
    return m.n_axis >= 0;
  };
  bool b_constant = static_cast<bool>(g[ValueId{m.b.operand()}].constant);
  if (!find_n()) {
    if (b_constant) return std::nullopt;
    std::swap(m.a, m.b);
    if (!find_n()) return std::nullopt;
  } else if (!b_constant) {
    int here = m.n_axis;
    std::swap(m.a, m.b);
    if (!find_n() || m.n_axis < here) {
      std::swap(m.a, m.b);
      find_n();
    }
  }
  return m;
}

std::vector<Layout> assign_layouts(const Graph& g, const std::vector<FusedCluster>& clusters) {
  std::map<ValueId, Order> orders;
  auto order_of_value = [&](ValueId v) {
    auto it = orders.find(v);
    return it == orders.end() ? identity(g.type(v).rank()) : it->second;
  };
  for (const FusedCluster& c : clusters) {
    for (size_t i = 0; i < c.outputs.size(); ++i) {
      ValueId v = c.cluster.outputs[i];
      const OutputExpr& out = c.outputs[i];
      if (g.type(v).rank() < 2) continue;
      if (auto m = match_contract(g, g.type(v), out)) {
        orders[v] = with_last(identity(g.type(v).rank()), m->n_axis);
        continue;
      }
      if (auto rows = row_order(out)) {
        orders[v] = *rows;
        continue;
      }
      std::optional<Order> best;
      int64_t largest = 0;
      std::vector<Expr> roots{out.value};
      visit(roots, [&](Expr e) {
        if (e.op() != Op::Load || g[ValueId{e.operand()}].constant) return;
        ValueId from{e.operand()};
        if (!is_static(g.type(from).shape)) return;
        int64_t size = product(g.type(from).shape).value();
        auto order = carried_order(out, e, order_of_value(from));
        if (order && size > largest) {
          best = order;
          largest = size;
        }
      });
      if (best) orders[v] = *best;
    }
  }
  std::vector<Layout> layouts(g.values().size());
  for (uint32_t i = 0; i < g.values().size(); ++i) {
    const Type& t = g.type(ValueId{i});
    if (t.kind != Kind::Tensor || !is_static(t.shape)) continue;
    std::vector<int64_t> dims = extents(t.shape);
    layouts[i] = ordered(dims, order_of_value(ValueId{i}));
  }
  return layouts;
}

}  // namespace cameo
