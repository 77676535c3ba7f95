// Greater: with broadcasting; false when either is NaN.
#include "frontend/ir/operator.h"

namespace cameo::ops {

Operator declare_greater() {
  return {.name = "Greater",
          .since = {7, 9, 13},
          .inputs = {{"A", kNumbers}, {"B", kNumbers, InputSpec::Required, 0}},
          .infer = infer::broadcast_bool,
          .meaning = elementwise([](const MeaningView&, Expr a, Expr b) { return gt(a, b); })};
}

}  // namespace cameo::ops
