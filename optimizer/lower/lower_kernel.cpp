// See lower_kernel.h: what a kernel reads and writes, as offsets in layouts; and copies.
#include "optimizer/lower/lower_kernel.h"

#include <algorithm>

#include "frontend/ir/check.h"

namespace cameo {

uint32_t Lowering::operand(Operand o) {
  auto [it, fresh] = numbers_.try_emplace(o.value, static_cast<uint32_t>(out_.operands.size()));
  if (fresh) {
    out_.kernel.operands.push_back(g_.type(o.value).dtype);
    out_.operands.push_back(std::move(o));
  }
  return it->second;
}
Expr Lowering::lower(Expr root, Expr lanes) {
  return rewrite(root, [&](Expr e) -> Expr {
    if (e.op() != Op::Load) return e;
    ValueId v{e.operand()};
    Expr guard = guard_of(g_.type(v).shape, e.index());
    uint32_t number = operand(operand_along(g_, layouts_, e, lanes));
    if (within_halo(g_, out_.operands[number], e)) guard = boolean(true);
    const Operand& from = out_.operands[number];
    Expr offset = from.packing ? *packed_offset(*from.packing, extents(g_.type(v).shape), e.index())
                               : physical(from.layout, e.index());
    std::vector<Expr> blamed;
    if (e.checked()) blamed = blamed_axes(g_.type(v).shape, e.index());
    return read_at(number, e.type(), offset, guard, e.outside(), blamed);
  });
}
Operand operand_along(const Graph& g, const Layouts& layouts, Expr load, Expr lanes) {
  const ValueId v{load.operand()};
  Operand made = as_made(layouts, v);
  const auto ends_with_lanes = [&](const Operand& o) {
    return lanes && !has_halo(o) && !o.order.empty() && load.index()[static_cast<size_t>(o.order.back())] == lanes;
  };
  if (auto halo = layouts.haloed.find(v);
      halo != layouts.haloed.end() && (halo->second.layout == made.layout || ends_with_lanes(halo->second)))
    return halo->second;
  if (auto panels = layouts.packed.find(v); panels != layouts.packed.end()) made.packing = panels->second;
  if (!g[v].constant || !lanes || made.packing) return made;
  std::vector<int> order;
  int last = -1;
  for (size_t d = 0; d < load.index().size(); ++d) {
    if (load.index()[d] == lanes)
      last = static_cast<int>(d);
    else
      order.push_back(static_cast<int>(d));
  }
  if (last < 0) return made;
  order.push_back(last);
  made.layout = ordered(g.type(v).shape, order);
  return made;
}

namespace {
/// The index that may count from the end, of one that ops::wrap_index made.
Expr unwrapped(Expr index) {
  const bool wraps = index.op() == Op::Select && index.arg(0) == lt(index.arg(2), integer(0));
  return wraps ? index.arg(2) : index;
}
}  // namespace

std::vector<Expr> blamed_axes(const Shape& shape, std::span<const Expr> index) {
  std::vector<Expr> blamed;
  for (size_t d = 0; d < shape.size(); ++d)
    if (!is_within(index[d], shape[d].extent()).is_const(1))
      blamed.insert(blamed.end(), {unwrapped(index[d]), index[d], shape[d].extent()});
  return blamed;
}

LoweredKernel lower_relayout(const Graph& g, const Layouts& layouts, const Operand& to, const Target& target) {
  const Shape& shape = g.type(to.value).shape;
  DType t = g.type(to.value).dtype;
  std::vector<Expr> index;
  for (const Dim& d : shape) index.push_back(var(d.extent()));
  LoweredKernel l;
  Kernel& k = l.kernel;
  l.operands = {to, as_made(layouts, to.value)};
  k.operands = {t, t};
  for (int a : to.order) k.axes.push_back(index[static_cast<size_t>(a)]);
  k.stores.push_back({0, physical(to.layout, index), boolean(true),
                      read_at(1, t, physical(layouts[to.value.index], index), boolean(true), zero(t))});
  drop_unit_axes(k);
  collapse_axes(k, 0);
  choose_nest(k, target);
  return l;
}

std::vector<Expr> folds_in(std::vector<Expr> roots) {
  std::vector<Expr> folds;
  visit(roots, [&](Expr e) {
    if (e.op() == Op::Fold) folds.push_back(e);
  });
  return folds;
}

bool has_folds(const Kernel& k) {
  return std::ranges::any_of(k.stores, [](const Store& s) { return !folds_in({s.value}).empty(); });
}

}  // namespace cameo
