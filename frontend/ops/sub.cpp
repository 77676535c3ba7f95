// Sub: with broadcasting; integers wrap.
#include "frontend/operator.h"

namespace cameo::ops {

Operator declare_sub() {
  return {.name = "Sub",
          .since = {7, 13, 14},
          .inputs = {{"A", kNumbers}, {"B", kNumbers, InputSpec::Required, 0}},
          .infer = infer::broadcast,
          .meaning = elementwise([](const MeaningView&, Expr a, Expr b) { return a - b; })};
}

}  // namespace cameo::ops
