// ReduceProd: the product over axes; 1 for none.
#include "frontend/ops/reduce.h"

namespace cameo::ops {

Operator declare_reduce_prod() {
  return reduce::declare("ReduceProd", {1, 11, 13, 18}, kNumbers, [](const MeaningView& n) {
    return reduce::meaning(n, FoldKind::Prod, false, reduce::same, reduce::keep);
  });
}

}  // namespace cameo::ops
