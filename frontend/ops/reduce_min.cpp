// ReduceMin: the least over axes; NaN wins; the greatest value of the type for none.
#include "frontend/ops/reduce.h"

namespace cameo::ops {

Operator declare_reduce_min() {
  return reduce::declare("ReduceMin", {1, 11, 12, 13, 18, 20}, kNumbers | kBool, [](const MeaningView& n) {
    return reduce::meaning(n, FoldKind::Min, false, reduce::same, reduce::keep);
  });
}

}  // namespace cameo::ops
