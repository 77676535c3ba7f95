// lower_transpose: on a GPU a nest that writes along one axis and reads along another one goes through shared memory in
// tiles, so that the threads of a warp are neighbours in both. One Load does; others stay as they are.
#include <algorithm>

#include "optimizer/plan/lower_kernel.h"

namespace cameo {
namespace {

/// An axis of the kernel by which `offset` moves by one element, and by a constant distance along every other axis.
Expr axis_of_neighbours(const Kernel& k, Expr offset) {
  const Affine a = affine(offset);
  const auto is_axis = [&](const Affine::Term& t) { return std::ranges::find(k.axes, t.term) != k.axes.end(); };
  if (!std::ranges::all_of(a.terms, is_axis)) return {};
  const auto unit = std::ranges::find_if(k.axes, [&](Expr v) { return a.coefficient_of(v) == 1; });
  return unit == k.axes.end() ? Expr() : *unit;
}

}  // namespace

bool lower_transpose(Kernel& k) {
  constexpr int64_t kFewest = 8;  // rows and columns
  if (k.stores.size() != 1 || !k.stores[0].guard.is_const(1) || has_folds(k)) return false;
  Store& s = k.stores[0];
  const Expr column = axis_of_neighbours(k, s.offset);
  if (!column || column.extent().int_value() < kFewest) return false;
  Expr load, row;
  std::vector<Expr> roots{s.value};
  visit(roots, [&](Expr e) {
    if (load || e.op() != Op::Load || !e.arg(1).is_const(1) || !depends_on(e, column)) return;
    row = axis_of_neighbours(k, e.arg(0));
    if (row && row != column && row.extent().int_value() >= kFewest) load = e;
  });
  if (!load) return false;
  for (Expr last : {row, column}) {
    std::erase(k.axes, last);
    k.axes.push_back(last);
  }
  k.form = Form::Transpose;
  k.window.body = load;
  s.value = rewrite(s.value, [&](Expr e) { return e == load ? make(Op::Acc, load.type(), {}) : e; });
  return true;
}

}  // namespace cameo
