// Min: the least of all inputs, with broadcasting; NaN wins.
#include "frontend/operator.h"

namespace cameo::ops {
namespace {
Meaning min_meaning(const MeaningView& n) {
  return elementwise_meaning(n, [](std::span<const Expr> x) {
    Expr r = x[0];
    for (Expr e : x.subspan(1)) r = min(r, e);
    return r;
  });
}
}  // namespace

Operator declare_min() {
  return {.name = "Min",
          .since = {6, 8, 12, 13},
          .inputs = {{"data_0", kNumbers, InputSpec::Variadic, 0}},
          .infer = infer::broadcast,
          .meaning = min_meaning};
}

}  // namespace cameo::ops
