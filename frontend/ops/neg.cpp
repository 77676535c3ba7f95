// Neg: -x.
#include "frontend/ir/operator.h"

namespace cameo::ops {

Operator declare_neg() {
  return {.name = "Neg",
          .since = {1, 6, 13},
          .inputs = {{"X", kSigned}},
          .infer = infer::same_as_first,
          .meaning = elementwise([](const MeaningView&, Expr x) { return -x; })};
}

}  // namespace cameo::ops
