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

/// Whether an expression is a term of a sum, for some indices.
bool is_term(Expr e, Expr term, std::span<const Expr> variables) {
  std::vector<Expr> indices;
  visit(std::vector<Expr>{e}, [&](Expr v) {
    if (v.op() == Op::Var && !depends_on(term, v)) indices.push_back(v);
  });
  return indices.size() == variables.size() && substitute(term, variables, indices) == e;
}

/// exp(x - largest) / sum(exp(x - largest)).
Expr flushed(Expr share) {
  const Expr top = share.arg(0), bottom = share.arg(1);
  if (!is_fold(bottom, FoldKind::Sum)) return share;
  const FoldNest sum = unfold(bottom);
  const Expr largest = largest_of(sum);
  if (!largest || !is_term(top, sum.body, sum.variables)) return share;
  return rewrite(share, [&](Expr e) {
    return is_exp_of_difference(e) && e.arg(0).arg(1) == largest ? apply(Op::ExpFlush, {e.arg(0)}) : e;
  });
}

}  // namespace

Expr flush_softmax(Expr root) {
  return rewrite(root, [](Expr e) { return e.op() == Op::Div && e.type() == DType::f32 ? flushed(e) : e; });
}

}  // namespace cameo
