// Round: to the nearest integer, halves to even.
#include "frontend/ir/operator.h"

namespace cameo::ops {

Operator declare_round() {
  return {.name = "Round",
          .since = {11, 22},
          .inputs = {{"X", kFloats}},
          .infer = infer::same_as_first,
          .meaning = elementwise([](const MeaningView&, Expr x) { return round(x); })};
}

}  // namespace cameo::ops
