// Sign: -1, 0 or 1.
#include "frontend/ir/operator.h"

namespace cameo::ops {

Operator declare_sign() {
  return {.name = "Sign",
          .since = {9, 13},
          .inputs = {{"X", kNumbers}},
          .infer = infer::same_as_first,
          .meaning = elementwise([](const MeaningView&, Expr x) { return sign(x); })};
}

}  // namespace cameo::ops
