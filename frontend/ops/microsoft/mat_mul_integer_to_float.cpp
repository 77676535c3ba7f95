// MatMulIntegerToFloat: the product of two 8-bit matrices, dequantised.
#include "frontend/ops/microsoft/scaled_product.h"

namespace cameo::ops {
namespace {

Composite define_mat_mul_integer_to_float(const NodeView& n) {
  Build b(n);
  return b.outputs({scaled_product(b, {b.in(0), b.in(2), b.in(4)}, {b.in(1), b.in(3), b.in(5)}, b.in(6))});
}

}  // namespace

Operator declare_microsoft_mat_mul_integer_to_float() {
  constexpr DTypes kScale{DType::f32, DType::f16};
  return {.name = "MatMulIntegerToFloat",
          .domain = "com.microsoft",
          .since = {1},
          .inputs = {{"A", kQuantized},
                     {"B", kQuantized},
                     {"a_scale", kScale},
                     {"b_scale", kScale, InputSpec::Required, 2},
                     {"a_zero_point", kQuantized, InputSpec::Optional, 0},
                     {"b_zero_point", kQuantized, InputSpec::Optional, 1},
                     {"bias", kScale, InputSpec::Optional, 2}},
          .infer = infer_defined<define_mat_mul_integer_to_float>,
          .meaning = defined<define_mat_mul_integer_to_float>};
}

}  // namespace cameo::ops
