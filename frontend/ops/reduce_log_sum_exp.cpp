// ReduceLogSumExp: log(sum(exp(x))) over axes, computed from the greatest element on, so that exp cannot overflow.
#include "frontend/ops/reduce.h"

namespace cameo::ops {
namespace {

Meaning reduce_log_sum_exp_meaning(const MeaningView& n) {
  std::vector<Expr> folded = reduce::folded_axes(n);
  reduce::Nest s = reduce::nest(n, folded);
  DType t = reduce::computing(n.dtype(), true);
  Expr x = cast(n.load(0, s.at), t);
  // the inner fold runs over variables of its own
  reduce::Nest m = reduce::nest(n, folded);
  Expr greatest = substitute(reduce::fold_nest(FoldKind::Max, m, cast(n.load(0, m.at), t)), m.index, s.index);
  Expr base = select(is_inf(greatest), zero(t), greatest);
  Expr sum = reduce::fold_nest(FoldKind::Sum, s, exp(x - base));
  return Compute{{{s.index, cast(log(sum) + base, n.dtype())}}};
}

}  // namespace

Operator declare_reduce_log_sum_exp() {
  return reduce::declare("ReduceLogSumExp", {1, 11, 13, 18, 28}, kNumbers, reduce_log_sum_exp_meaning);
}

}  // namespace cameo::ops
