// ReduceLogSum: the logarithm of the sum over axes; integers compute in f64.
#include "frontend/ops/reduce.h"

namespace cameo::ops {

Operator declare_reduce_log_sum() {
  return reduce::declare("ReduceLogSum", {1, 11, 13, 18, 28}, kNumbers, [](const MeaningView& n) {
    return reduce::meaning(n, FoldKind::Sum, true, reduce::same, [](Expr sum, Expr) { return log(sum); });
  });
}

}  // namespace cameo::ops
