// Xor: logical xor with broadcasting.
#include "frontend/ops/arithmetic.h"

namespace cameo::ops {

Operator declare_xor() {
  return arithmetic::declare_test("Xor", {1, 7}, kBool,
                                  arithmetic::meaning([](Expr a, Expr b) { return apply(Op::Xor, {a, b}); }));
}

}  // namespace cameo::ops
