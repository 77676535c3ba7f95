// Erf: the error function; integers go through f32.
#include "frontend/ir/operator.h"

namespace cameo::ops {

Operator declare_erf() {
  return {.name = "Erf",
          .since = {9, 13},
          .inputs = {{"X", kNumbers}},
          .infer = infer::same_as_first,
          .meaning = elementwise([](const MeaningView&, Expr x) {
            if (is_float(x.type())) return erf(x);
            return cast(erf(cast(x, DType::f32)), x.type());
          })};
}

}  // namespace cameo::ops
