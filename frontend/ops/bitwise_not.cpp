// BitwiseNot: every bit inverted.
#include "frontend/ir/operator.h"

namespace cameo::ops {

Operator declare_bitwise_not() {
  return {.name = "BitwiseNot",
          .since = {18},
          .inputs = {{"X", kIntegers}},
          .infer = infer::same_as_first,
          .meaning = elementwise([](const MeaningView&, Expr x) { return apply(Op::BitNot, {x}); })};
}

}  // namespace cameo::ops
