// Sum: of all inputs, from the first on, with broadcasting.
#include "frontend/ops/join_operands.h"

namespace cameo::ops {
namespace {
Meaning sum_meaning(const MeaningView& n) {
  return joining_meaning(n, "Sum", [](Expr a, Expr b) { return a + b; });
}
}  // namespace

Operator declare_sum() {
  return {.name = "Sum",
          .since = {1, 6, 8, 13},
          .inputs = {{"data_0", kFloats, InputSpec::Variadic, 0}},
          .infer = infer::broadcast,
          .meaning = sum_meaning};
}

}  // namespace cameo::ops
