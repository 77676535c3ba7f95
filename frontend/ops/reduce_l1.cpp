// ReduceL1: the sum of absolute values over axes.
#include "frontend/ops/reduce.h"

namespace cameo::ops {

Operator declare_reduce_l1() {
  return reduce::declare("ReduceL1", {1, 11, 13, 18}, kNumbers, [](const MeaningView& n) {
    return reduce::meaning(n, FoldKind::Sum, false, [](Expr x) { return abs(x); }, reduce::keep);
  });
}

}  // namespace cameo::ops
