// Or: logical or with broadcasting.
#include "frontend/ops/arithmetic.h"

namespace cameo::ops {

Operator declare_or() {
  return arithmetic::declare_test("Or", {1, 7}, kBool,
                                  arithmetic::meaning([](Expr a, Expr b) { return apply(Op::Or, {a, b}); }));
}

}  // namespace cameo::ops
