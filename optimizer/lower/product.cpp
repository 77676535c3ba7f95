// See product.h.
#include "optimizer/lower/product.h"

#include <algorithm>
#include <functional>
#include <map>

#include "runtime/kernels/contract_shape.h"

namespace cameo {
namespace {

bool holds(std::span<const Expr> variables, Expr v) { return std::ranges::find(variables, v) != variables.end(); }

/// Whether all variables of an expression are among these.
bool depends_only_on(Expr e, std::span<const Expr> variables) {
  bool only = true;
  visit(std::vector<Expr>{e}, [&](Expr x) { only &= x.op() != Op::Var || holds(variables, x); });
  return only;
}

/// The index is a variable of the sum, and beside it only what depends on shared axes.
bool is_summed(Expr index, const ProductMatch& m, std::span<const Expr> shared) {
  const Affine at = affine(index);
  const auto is_fold = [&](const Affine::Term& t) { return t.coefficient == 1 && holds(m.folds, t.term); };
  return at.constant == 0 && std::ranges::count_if(at.terms, is_fold) == 1 &&
         std::ranges::all_of(at.terms, [&](const auto& t) { return is_fold(t) || depends_only_on(t.term, shared); });
}

bool stands_inside(const Layout& l, int axis, int other) {
  return std::ranges::find(l.order, axis) > std::ranges::find(l.order, other);
}

/// The axis of `a` that is best summed contiguously: the one that stands closest already.
int summed_axis(const ProductMatch& m, const Layout& made, std::span<const Expr> shared) {
  int best = -1;
  for (size_t d = 0; d < m.a.index().size(); ++d)
    if (is_summed(m.a.index()[d], m, shared) && (best < 0 || stands_inside(made, static_cast<int>(d), best)))
      best = static_cast<int>(d);
  return best;
}

/// Whether an element outside of `a` adds nothing to the sum.
bool stands_for_zero(Expr outside, const ProductMatch& m) {
  if (!m.is_integer()) return outside.float_value() == 0;
  return m.zero.is_const() && outside.int_value() == m.zero.int_value();
}

void turn_folds(ProductMatch& m, const Operand& a) {
  for (Expr& f : m.folds) {
    if (range_of(affine(physical(a.layout, m.a.index())).stride_of(f).extent()).low >= 0) continue;
    Expr back = var(f.extent());
    std::vector<Expr> from{f}, to{f.extent() - integer(1) - back};
    m.a = substitute(m.a, from, to);
    m.b = substitute(m.b, from, to);
    f = back;
  }
}

Expr linear(std::span<const Expr> vars) {
  Expr at = integer(0);
  for (Expr v : vars) at = at * v.extent() + v;
  return at;
}

/// `zero`: m's, read by the kernel.
Expr sum_of(const ProductMatch& m, Expr a_offset, Expr b_offset, Expr zero_of_a) {
  const auto element = [&](uint32_t operand, DType t, Expr offset) {
    return cast(read_at(operand, t, offset, boolean(true), zero(t)), m.sum.type());
  };
  Expr a = element(Product::kA, m.a.type(), a_offset);
  if (zero_of_a) a = a - zero_of_a;
  Expr sum = a * element(Product::kB, m.b.type(), b_offset);
  for (size_t i = m.folds.size(); i-- > 0;) sum = fold(FoldKind::Sum, m.folds[i], sum);
  return sum;
}

}  // namespace

// ---- operands -------------------------------------------------------------------------------------------------------

std::optional<Operand> wish_for_a(const Graph& g, const Layouts& layouts, const ProductMatch& m,
                                  std::span<const Expr> shared) {
  const int last = summed_axis(m, layouts[m.a.operand()], shared);
  return last < 0 ? std::nullopt : wish_for_axis(g, layouts, m, last);
}

std::optional<Operand> wish_for_axis(const Graph& g, const Layouts& layouts, const ProductMatch& m, int last) {
  const ValueId v{m.a.operand()};
  const Layout& made = layouts[v.index];
  std::optional<Operand> a = halo_of(g, m.a, made);
  if (a && a->border_value && !stands_for_zero(a->border_value, m)) return std::nullopt;
  if (!a || (!has_halo(*a) && made.pitch[static_cast<size_t>(last)].is_static(1))) return a;
  std::erase(a->order, last);
  a->order.push_back(last);
  a->layout = with_halo(g.type(v).shape, a->order, a->before, a->after);
  return a;
}

void order_folds(ProductMatch& m, const Operand& a) {
  turn_folds(m, a);
  const Affine at = affine(physical(a.layout, m.a.index()));
  std::ranges::stable_sort(m.folds, std::greater(), [&](Expr f) { return at.stride_of(f).upper(); });
}

std::optional<Packing> packing_of(const Graph& g, const Layouts& layouts, const ProductMatch& m,
                                  std::span<const Expr> groups, Expr column) {
  const ValueId b{m.b.operand()};
  const auto is_known = [](Expr v) { return v.extent().is_const(); };
  if (!g[b].constant || !is_known(column) || !std::ranges::all_of(m.folds, is_known)) return std::nullopt;
  const Affine at = affine(physical(layouts[b.index], m.b.index()));
  const auto axis = [&](Expr v) { return Packing::Axis{v.extent().int_value(), at.stride_of(v).value()}; };
  Packing p{{}, axis(column), {}, at.constant};
  for (Expr v : groups) p.groups.push_back(axis(v));
  for (Expr f : m.folds) p.k.push_back(axis(f));
  for (const Affine::Term& t : at.terms)
    if (t.term != column && !holds(m.folds, t.term) && !holds(groups, t.term)) return std::nullopt;
  return p;
}

// ---- kernel ---------------------------------------------------------------------------------------------------------

LoweredKernel lower_product(const Graph& g, const Layouts& layouts, ValueId output, const OutputPart& part,
                            const ProductMatch& m, const Operand& a, const Operand& b, std::vector<Expr> axes,
                            std::span<const Expr> groups, Walks walks) {
  LoweredKernel l;
  Kernel& k = l.kernel;
  const auto add = [&](Operand o) {
    k.operands.push_back(g.type(o.value).dtype);
    l.operands.push_back(std::move(o));
    return static_cast<uint32_t>(l.operands.size() - 1);
  };
  const Layout& y_layout = layouts[output.index];
  add(as_made(layouts, output));
  add(a);
  add(b);
  const Expr rows = linear(groups) * axes.back().extent() + axes.back();
  const Expr b_offset =
      b.packing ? rows * integer(b.packing->k_total()) + linear(m.folds) : physical(b.layout, m.b.index());
  std::map<ValueId, uint32_t> numbers;
  const auto read = [&](Expr e) -> Expr {
    if (e.op() != Op::Load) return e;
    const ValueId v{e.operand()};
    auto [it, fresh] = numbers.try_emplace(v, 0u);
    if (fresh) it->second = add(as_made(layouts, v));
    return read_at(it->second, e.type(), physical(layouts[v.index], e.index()), guard_of(g.type(v).shape, e.index()),
                   e.outside(), e.checked() ? blamed_axes(g.type(v).shape, e.index()) : std::vector<Expr>());
  };
  const Expr zero_of_a = m.zero && !m.zero.is_const(0) ? rewrite(m.zero, read) : Expr();
  const Expr sum = sum_of(m, physical(a.layout, m.a.index()), b_offset, zero_of_a);
  const Expr acc = make(Op::Acc, sum.type(), {});
  Expr value = rewrite(part.out.value, [&](Expr e) { return e == m.sum ? acc : e; });
  value = rewrite(value, [&](Expr e) { return e == acc ? sum : read(e); });
  k.axes = std::move(axes);
  const bool together = walks == Walks::Together;
  k.stores.push_back(
      {Product::kOutput, physical(y_layout, part.at), boolean(true), together ? collapse_folds(value) : value});
  drop_unit_axes(k);
  if (together) collapse_axes(k, 1);
  return l;
}

bool take_sum(Kernel& k, Expr term) {
  for (Expr f : folds_in({k.stores[0].value})) k.accumulated = f;  // the outermost one comes last
  const Product before(k);
  // rows are an axis that b does not have; what both operands have is a batch
  const Affine b = affine(before.b_offset);
  const auto column = k.axes.end() - 1;
  const auto row =
      std::ranges::find(std::reverse_iterator(column), k.axes.rend(), 0, [&](Expr axis) { return b.stride_of(axis); });
  if (row != k.axes.rend()) std::rotate(row.base() - 1, row.base(), column);
  std::vector<Expr> variables = k.axes;
  variables.insert(variables.end(), before.segments.begin(), before.segments.end());
  variables.push_back(before.k);
  if (!is_affine_in(affine(before.b_offset), variables)) return false;
  if (term) variables.push_back(term);
  if (!is_affine_in(affine(before.a_offset), variables) || !affine(before.a_offset).stride_of(before.k).is_static(1))
    return false;
  const Expr sum = k.accumulated;
  k.stores[0].value = rewrite(k.stores[0].value, [&](Expr e) { return e == sum ? make(Op::Acc, sum.type(), {}) : e; });
  return true;
}

void take_most_rows(Kernel& k) {
  const Product p(k);
  if (!p.row || p.row.extent().is_const()) return;
  const Affine b = affine(p.b_offset);
  const auto rows_along = [&](Expr axis) { return b.stride_of(axis) == 0 ? Dim(axis.extent()).estimate() : 0; };
  const auto column = k.axes.end() - 1;
  auto most = column - 1;
  for (auto axis = k.axes.begin(); axis != column; ++axis)
    if (rows_along(*axis) > rows_along(*most)) most = axis;
  std::rotate(most, most + 1, column);
}

void put_panels(Kernel& k) {
  const Product p(k);
  const int64_t terms = p.terms(), columns = p.n();
  const Affine rows = affine(p.b_offset);
  std::vector<Expr> folds = p.segments;
  folds.push_back(p.k);
  const PanelForm form = p.zero ? PanelForm::Quads : p.in_pairs ? PanelForm::Pairs : PanelForm::Terms;
  const int64_t run = p.k.extent().int_value(), segments = terms / run;
  const int64_t matrix = elements_of_panels(form, columns, terms, run);
  Expr at = form == PanelForm::Quads   ? quad_offset(p.column, linear(p.segments), p.k, segments, run)
            : form == PanelForm::Pairs ? pair_offset(p.column, linear(p.segments), p.k, segments, run)
                                       : panel_offset(p.column, linear(folds), terms);
  for (Expr axis : p.outer) at = at + axis * integer(rows.stride_of(axis).value() / (columns * terms) * matrix);
  k.accumulated = rewrite(k.accumulated, [&](Expr e) {
    const bool is_b = e.op() == Op::Read && e.operand() == Product::kB;
    return is_b ? read_at(Product::kB, e.type(), at, boolean(true), zero(e.type())) : e;
  });
}

Product::Product(const Kernel& kernel) {
  FoldNest sum = unfold(kernel.accumulated);
  k = sum.variables.back();
  sum.variables.pop_back();
  segments = std::move(sum.variables);
  Expr a, b;
  visit(std::vector<Expr>{sum.body}, [&](Expr e) {
    if (e.op() == Op::Read && e.operand() == kA) a = e;
    if (e.op() == Op::Read && e.operand() == kB) b = e;
  });
  a_offset = a.offset();
  b_offset = b.offset();
  in_pairs = kernel.choice.get("packed", 0) == kInPanelsOfPairs;
  if (sum.body.type() == DType::i32) {
    zero = integer(0, DType::i32);
    for (int i : {0, 1})
      if (sum.body.arg(i).op() == Op::Sub) zero = sum.body.arg(i).arg(1);
  }
  outer = kernel.axes;
  column = outer.back();
  outer = outer.first(outer.size() - 1);
  if (outer.empty() || depends_on(b_offset, outer.back())) return;
  row = outer.back();
  outer = outer.first(outer.size() - 1);
}

}  // namespace cameo
