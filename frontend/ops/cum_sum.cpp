// CumSum: running sums along an axis.
#include "frontend/ops/cumulate.h"

namespace cameo::ops {

Operator declare_cum_sum() {
  return cumulate::declare("CumSum", {11, 14},
                           [](const MeaningView& n) { return cumulate::meaning(n, FoldKind::Sum, 0); });
}

}  // namespace cameo::ops
