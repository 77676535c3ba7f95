// lower_contract: the sum of products becomes two affine offsets. `a` is asked for in a layout whose innermost axis is summed,
// with a halo of zeros as wide as the window reaches out, so that no guard is left; a constant `b` is packed in 16-wide panels,
// its k running over the folds in the order in which they walk `a`.
#include <algorithm>
#include <map>

#include "frontend/check.h"
#include "optimizer/plan/lower_kernel.h"

namespace cameo {
namespace {

constexpr int64_t kPanel = 16;

bool is_fold(const ContractMatch& m, Expr v) { return std::ranges::find(m.folds, v) != m.folds.end(); }

/// The axis of `a` whose index is a fold variable and nothing else: the one that is best summed contiguously.
int summed_axis(const ContractMatch& m, const Layout& made) {
  int best = -1;
  for (size_t d = 0; d < m.a.index().size(); ++d)
    if (is_fold(m, m.a.index()[d]) && (best < 0 || made.pitch[d] < made.pitch[best])) best = static_cast<int>(d);
  return best;
}

/// How `a` must stand: as it was made if that will do, else with the summed axis last and a halo.
std::optional<Operand> layout_of_a(const Graph& g, const Layouts& layouts, const ContractMatch& m) {
  ValueId v{m.a.operand()};
  const Shape& shape = g.type(v).shape;
  const Layout& made = layouts[v.index];
  int last = summed_axis(m, made);
  if (last < 0) return std::nullopt;
  Operand a{v, made, order_of(made), std::vector<int64_t>(shape.size()), std::vector<int64_t>(shape.size())};
  bool halo = false;
  for (size_t d = 0; d < shape.size(); ++d) {
    Interval r = range_of(m.a.index()[d]);
    if (!r.known()) return std::nullopt;
    a.before[d] = std::max<int64_t>(0, -r.low);
    a.after[d] = std::max<int64_t>(0, r.high - (shape[d].value() - 1));
    halo |= a.before[d] || a.after[d];
  }
  Expr outside = m.a.outside();
  if (halo && !(outside.is_const() && outside.float_value() == 0)) return std::nullopt;
  if (!halo && made.pitch[last] == 1) return a;
  std::erase(a.order, last);
  a.order.push_back(last);
  a.layout = with_halo(extents(shape), a.order, a.before, a.after);
  return a;
}

/// The folds from the one with the longest stride in `a` to the one that is contiguous.
bool sort_folds(ContractMatch& m, Expr a_offset) {
  Affine a = affine(a_offset);
  std::stable_sort(m.folds.begin(), m.folds.end(), [&](Expr x, Expr y) { return a.coefficient_of(x) > a.coefficient_of(y); });
  return true;
}

Expr linear(std::span<const Expr> vars) {
  Expr at = integer(0);
  for (Expr v : vars) at = at * v.extent() + v;
  return at;
}

bool affine_in(Expr offset, const std::vector<Expr>& vars) {
  for (const Affine::Term& t : affine(offset).terms)
    if (std::ranges::find(vars, t.term) == vars.end()) return false;
  return true;
}

}  // namespace

std::optional<LoweredKernel> lower_contract(const Graph& g, const Layouts& layouts, ValueId output, const OutputExpr& out, const Target& target) {
  auto match = match_contract(g, g.type(output), out);
  if (!match) return std::nullopt;
  ContractMatch& m = *match;
  Expr column = out.index[m.n_axis];
  int64_t k_total = 1;
  for (Expr f : m.folds) {
    if (!f.extent().is_const()) return std::nullopt;
    k_total *= f.extent().int_value();
  }
  int64_t n = column.extent().int_value();
  if (n < 8 || k_total < 4) return std::nullopt;  // lanes or chains of fma would run empty
  auto a = layout_of_a(g, layouts, m);
  if (!a || g.type(ValueId{m.a.operand()}).dtype != DType::f32 || g.type(ValueId{m.b.operand()}).dtype != DType::f32) return std::nullopt;
  Expr a_offset = physical(a->layout, m.a.index());
  sort_folds(m, a_offset);

  // b: packed panels if it is a constant whose axes are the column and the folds, else as it stands
  ValueId b{m.b.operand()};
  const Shape& b_shape = g.type(b).shape;
  if (!guard_of(b_shape, m.b.index()).is_const(1)) return std::nullopt;
  bool packed = static_cast<bool>(g[b].constant);
  for (size_t d = 0; d < b_shape.size(); ++d) {
    Expr i = m.b.index()[d];
    packed &= i == column || is_fold(m, i) || b_shape[d].is_static(1);
  }
  Operand b_operand{b, layouts[b.index], {}, {}, {}};
  Expr b_offset = physical(b_operand.layout, m.b.index());
  if (packed) {
    b_operand.panel_columns = n;
    b_operand.panel_k = k_total;
    b_operand.layout.pitch.assign(b_shape.size(), 0);
    Affine position = affine(column * integer(k_total) + linear(m.folds));
    for (size_t d = 0; d < b_shape.size(); ++d)
      if (Expr i = m.b.index()[d]; i.op() == Op::Var) b_operand.layout.pitch[d] = position.coefficient_of(i);
    b_offset = from_affine(position);
  }

  LoweredKernel l;
  Kernel& k = l.kernel;
  k.form = Form::Contract;
  std::map<ValueId, uint32_t> numbers;
  auto operand = [&](Operand o) {
    l.operands.push_back(std::move(o));
    k.operands.push_back(g.type(l.operands.back().value).dtype);
    return static_cast<uint32_t>(l.operands.size() - 1);
  };
  const Layout& y_layout = layouts[output.index];
  uint32_t y = operand({output, y_layout, {}, {}, {}});
  uint32_t a_number = operand(*a), b_number = operand(b_operand);
  Expr yes = boolean(true), none = zero(DType::f32);
  Expr sum = load_lowered(a_number, DType::f32, a_offset, yes, none) * load_lowered(b_number, DType::f32, b_offset, yes, none);
  for (size_t i = m.folds.size(); i-- > 0;) sum = fold(FoldKind::Sum, m.folds[i], sum);
  Expr value = rewrite(out.value, [&](Expr e) -> Expr {
    if (e == m.sum) return sum;
    if (e.op() != Op::Load || e == m.a || e == m.b) return e;
    ValueId v{e.operand()};
    auto [it, fresh] = numbers.try_emplace(v, 0u);
    if (fresh) it->second = operand({v, layouts[v.index], {}, {}, {}});
    return load_lowered(it->second, e.type(), physical(layouts[v.index], e.index()), guard_of(g.type(v).shape, e.index()), e.outside());
  });

  // axes in memory order with the column last, whatever the output's layout
  for (int axis : order_of(y_layout))
    if (axis != m.n_axis) k.axes.push_back(out.index[axis]);
  k.axes.push_back(column);
  k.stores.push_back({y, physical(y_layout, out.index), yes, collapse_folds(value)});
  drop_unit_axes(k);
  collapse_axes(k, 1);

  // read the sum off what collapsing left
  Expr outer;
  std::vector<Expr> roots{k.stores[0].value};
  visit(roots, [&](Expr e) { if (e.op() == Op::Fold) outer = e; });
  Expr body = outer;
  for (; body.op() == Op::Fold; body = body.arg(1)) k.sum.segments.push_back(body.arg(0));
  k.sum.k = k.sum.segments.back();
  k.sum.segments.pop_back();
  bool first_is_a = body.arg(0).operand() == a_number;
  k.sum.a = a_number;
  k.sum.b = b_number;
  k.sum.a_offset = body.arg(first_is_a ? 0 : 1).arg(0);
  k.sum.b_offset = body.arg(first_is_a ? 1 : 0).arg(0);
  k.sum.packed = packed;
  // rows are an axis that b does not have; what both operands have is a batch
  Affine b_affine = affine(k.sum.b_offset);
  for (size_t i = k.axes.size() - 1; i-- > 0 && !k.sum.has_row;) {
    if (b_affine.coefficient_of(k.axes[i]) != 0) continue;
    std::rotate(k.axes.begin() + static_cast<long>(i), k.axes.begin() + static_cast<long>(i) + 1, k.axes.end() - 1);
    k.sum.has_row = true;
  }
  k.sum.rows_per_tile = target.vector_registers >= 32 ? 6 : 4;
  k.sum.vectors_per_tile = target.vector_bytes >= 64 ? 4 : 1;
  if (!packed && !k.sum.segments.empty()) return std::nullopt;
  std::vector<Expr> vars = k.axes;
  vars.insert(vars.end(), k.sum.segments.begin(), k.sum.segments.end());
  vars.push_back(k.sum.k);
  if (!affine_in(k.sum.a_offset, vars) || !affine_in(k.sum.b_offset, vars) || affine(k.sum.a_offset).coefficient_of(k.sum.k) != 1) return std::nullopt;
  for (Store& s : k.stores) s.value = rewrite(s.value, [&](Expr e) { return e == outer ? make(Op::Acc, DType::f32, {}) : e; });
  k.lanes = static_cast<int>(kPanel);
  k.scratch_bytes = packed ? 0 : k_total * kPanel * k.sum.vectors_per_tile * 4;
  return l;
}

}  // namespace cameo
