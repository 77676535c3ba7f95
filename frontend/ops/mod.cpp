// Mod: the remainder with the sign of the divisor, also of a zero, or of the dividend when `fmod` is set.
#include "frontend/ir/operator.h"

namespace cameo::ops {
namespace {

Expr remainder(Expr a, Expr b) {
  Expr r = mod(a, b);
  if (!is_float(a.type())) return r;
  Expr nil = zero(a.type());
  return select(eq(r, nil), select(lt(b, nil), like(a, -0.0), nil), r);
}

}  // namespace

Operator declare_mod() {
  return {.name = "Mod",
          .since = {10, 13, 28},
          .inputs = {{"A", kNumbers}, {"B", kNumbers, InputSpec::Required, 0}},
          .attributes = {{"fmod", 0}},
          .infer = infer::broadcast,
          .meaning = elementwise([](const MeaningView& n, Expr a, Expr b) {
            return n.attr_int("fmod") ? apply(Op::FMod, {a, b}) : remainder(a, b);
          })};
}

}  // namespace cameo::ops
