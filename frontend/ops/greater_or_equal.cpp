// GreaterOrEqual: with broadcasting; false when either is NaN.
#include "frontend/ir/operator.h"

namespace cameo::ops {

Operator declare_greater_or_equal() {
  return {.name = "GreaterOrEqual",
          .since = {12, 16},
          .inputs = {{"A", kNumbers}, {"B", kNumbers, InputSpec::Required, 0}},
          .infer = infer::broadcast_bool,
          .meaning = elementwise([](const MeaningView&, Expr a, Expr b) { return ge(a, b); })};
}

}  // namespace cameo::ops
