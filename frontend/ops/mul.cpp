// Mul: with broadcasting; integers wrap.
#include "frontend/ops/arithmetic.h"

namespace cameo::ops {

Operator declare_mul() {
  return arithmetic::declare("Mul", {1, 6, 7, 13, 14}, arithmetic::meaning([](Expr a, Expr b) { return a * b; }));
}

}  // namespace cameo::ops
