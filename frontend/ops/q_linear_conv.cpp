// QLinearConv: the i32 convolution of 8-bit tensors plus an i32 bias, rescaled to the output's scale.
#include "frontend/ops/quantized_conv.h"

namespace cameo::ops {
namespace {

void infer_q_linear_conv(Infer& n) {
  Convolution c = convolution(n, 3);
  check_parameters(n, c, {4, 5}, {1, 2, 6, 7});
  for (int scale : {1, 4, 6}) check_scale(n, scale);
  n.output(0, n.dtype(7), convolved_shape(n, c, 8));
}

Meaning q_linear_conv(const MeaningView& n) {
  auto out = n.index();
  Expr sum = integer_convolution(n, 3, 2, 5, out);
  if (n.has(8)) sum = sum + n.load(8, {out[1]});
  auto scale = [&](int input) { return n.load(input, channel_parameter(n, input, out[1])); };
  Expr y = cast(sum, DType::f32) * (scale(1) * scale(4) / scale(6));
  Expr zero = zero_point(n, 7, DType::i32, channel_parameter(n, 7, out[1]));
  return Compute{{{out, quantized(y, zero, n.out_dtype())}}};
}

}  // namespace

Operator declare_q_linear_conv() {
  constexpr DTypes kScale{DType::f32};
  return {.name = "QLinearConv",
          .since = {10},
          .inputs = {{"x", kQuantized},
                     {"x_scale", kScale},
                     {"x_zero_point", kQuantized, InputSpec::Required, 0},
                     {"w", kQuantized},
                     {"w_scale", kScale},
                     {"w_zero_point", kQuantized, InputSpec::Required, 3},
                     {"y_scale", kScale},
                     {"y_zero_point", kQuantized},
                     {"B", DTypes(DType::i32), InputSpec::Optional}},
          .outputs = {{"y"}},
          .attributes = convolution_attributes(),
          .infer = infer_q_linear_conv,
          .meaning = q_linear_conv};
}

}  // namespace cameo::ops
