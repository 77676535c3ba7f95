// Abs: |x|; the smallest integer stays as it is.
#include "frontend/ir/operator.h"

namespace cameo::ops {

Operator declare_abs() {
  return {.name = "Abs",
          .since = {1, 6, 13},
          .inputs = {{"X", kNumbers}},
          .infer = infer::same_as_first,
          .meaning = elementwise([](const MeaningView&, Expr x) { return abs(x); })};
}

}  // namespace cameo::ops
