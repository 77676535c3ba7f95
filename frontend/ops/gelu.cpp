// Gelu: x times the normal distribution function of x, or its tanh approximation.
#include <cmath>
#include <numbers>

#include "frontend/ir/operator.h"

namespace cameo::ops {

Operator declare_gelu() {
  return {.name = "Gelu",
          .since = {20},
          .inputs = {{"X", kFloats}},
          .attributes = {{"approximate", "none"}},
          .infer = infer::same_as_first,
          .meaning = elementwise([](const MeaningView& n, Expr x) {
            if (n.attr_string("approximate") == "tanh")
              return 0.5 * x * (1.0 + tanh(std::sqrt(2 / std::numbers::pi) * (x + 0.044715 * (x * x * x))));
            return 0.5 * x * (1.0 + erf(std::numbers::sqrt2 / 2 * x));
          })};
}

}  // namespace cameo::ops
