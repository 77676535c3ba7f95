// Or: logical or with broadcasting.
#include "frontend/ir/operator.h"

namespace cameo::ops {

Operator declare_or() {
  return {.name = "Or",
          .since = {7},
          .inputs = {{"A", kBool}, {"B", kBool, InputSpec::Required, 0}},
          .infer = infer::broadcast,
          .meaning = elementwise([](const MeaningView&, Expr a, Expr b) { return apply(Op::Or, {a, b}); })};
}

}  // namespace cameo::ops
