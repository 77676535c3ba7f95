// Mean: the sum of all inputs, with broadcasting, over their number.
#include "frontend/operator.h"

namespace cameo::ops {
namespace {
Meaning mean_meaning(const MeaningView& n) {
  return elementwise_meaning(n, [](std::span<const Expr> x) {
    Expr r = x[0];
    for (Expr e : x.subspan(1)) r = r + e;
    return r / static_cast<double>(x.size());
  });
}
}  // namespace

Operator declare_mean() {
  return {.name = "Mean",
          .since = {6, 8, 13},
          .inputs = {{"data_0", kFloats, InputSpec::Variadic, 0}},
          .infer = infer::broadcast,
          .meaning = mean_meaning};
}

}  // namespace cameo::ops
