// Numbers below the normal range, denormals, become zeros where many are made and none matters: an Intel processor
// takes thirty times as long for each operation on one.
// - Exponentials of a softmax: a mask of -100 makes many. Beside the largest element's, which is 1, they change no sum,
//   and their shares of it are below 2^-126.
// - Sigmoids of a SiLU, x sigmoid(c x): where c x is below -87, the product is within 2^-119 / c of zero.
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

/// x sigmoid(c x), whose sigmoids the next layer's sums would multiply by weights.
Expr flushed_silu(Expr product) {
  for (const size_t i : {0, 1}) {
    const Expr x = product.arg(i), gate = product.arg(1 - i);
    if (gate.op() != Op::Sigmoid) continue;
    const Expr in = gate.arg(0);
    const bool is_scaled =
        in.op() == Op::Mul && ((in.arg(0) == x && in.arg(1).is_const()) || (in.arg(1) == x && in.arg(0).is_const()));
    if (in == x || is_scaled) return x * apply(Op::SigmoidFlush, {in});
  }
  return product;
}

}  // namespace

Expr flush_denormals(Expr root) {
  return rewrite(root, [](Expr e) {
    if (e.type() != DType::f32) return e;
    return e.op() == Op::Div ? flushed(e) : e.op() == Op::Mul ? flushed_silu(e) : e;
  });
}

}  // namespace cameo
