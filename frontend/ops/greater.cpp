// Greater: with broadcasting; false when either is NaN.
#include "frontend/ops/arithmetic.h"

namespace cameo::ops {

Operator declare_greater() {
  return arithmetic::declare_test("Greater", {1, 7, 9, 13}, kNumbers,
                                  arithmetic::meaning([](Expr a, Expr b) { return gt(a, b); }));
}

}  // namespace cameo::ops
