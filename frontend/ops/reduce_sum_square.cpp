// ReduceSumSquare: the sum of squares over axes.
#include "frontend/ops/reduce.h"

namespace cameo::ops {

Operator declare_reduce_sum_square() {
  return reduce::declare("ReduceSumSquare", {1, 11, 13, 18}, kNumbers, [](const MeaningView& n) {
    return reduce::meaning(n, FoldKind::Sum, false, reduce::square, reduce::keep);
  });
}

}  // namespace cameo::ops
