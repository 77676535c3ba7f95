// CumSum and CumProd: the fold of all elements up to each one's place, from either end, itself included or not.
#pragma once
#include "frontend/ops/operands.h"

namespace cameo::ops::cumulate {

inline int axis_of(const NodeView& n) {
  std::vector<int64_t> axis = n.ints(1);
  if (axis.size() != 1) n.fail(Code::E0302, "`axis` has " + std::to_string(axis.size()) + " elements");
  return NodeView::axis(axis[0], n.rank());
}
inline void infer_type(Infer& n) {
  axis_of(n);
  n.output(0, n.type(0));
}
inline Meaning meaning(const MeaningView& n, FoldKind kind, double neutral) {
  int axis = axis_of(n);
  OutputExpr out{n.index(), {}};
  DType t = accumulator(n.dtype());
  std::vector<Expr> at = out.index;
  Expr here = out.index[axis], r = var(n.shape()[axis].extent());
  at[axis] = r;
  Expr first = n.attr_int("reverse") ? here : r, second = n.attr_int("reverse") ? r : here;
  Expr counts = n.attr_int("exclusive") ? lt(first, second) : le(first, second);
  out.value = cast(fold(kind, r, select(counts, cast(n.load(0, at), t), constant(t, neutral))), n.dtype());
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
