// Xor: logical xor with broadcasting.
#include "frontend/ir/operator.h"

namespace cameo::ops {

Operator declare_xor() {
  return {.name = "Xor",
          .since = {7},
          .inputs = {{"A", kBool}, {"B", kBool, InputSpec::Required, 0}},
          .infer = infer::broadcast,
          .meaning = elementwise([](const MeaningView&, Expr a, Expr b) { return apply(Op::Xor, {a, b}); })};
}

}  // namespace cameo::ops
