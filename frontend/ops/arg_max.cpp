// ArgMax: where along an axis the greatest element stands; the first of equals, or the last if asked for.
#include "frontend/ops/arg_reduce.h"

namespace cameo::ops {

Operator declare_arg_max() {
  return arg_reduce::declare(
      "ArgMax", [](const MeaningView& n) { return arg_reduce::meaning(n, FoldKind::ArgMax, FoldKind::ArgMaxLast); });
}

}  // namespace cameo::ops
