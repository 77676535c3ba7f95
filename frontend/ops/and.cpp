// And: logical and with broadcasting.
#include "frontend/ir/operator.h"

namespace cameo::ops {

Operator declare_and() {
  return {.name = "And",
          .since = {7},
          .inputs = {{"A", kBool}, {"B", kBool, InputSpec::Required, 0}},
          .infer = infer::broadcast,
          .meaning = elementwise([](const MeaningView&, Expr a, Expr b) { return apply(Op::And, {a, b}); })};
}

}  // namespace cameo::ops
