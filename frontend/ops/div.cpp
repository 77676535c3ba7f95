// Div: with broadcasting; integers round toward zero.
#include "frontend/ops/arithmetic.h"

namespace cameo::ops {

Operator declare_div() {
  return arithmetic::declare("Div", {1, 6, 7, 13, 14}, arithmetic::meaning([](Expr a, Expr b) { return a / b; }));
}

}  // namespace cameo::ops
