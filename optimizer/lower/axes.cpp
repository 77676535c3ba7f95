// The axes of a kernel. Collapsing is tried, not pattern-matched: two neighbouring axes become one variable f, with f /
// n and f % n in their places, and the change stands when simplification leaves no division behind.
#include <algorithm>

#include "optimizer/lower/lower_kernel.h"

namespace cameo {
namespace {

// ---- collapsing -----------------------------------------------------------------------------------------------------

bool divides(Expr root, Expr v) {  // a division or remainder of something that depends on `v` is left
  bool found = false;
  std::vector<Expr> roots{root};
  visit(roots, [&](Expr e) {
    if ((e.op() == Op::FloorDiv || e.op() == Op::Mod || e.op() == Op::Div || e.op() == Op::FMod) &&
        e.type() == DType::i64)
      found |= depends_on(e, v);
  });
  return found;
}

/// Two variables as one: the root with outer -> f / n, inner -> f % n, or null when divisions by n remain.
struct Collapsed {
  Expr f, quotient, rest;
  Collapsed(Expr outer, Expr inner)
      : f(var(outer.extent() * inner.extent())), quotient(floor_div(f, inner.extent())), rest(mod(f, inner.extent())) {}
};

bool collapse_pair(Kernel& k, size_t i) {
  Expr outer = k.axes[i], inner = k.axes[i + 1];
  if (!is_size(outer.extent()) || !is_size(inner.extent())) return false;
  Collapsed c(outer, inner);
  std::vector<Expr> vars{outer, inner}, values{c.quotient, c.rest};
  std::vector<Store> stores = k.stores;
  for (Store& s : stores) {
    s.offset = simplify_index(substitute(s.offset, vars, values));
    s.value = simplify_index(substitute(s.value, vars, values));
    if (divides(s.offset, c.f) || divides(s.value, c.f)) return false;
  }
  k.stores = std::move(stores);
  k.axes[i] = c.f;
  k.axes.erase(k.axes.begin() + static_cast<long>(i) + 1);
  return true;
}

}  // namespace

void collapse_axes(Kernel& k, size_t keep_last) {
  for (size_t i = k.axes.size(); i-- > 1;)
    if (i + keep_last < k.axes.size()) collapse_pair(k, i - 1);
}

Expr collapse_folds(Expr root) {
  return rewrite(root, [](Expr e) -> Expr {
    if (e.op() != Op::Fold || e.fold_kind() >= FoldKind::ArgMin) return e;
    Expr inner = e.arg(1);
    if (inner.op() != Op::Fold || inner.fold_kind() != e.fold_kind()) return e;
    Expr outer_var = e.arg(0), inner_var = inner.arg(0);
    if (!is_size(outer_var.extent()) || !is_size(inner_var.extent())) return e;
    if (inner_var.extent().is_const(1)) {
      std::vector<Expr> v{inner_var}, z{integer(0)};
      return fold(e.fold_kind(), outer_var, simplify_index(substitute(inner.arg(1), v, z)));
    }
    for (const auto& [outer_of, inner_of] : {std::pair(outer_var, inner_var), std::pair(inner_var, outer_var)}) {
      Collapsed c(outer_of, inner_of);
      std::vector<Expr> vars{outer_of, inner_of}, values{c.quotient, c.rest};
      Expr body = simplify_index(substitute(inner.arg(1), vars, values));
      if (!divides(body, c.f)) return fold(e.fold_kind(), c.f, body);
    }
    return e;
  });
}

Expr split_axis(Kernel& k, size_t i, Expr block) {
  Expr v = k.axes[i], q = var((Dim(v.extent()) / Dim(block)).extent()), r = var(block);
  std::vector<Expr> from{v}, to{q * block + r};
  for (Store& s : k.stores) {
    s.offset = simplify_index(substitute(s.offset, from, to));
    s.value = simplify_index(substitute(s.value, from, to));
  }
  k.axes[i] = q;
  k.axes.insert(k.axes.begin() + static_cast<long>(i) + 1, r);
  return q;
}

namespace {
/// A number or a size by which `v` itself is divided or its remainder taken, and its extent can be; or 0.
Expr divisor_of(const Kernel& k, Expr v) {
  Expr d = integer(0);
  std::vector<Expr> roots;
  for (const Store& s : k.stores) roots.push_back(s.value);
  visit(roots, [&](Expr e) {
    if ((e.op() == Op::FloorDiv || e.op() == Op::Mod) && e.arg(0) == v && is_size(e.arg(1)) &&
        range_of(e.arg(1)).low > 0 && simplify_index(mod(v.extent(), e.arg(1))).is_const(0))
      d = e.arg(1);
  });
  return d;
}
}  // namespace

void split_axes(Kernel& k) {
  for (size_t i = 0; i < k.axes.size(); ++i) {
    Expr v = k.axes[i];
    if (!is_size(v.extent())) continue;
    const Expr d = divisor_of(k, v);
    if (range_of(d).high <= 1 || d == v.extent()) continue;
    split_axis(k, i, d);
    --i;  // its quotient may be divided again
  }
}

int64_t points_of(std::span<const Expr> axes) {
  int64_t points = 1;
  for (Expr a : axes) points *= Dim(a.extent()).estimate();
  return points;
}
void drop_unit_axes(Kernel& k) {
  std::vector<Expr> gone, zeros;
  std::erase_if(k.axes, [&](Expr a) {
    if (!a.extent().is_const(1)) return false;
    gone.push_back(a);
    zeros.push_back(integer(0));
    return true;
  });
  for (Store& s : k.stores) {
    s.offset = simplify_index(substitute(s.offset, gone, zeros));
    s.value = simplify_index(substitute(s.value, gone, zeros));
  }
}

// ---- lanes ----------------------------------------------------------------------------------------------------------

void Reads::count(Expr offset, Expr v) {
  if (!depends_on(offset, v)) return;
  Affine a = affine(offset);
  bool unit = a.stride_of(v).is_static(1);
  for (const Affine::Term& t : a.terms) unit &= t.term == v || !depends_on(t.term, v);
  ++(unit ? contiguous : strided);
}
Reads reads_along(std::span<const Expr> roots, Expr v) {
  Reads r;
  visit(roots, [&](Expr e) {
    if (e.op() == Op::Read) r.count(e.offset(), v);
  });
  return r;
}

bool is_affine_in(const Affine& offset, std::span<const Expr> variables) {
  const auto is_variable = [&](Expr f) { return std::ranges::find(variables, f) != variables.end(); };
  return std::ranges::all_of(offset.terms, [&](const Affine::Term& t) {
    const std::vector<Expr> factors = factors_of(t.term);
    return std::ranges::count_if(factors, is_variable) <= 1 &&
           std::ranges::all_of(factors, [&](Expr f) { return is_variable(f) || is_size(f); });
  });
}

std::vector<Expr> axes_in_memory(const OutputExpr& out, const Layout& layout) {
  std::vector<Expr> axes;
  for (int a : layout.order) axes.push_back(out.index[a]);
  return axes;
}

Expr last_moving(const std::vector<Expr>& axes) {
  for (size_t i = axes.size(); i-- > 0;)
    if (!axes[i].extent().is_const(1)) return axes[i];
  return {};
}

}  // namespace cameo
