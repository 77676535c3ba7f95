// Mean: the sum of all inputs, with broadcasting, over their number.
#include "frontend/ops/join_operands.h"

namespace cameo::ops {
namespace {
Meaning mean_meaning(const MeaningView& n) {
  const auto count = static_cast<double>(n.input_count());
  if (n.input_count() > kMostJoined) {
    Build b(n);
    const ValueId sum = join_in_parts(b, n, "Sum");
    return b.outputs({b.cast(b.div(sum, b.like(sum, count)), n.dtype())});
  }
  return elementwise_meaning(n, [&](std::span<const Expr> x) {
    Expr sum = x[0];
    for (Expr e : x.subspan(1)) sum = sum + e;
    return sum / count;
  });
}
}  // namespace

Operator declare_mean() {
  return {.name = "Mean",
          .since = {1, 6, 8, 13},
          .inputs = {{"data_0", kFloats, InputSpec::Variadic, 0}},
          .infer = infer::broadcast,
          .meaning = mean_meaning};
}

}  // namespace cameo::ops
