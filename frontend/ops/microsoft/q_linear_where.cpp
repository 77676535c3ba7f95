// QLinearWhere: each element of one or the other of two quantised tensors, in one quantisation.
#include "frontend/ops/microsoft/quantized.h"

namespace cameo::ops {
namespace {

Composite define_q_linear_where(const NodeView& n) {
  Build b(n);
  const ValueId z = b.op("Where", {b.in(0), dequantized(b, 1, 2, 3), dequantized(b, 4, 5, 6)});
  return b.outputs({quantized(n, b, z, 7, 8, n.dtype(1))});
}

}  // namespace

Operator declare_microsoft_q_linear_where() {
  return {.name = "QLinearWhere",
          .domain = "com.microsoft",
          .since = {1},
          .inputs = {{"condition", kBool},
                     {"X", kQuantized},
                     {"x_scale", DTypes(DType::f32)},
                     {"x_zero_point", kQuantized, InputSpec::Required, 1},
                     {"Y", kQuantized, InputSpec::Required, 1},
                     {"y_scale", DTypes(DType::f32)},
                     {"y_zero_point", kQuantized, InputSpec::Required, 1},
                     {"z_scale", DTypes(DType::f32)},
                     {"z_zero_point", kQuantized, InputSpec::Required, 1}},
          .outputs = {{"Z"}},
          .infer = infer_defined<define_q_linear_where>,
          .meaning = defined<define_q_linear_where>};
}

}  // namespace cameo::ops
