// ReduceMax: the greatest over axes; NaN wins; the least value of the type for none.
#include "frontend/ops/reduce.h"

namespace cameo::ops {

Operator declare_reduce_max() {
  return reduce::declare("ReduceMax", {1, 11, 12, 13, 18, 20}, kNumbers | kBool, [](const MeaningView& n) {
    return reduce::meaning(n, FoldKind::Max, false, reduce::same, reduce::keep);
  });
}

}  // namespace cameo::ops
