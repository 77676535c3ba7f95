// See lower_kernel.h. Collapsing is tried, not pattern-matched: two neighbouring axes become one variable f, with f / n and
// f % n in their places, and the change stands when simplification leaves no division behind.
#include "optimizer/plan/lower_kernel.h"

#include <algorithm>
#include <map>

#include "frontend/check.h"

namespace cameo {
namespace {

Expr row_major(const Shape& shape, std::span<const Expr> index) {
  Expr offset = integer(0);
  for (size_t d = 0; d < shape.size(); ++d) offset = offset * shape[d].extent() + index[d];
  return simplify_index(offset);
}

Expr guard_of(const Shape& shape, std::span<const Expr> index) {
  Expr guard = boolean(true);
  for (size_t d = 0; d < shape.size(); ++d) {
    guard = logical_and(guard, simplify_index(le(integer(0), index[d])));
    guard = logical_and(guard, simplify_index(lt(index[d], shape[d].extent())));
  }
  return guard;
}

class Lowering {
 public:
  Lowering(const Graph& g, LoweredKernel& out) : g_(g), out_(out) {}

  uint32_t operand(ValueId v) {
    auto [it, fresh] = numbers_.try_emplace(v, static_cast<uint32_t>(out_.operands.size()));
    if (fresh) {
      out_.operands.push_back(v);
      out_.kernel.operands.push_back(g_.type(v).dtype);
    }
    return it->second;
  }
  Expr lower(Expr root) {
    return rewrite(root, [&](Expr e) -> Expr {
      if (e.op() != Op::Load) return e;
      ValueId v{e.operand()};
      const Shape& shape = g_.type(v).shape;
      Expr guard = guard_of(shape, e.index());
      bool checked = e.checked() && !guard.is_const(1);
      return load_lowered(operand(v), e.type(), row_major(shape, e.index()), guard, e.outside(), checked);
    });
  }

 private:
  static Expr load_lowered(uint32_t operand, DType t, Expr offset, Expr guard, Expr outside, bool checked) {
    return make(Op::Load, t, {offset, guard, outside}, static_cast<uint64_t>(operand) << 1 | checked);
  }
  const Graph& g_;
  LoweredKernel& out_;
  std::map<ValueId, uint32_t> numbers_;
};

// ---- collapsing -----------------------------------------------------------------------------------------------------

bool divides(Expr root, Expr v) {  // a division or remainder of something that depends on `v` is left
  bool found = false;
  std::vector<Expr> roots{root};
  visit(roots, [&](Expr e) {
    if ((e.op() == Op::FloorDiv || e.op() == Op::Mod || e.op() == Op::Div || e.op() == Op::FMod) && e.type() == DType::i64)
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

bool collapse_axes(Kernel& k, size_t i) {
  Expr outer = k.axes[i], inner = k.axes[i + 1];
  if (!outer.extent().is_const() || !inner.extent().is_const()) return false;
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

Expr collapse_folds(Expr root) {
  return rewrite(root, [](Expr e) -> Expr {
    if (e.op() != Op::Fold || e.fold_kind() >= FoldKind::ArgMin) return e;
    Expr inner = e.arg(1);
    if (inner.op() != Op::Fold || inner.fold_kind() != e.fold_kind()) return e;
    Expr outer_var = e.arg(0), inner_var = inner.arg(0);
    if (!outer_var.extent().is_const() || !inner_var.extent().is_const()) return e;
    if (inner_var.extent().is_const(1)) {
      std::vector<Expr> v{inner_var}, z{integer(0)};
      return fold(e.fold_kind(), outer_var, simplify_index(substitute(inner.arg(1), v, z)));
    }
    Collapsed c(outer_var, inner_var);
    std::vector<Expr> vars{outer_var, inner_var}, values{c.quotient, c.rest};
    Expr body = simplify_index(substitute(inner.arg(1), vars, values));
    return divides(body, c.f) ? e : fold(e.fold_kind(), c.f, body);
  });
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

/// Counts what the lanes of `v` would read: `strided` loads move by more than one element a lane.
struct Reads {
  int contiguous = 0, strided = 0;
};
Reads reads_along(std::span<const Expr> roots, Expr v) {
  Reads r;
  visit(roots, [&](Expr e) {
    if (e.op() != Op::Load || !depends_on(e.arg(0), v)) return;
    Affine a = affine(e.arg(0));
    bool unit = a.coefficient_of(v) == 1;
    for (const Affine::Term& t : a.terms) unit &= t.term == v || !depends_on(t.term, v);
    ++(unit ? r.contiguous : r.strided);
  });
  return r;
}

/// The lanes run along the last axis unless that gathers while the folds read memory in order.
int choose_lanes(const Kernel& k) {
  if (k.axes.empty()) return 1;
  Expr last = k.axes.back();
  if (!last.extent().is_const() || last.extent().int_value() < 4) return 1;
  std::vector<Expr> values;
  for (const Store& s : k.stores) values.push_back(s.value);
  Reads along = reads_along(values, last);
  Reads folded;
  visit(values, [&](Expr e) {
    if (e.op() != Op::Fold || !e.arg(0).extent().is_const() || e.arg(0).extent().int_value() < 8) return;
    std::vector<Expr> body{e.arg(1)};
    Reads r = reads_along(body, e.arg(0));
    folded.contiguous += r.contiguous;
    folded.strided += r.strided;
  });
  if (along.strided > 0 && folded.contiguous > folded.strided && along.contiguous <= along.strided) return 1;
  return last.extent().int_value() >= 16 ? 16 : last.extent().int_value() >= 8 ? 8 : 4;
}

}  // namespace

LoweredKernel lower_scatter(const Graph& g, const Node& n, const Scatter& s) {
  LoweredKernel out;
  Lowering lowering(g, out);
  Kernel& k = out.kernel;
  k.form = Form::Serial;
  k.axes = s.over;
  uint32_t y = lowering.operand(n.outputs[0]);
  const Shape& shape = g.type(n.outputs[0]).shape;
  auto bind = [&](Expr e) {
    return lowering.lower(rewrite(e, [&](Expr x) -> Expr {
      return x.op() == Op::Load ? load(n.inputs[x.operand()].index, x.type(), x.index(), x.outside(), x.checked()) : x;
    }));
  };
  std::vector<Expr> to;
  for (Expr e : s.to) to.push_back(simplify_index(bind(e)));
  Expr offset = row_major(shape, to), guard = guard_of(shape, to), update = bind(s.update);
  Expr old = make(Op::Load, update.type(), {offset, guard, zero(update.type())}, uint64_t{y} << 1);
  constexpr Op kCombine[] = {Op::Add, Op::Add, Op::Mul, Op::Min, Op::Max};
  Expr value = s.combine == Scatter::Assign ? update : apply(kCombine[s.combine], {old, update});
  k.stores.push_back({y, offset, guard, value});
  return out;
}

LoweredKernel lower_kernel(const Graph& g, const Cluster& c, std::vector<OutputExpr> outputs) {
  LoweredKernel out;
  Lowering lowering(g, out);
  Kernel& k = out.kernel;
  k.axes = outputs[0].index;
  for (ValueId v : c.outputs) lowering.operand(v);
  for (size_t i = 0; i < outputs.size(); ++i) {
    CAMEO_CHECK(outputs[i].index.size() == k.axes.size(), "outputs of one kernel with one index space");
    Expr value = simplify_index(substitute(outputs[i].value, outputs[i].index, k.axes));
    k.stores.push_back({static_cast<uint32_t>(i), row_major(g.type(c.outputs[i]).shape, k.axes), boolean(true),
                        collapse_folds(lowering.lower(value))});
  }
  drop_unit_axes(k);
  for (size_t i = k.axes.size(); i-- > 1;) collapse_axes(k, i - 1);
  k.lanes = choose_lanes(k);
  return out;
}

}  // namespace cameo
