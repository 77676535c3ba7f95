// Max: the greatest of all inputs, with broadcasting; NaN wins.
#include "frontend/ops/join_operands.h"

namespace cameo::ops {
namespace {
Meaning max_meaning(const MeaningView& n) { return joining_meaning(n, "Max", max); }
}  // namespace

Operator declare_max() {
  return {.name = "Max",
          .since = {1, 6, 8, 12, 13},
          .inputs = {{"data_0", kNumbers, InputSpec::Variadic, 0}},
          .infer = infer::broadcast,
          .meaning = max_meaning};
}

}  // namespace cameo::ops
