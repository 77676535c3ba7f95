// Sum: of all inputs, from the first on, with broadcasting.
#include "frontend/operator.h"

namespace cameo::ops {
namespace {
Meaning sum_meaning(const MeaningView& n) {
  return elementwise_meaning(n, [](std::span<const Expr> x) {
    Expr r = x[0];
    for (Expr e : x.subspan(1)) r = r + e;
    return r;
  });
}
}  // namespace

Operator declare_sum() {
  return {.name = "Sum",
          .since = {6, 8, 13},
          .inputs = {{"data_0", kFloats, InputSpec::Variadic, 0}},
          .infer = infer::broadcast,
          .meaning = sum_meaning};
}

}  // namespace cameo::ops
