// DynamicQuantizeMatMul: A, quantised by what it holds, times an 8-bit matrix, dequantised.
#include "frontend/ops/microsoft/scaled_product.h"

namespace cameo::ops {
namespace {

Composite define_dynamic_quantize_mat_mul(const NodeView& n) {
  Build b(n);
  return b.outputs({scaled_product(b, quantized_rows(b, b.in(0)), {b.in(1), b.in(2), b.in(3)}, b.in(4))});
}

}  // namespace

Operator declare_microsoft_dynamic_quantize_mat_mul() {
  constexpr DTypes kFloat{DType::f32};
  return {.name = "DynamicQuantizeMatMul",
          .domain = "com.microsoft",
          .since = {1},
          .inputs = {{"A", kFloat},
                     {"B", kQuantized},
                     {"b_scale", kFloat},
                     {"b_zero_point", kQuantized, InputSpec::Optional, 1},
                     {"bias", kFloat, InputSpec::Optional}},
          .infer = infer_defined<define_dynamic_quantize_mat_mul>,
          .meaning = defined<define_dynamic_quantize_mat_mul>};
}

}  // namespace cameo::ops
