// CumProd: running products along an axis.
#include "frontend/ops/cumulate.h"

namespace cameo::ops {

Operator declare_cum_prod() {
  return cumulate::declare("CumProd", {26},
                           [](const MeaningView& n) { return cumulate::meaning(n, FoldKind::Prod, 1); });
}

}  // namespace cameo::ops
