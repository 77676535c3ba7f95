// Equal: a == b with broadcasting; NaN equals nothing.
#include "frontend/ops/arithmetic.h"

namespace cameo::ops {

Operator declare_equal() {
  return arithmetic::declare_test("Equal", {1, 7, 11, 13, 19}, kNumbers | kBool | DTypes(DType::str),
                                  arithmetic::meaning([](Expr a, Expr b) { return eq(a, b); }));
}

}  // namespace cameo::ops
