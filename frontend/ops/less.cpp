// Less: with broadcasting; false when either is NaN.
#include "frontend/ir/operator.h"

namespace cameo::ops {

Operator declare_less() {
  return {.name = "Less",
          .since = {7, 9, 13},
          .inputs = {{"A", kNumbers}, {"B", kNumbers, InputSpec::Required, 0}},
          .infer = infer::broadcast_bool,
          .meaning = elementwise([](const MeaningView&, Expr a, Expr b) { return lt(a, b); })};
}

}  // namespace cameo::ops
