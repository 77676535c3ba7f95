// Less: with broadcasting; false when either is NaN.
#include "frontend/ops/arithmetic.h"

namespace cameo::ops {

Operator declare_less() {
  return arithmetic::declare_test("Less", {1, 7, 9, 13}, kNumbers,
                                  arithmetic::meaning([](Expr a, Expr b) { return lt(a, b); }));
}

}  // namespace cameo::ops
