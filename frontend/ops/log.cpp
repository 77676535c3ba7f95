// Log: natural logarithm.
#include "frontend/ir/operator.h"

namespace cameo::ops {

Operator declare_log() {
  return {.name = "Log",
          .since = {1, 6, 13},
          .inputs = {{"X", kFloats}},
          .infer = infer::same_as_first,
          .meaning = elementwise([](const MeaningView&, Expr x) { return log(x); })};
}

}  // namespace cameo::ops
