// Floor: toward minus infinity.
#include "frontend/ir/operator.h"

namespace cameo::ops {

Operator declare_floor() {
  return {.name = "Floor",
          .since = {1, 6, 13},
          .inputs = {{"X", kFloats}},
          .infer = infer::same_as_first,
          .meaning = elementwise([](const MeaningView&, Expr x) { return floor(x); })};
}

}  // namespace cameo::ops
