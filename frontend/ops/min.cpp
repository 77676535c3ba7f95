// Min: the least of all inputs, with broadcasting; NaN wins.
#include "frontend/ops/join_operands.h"

namespace cameo::ops {
namespace {
Meaning min_meaning(const MeaningView& n) { return joining_meaning(n, "Min", min); }
}  // namespace

Operator declare_min() {
  return {.name = "Min",
          .since = {1, 6, 8, 12, 13},
          .inputs = {{"data_0", kNumbers, InputSpec::Variadic, 0}},
          .infer = infer::broadcast,
          .meaning = min_meaning};
}

}  // namespace cameo::ops
