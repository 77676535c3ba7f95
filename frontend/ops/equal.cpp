// Equal: a == b with broadcasting; NaN equals nothing.
#include "frontend/ir/operator.h"

namespace cameo::ops {

Operator declare_equal() {
  return {.name = "Equal",
          .since = {7, 11, 13, 19},
          .inputs = {{"A", kNumbers | kBool | DTypes(DType::str)},
                     {"B", kNumbers | kBool | DTypes(DType::str), InputSpec::Required, 0}},

          .infer = infer::broadcast_bool,
          .meaning = elementwise([](const MeaningView&, Expr a, Expr b) { return eq(a, b); })};
}

}  // namespace cameo::ops
