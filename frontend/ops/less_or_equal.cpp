// LessOrEqual: with broadcasting; false when either is NaN.
#include "frontend/ir/operator.h"

namespace cameo::ops {

Operator declare_less_or_equal() {
  return {.name = "LessOrEqual",
          .since = {12, 16},
          .inputs = {{"A", kNumbers}, {"B", kNumbers, InputSpec::Required, 0}},
          .infer = infer::broadcast_bool,
          .meaning = elementwise([](const MeaningView&, Expr a, Expr b) { return le(a, b); })};
}

}  // namespace cameo::ops
