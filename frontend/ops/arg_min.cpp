// ArgMin: where along an axis the least element stands; the first of equals, or the last if asked for.
#include "frontend/ops/arg_reduce.h"

namespace cameo::ops {

Operator declare_arg_min() {
  return arg_reduce::declare(
      "ArgMin", [](const MeaningView& n) { return arg_reduce::meaning(n, FoldKind::ArgMin, FoldKind::ArgMinLast); });
}

}  // namespace cameo::ops
