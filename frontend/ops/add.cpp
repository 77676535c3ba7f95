// Add: with broadcasting; integers wrap.
#include "frontend/ops/arithmetic.h"

namespace cameo::ops {

Operator declare_add() {
  return arithmetic::declare("Add", {1, 6, 7, 13, 14}, arithmetic::meaning([](Expr a, Expr b) { return a + b; }));
}

}  // namespace cameo::ops
