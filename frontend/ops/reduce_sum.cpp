// ReduceSum: the sum over axes; 0 for none.
#include "frontend/ops/reduce.h"

namespace cameo::ops {

Operator declare_reduce_sum() {
  return reduce::declare("ReduceSum", {1, 11, 13}, kNumbers, [](const MeaningView& n) {
    return reduce::meaning(n, FoldKind::Sum, false, reduce::same, reduce::keep);
  });
}

}  // namespace cameo::ops
