// ReduceMean: the sum over axes, over the number of its terms; integers round toward zero.
#include "frontend/ops/reduce.h"

namespace cameo::ops {

Operator declare_reduce_mean() {
  return reduce::declare("ReduceMean", {1, 11, 13, 18}, kNumbers, [](const MeaningView& n) {
    return reduce::meaning(n, FoldKind::Sum, false, reduce::same, [](Expr sum, Expr count) { return sum / count; });
  });
}

}  // namespace cameo::ops
