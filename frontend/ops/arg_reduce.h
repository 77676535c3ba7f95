// ArgMax and ArgMin differ only in the fold.
#pragma once
#include "frontend/ops/reduce.h"

namespace cameo::ops::arg_reduce {

inline std::vector<Expr> folded_axis(const NodeView& n) {
  std::vector<Expr> folded(n.rank(), boolean(false));
  folded[NodeView::axis(n.attr_int("axis"), n.rank())] = boolean(true);
  return folded;
}
inline void infer_type(Infer& n) {
  const std::vector<Expr> folded = folded_axis(n);
  const Shape out = reduce::folded_shape(n.shape(), folded, n.attr_int("keepdims"), 1);
  const Expr along = n.dim(0, static_cast<int>(n.attr_int("axis"))).extent(), made = product(out).extent();
  if (!n.may_hold(logical_or(lt(integer(0), along), eq(made, integer(0)))))
    n.fail(Code::E0302, "`data` is " + to_string(n.type(0)) + ": no extreme among no elements");
  n.output(0, DType::i64, out);
}
inline Meaning meaning(const MeaningView& n, FoldKind first, FoldKind last) {
  reduce::Nest s = reduce::nest(n, folded_axis(n));
  FoldKind kind = n.attr_int("select_last_index") ? last : first;
  return Compute{{{s.index, reduce::fold_nest(kind, s, n.load(0, s.at))}}};
}
inline Operator declare(std::string_view name, Meaning (*meaning)(const MeaningView&)) {
  return {.name = name,
          .since = {1, 11, 12, 13},
          .inputs = {{"data", kNumbers}},
          .outputs = {{"reduced"}},
          .attributes = {{"axis", 0}, {"keepdims", 1}, {"select_last_index", 0, 12}},
          .infer = infer_type,
          .meaning = meaning};
}

}  // namespace cameo::ops::arg_reduce
