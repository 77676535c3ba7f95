// Shrink: toward zero by bias outside of [-lambd, lambd], zero inside; integers compute in f64.
#include "frontend/ir/operator.h"

namespace cameo::ops {

Operator declare_shrink() {
  return {.name = "Shrink",
          .since = {9},
          .inputs = {{"X", kNumbers}},
          .attributes = {{"lambd", 0.5f}, {"bias", 0.0f}},
          .infer = infer::same_as_first,
          .meaning = elementwise([](const MeaningView& n, Expr x) {
            double lambd = n.attr_float("lambd"), bias = n.attr_float("bias");
            Expr v = is_float(x.type()) ? x : cast(x, DType::f64), nil = zero(v.type());
            return cast(select(lt(v, like(v, -lambd)), v + bias, select(gt(v, like(v, lambd)), v - bias, nil)),
                        x.type());
          })};
}

}  // namespace cameo::ops
