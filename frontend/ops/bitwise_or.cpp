// BitwiseOr: bit by bit, with broadcasting.
#include "frontend/ir/operator.h"

namespace cameo::ops {

Operator declare_bitwise_or() {
  return {.name = "BitwiseOr",
          .since = {18},
          .inputs = {{"A", kIntegers}, {"B", kIntegers, InputSpec::Required, 0}},
          .infer = infer::broadcast,
          .meaning = elementwise([](const MeaningView&, Expr a, Expr b) { return apply(Op::BitOr, {a, b}); })};
}

}  // namespace cameo::ops
