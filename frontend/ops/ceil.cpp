// Ceil: toward plus infinity.
#include "frontend/ir/operator.h"

namespace cameo::ops {

Operator declare_ceil() {
  return {.name = "Ceil",
          .since = {1, 6, 13},
          .inputs = {{"X", kFloats}},
          .infer = infer::same_as_first,
          .meaning = elementwise([](const MeaningView&, Expr x) { return ceil(x); })};
}

}  // namespace cameo::ops
