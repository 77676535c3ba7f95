// IsNaN: true for NaN.
#include "frontend/ir/operator.h"

namespace cameo::ops {

Operator declare_is_nan() {
  return {.name = "IsNaN",
          .since = {9, 13, 20},
          .inputs = {{"X", kFloats}},
          .infer = [](Infer& n) { n.output(0, DType::b1, n.shape()); },
          .meaning = elementwise([](const MeaningView&, Expr x) { return is_nan(x); })};
}

}  // namespace cameo::ops
