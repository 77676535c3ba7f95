// Max: the greatest of all inputs, with broadcasting; NaN wins.
#include "frontend/operator.h"

namespace cameo::ops {
namespace {
Meaning max_meaning(const MeaningView& n) {
  return elementwise_meaning(n, [](std::span<const Expr> x) {
    Expr r = x[0];
    for (Expr e : x.subspan(1)) r = max(r, e);
    return r;
  });
}
}  // namespace

Operator declare_max() {
  return {.name = "Max",
          .since = {6, 8, 12, 13},
          .inputs = {{"data_0", kNumbers, InputSpec::Variadic, 0}},
          .infer = infer::broadcast,
          .meaning = max_meaning};
}

}  // namespace cameo::ops
