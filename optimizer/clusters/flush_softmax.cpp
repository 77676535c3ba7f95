// The exponentials of a softmax that are below the normal range become zeros: an Intel processor takes thirty times as
// long for each operation on such a number, and a mask of -100 makes many. Beside the largest element's, which is 1,
// they change no sum, and their shares of it are below 2^-126.
#include "optimizer/clusters/clusters.h"

namespace cameo {
namespace {

bool is_fold(Expr e, FoldKind kind) { return e.op() == Op::Fold && e.fold_kind() == kind; }
bool is_exp_of_difference(Expr e) { return e.op() == Op::Exp && e.arg(0).op() == Op::Sub; }

/// What is subtracted before the exponentials of a sum are taken, if it is the largest of all its terms; else null.
Expr largest_of(const FoldNest& sum) {
  if (!is_exp_of_difference(sum.body)) return {};
  const Expr element = sum.body.arg(0).arg(0), subtracted = sum.body.arg(0).arg(1);
  if (!is_fold(subtracted, FoldKind::Max)) return {};
  const FoldNest largest = unfold(subtracted);
  if (largest.variables.size() != sum.variables.size()) return {};
  for (size_t i = 0; i < sum.variables.size(); ++i)
    if (largest.variables[i].extent() != sum.variables[i].extent()) return {};
  return substitute(largest.body, largest.variables, sum.variables) == element ? subtracted : Expr();
}

/// exp(x - largest) / sum(exp(x - largest)).
Expr flushed(Expr share) {
  if (!is_fold(share.arg(1), FoldKind::Sum)) return share;
  const Expr top = share.arg(0);
  const FoldNest sum = unfold(share.arg(1));
  const Expr largest = largest_of(sum);
  if (!largest || !is_exp_of_difference(top) || top.arg(0).arg(1) != largest) return share;
  Expr bottom = apply(Op::ExpFlush, {sum.body.arg(0)});
  for (size_t i = sum.variables.size(); i-- > 0;) bottom = fold(FoldKind::Sum, sum.variables[i], bottom);
  return apply(Op::ExpFlush, {top.arg(0)}) / bottom;
}

}  // namespace

Expr flush_softmax(Expr root) {
  return rewrite(root, [](Expr e) { return e.op() == Op::Div && e.type() == DType::f32 ? flushed(e) : e; });
}

}  // namespace cameo
