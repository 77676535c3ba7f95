// ReduceL2: the square root of the sum of squares over axes; integers compute in f64.
#include "frontend/ops/reduce.h"

namespace cameo::ops {

Operator declare_reduce_l2() {
  return reduce::declare("ReduceL2", {1, 11, 13, 18}, kNumbers, [](const MeaningView& n) {
    return reduce::meaning(n, FoldKind::Sum, true, reduce::square, [](Expr sum, Expr) { return sqrt(sum); });
  });
}

}  // namespace cameo::ops
