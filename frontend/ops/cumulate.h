// CumSum and CumProd: the fold of all elements up to each one's place, from either end, itself included or not. An axis
// that only the data tells selects among the folds along all axes.
#pragma once
#include "frontend/ops/operands.h"

namespace cameo::ops::cumulate {

inline void infer_type(Infer& n) {
  if (n.rank() == 0) n.fail(Code::E0302, "`x` is a scalar");
  check_scalar(n, 1);
  if (n.content(1)) NodeView::axis(n.ints(1)[0], n.rank());
  n.output(0, n.type(0));
}

inline Expr along(const MeaningView& n, FoldKind kind, double neutral, std::span<const Expr> index, int axis) {
  DType t = accumulator(n.dtype());
  std::vector<Expr> at(index.begin(), index.end());
  Expr here = index[axis], r = var(n.shape()[axis].extent());
  at[axis] = r;
  Expr first = n.attr_int("reverse") ? here : r, second = n.attr_int("reverse") ? r : here;
  Expr counts = n.attr_int("exclusive") ? lt(first, second) : le(first, second);
  return cast(fold(kind, r, select(counts, cast(n.load(0, at), t), constant(t, neutral))), n.dtype());
}

inline Meaning meaning(const MeaningView& n, FoldKind kind, double neutral) {
  OutputExpr out{n.index(), {}};
  auto fold_along = [&](int axis) { return along(n, kind, neutral, out.index, axis); };
  if (n.content(1)) {
    out.value = fold_along(NodeView::axis(n.ints(1)[0], n.rank()));
    return Compute{{out}};
  }
  Expr axis = wrap_index(scalar_operand(n, 1), Dim(n.rank()));
  out.value = zero(n.dtype());
  for (int d = 0; d < n.rank(); ++d) out.value = select(eq(axis, integer(d)), fold_along(d), out.value);
  return Compute{{out}};
}

inline Operator declare(std::string_view name, std::vector<int> since, Meaning (*meaning)(const MeaningView&)) {
  return {.name = name,
          .since = std::move(since),
          .inputs = {{"x", kNumbers}, {"axis", kIndices}},
          .outputs = {{"y"}},
          .attributes = {{"exclusive", 0}, {"reverse", 0}},
          .infer = infer_type,
          .meaning = meaning};
}

}  // namespace cameo::ops::cumulate
