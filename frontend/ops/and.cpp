// And: logical and with broadcasting.
#include "frontend/ops/arithmetic.h"

namespace cameo::ops {

Operator declare_and() {
  return arithmetic::declare_test("And", {1, 7}, kBool,
                                  arithmetic::meaning([](Expr a, Expr b) { return apply(Op::And, {a, b}); }));
}

}  // namespace cameo::ops
