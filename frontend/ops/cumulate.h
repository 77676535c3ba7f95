// CumSum and CumProd: the fold of all elements up to each one's place, from either end, itself included or not. An axis
// that only the data tells selects among the folds along all axes; one outside of the rank is a fault.
#pragma once
#include "frontend/ir/build.h"
#include "frontend/ops/operands.h"
#include "runtime/dtype.h"

namespace cameo::ops::cumulate {

inline bool is_known(const NodeView& n) {
  const auto axis = n.content(1);
  return axis && are_known(*axis);
}

inline void infer_type(Infer& n) {
  if (n.rank() == 0) n.fail(Code::E0302, "`x` is a scalar");
  check_scalar(n, 1);
  if (is_known(n)) NodeView::axis(n.ints(1)[0], n.rank());
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

/// A fold for each element takes the square of the length.
inline bool is_long(const Dim& length) { return !length.is_static() || length.value() > 16; }
inline Meaning in_one_pass(const MeaningView& n, int axis, FoldKind kind) {
  Build b(n);
  return b.outputs({b.graph().add(get_operator("Cumulate", "cameo"), {b.in(0)},
                                  {{"axis", int64_t{axis}},
                                   {"product", int64_t{kind == FoldKind::Prod}},
                                   {"exclusive", n.attr_int("exclusive")},
                                   {"reverse", n.attr_int("reverse")}})[0]});
}

inline Meaning meaning(const MeaningView& n, FoldKind kind, double neutral) {
  OutputExpr out{n.index(), {}};
  auto fold_along = [&](int axis) { return along(n, kind, neutral, out.index, axis); };
  if (is_known(n)) {
    const int axis = NodeView::axis(n.ints(1)[0], n.rank());
    if (is_long(n.shape()[axis])) return in_one_pass(n, axis, kind);
    out.value = fold_along(axis);
    return Compute{{out}};
  }
  Expr axis = wrap_index(scalar_operand(n, 1), Dim(n.rank()));
  std::vector<Expr> at = out.index;
  at[0] = select(logical_and(le(integer(0), axis), lt(axis, integer(n.rank()))), at[0], integer(rt::kNoIndex));
  out.value = n.load_checked(0, at);
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
