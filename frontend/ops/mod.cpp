// Mod: the remainder with the sign of the divisor, or of the dividend when fmod is set.
#include "frontend/operator.h"

namespace cameo::ops {

Operator declare_mod() {
  return {.name = "Mod",
          .since = {10, 13, 28},
          .inputs = {{"A", kNumbers}, {"B", kNumbers, InputSpec::Required, 0}},
          .attributes = {{"fmod", 0}},
          .infer = infer::broadcast,
          .meaning = elementwise([](const MeaningView& n, Expr a, Expr b) {
            return n.attr_int("fmod") ? apply(Op::FMod, {a, b}) : mod(a, b);
          })};
}

}  // namespace cameo::ops
