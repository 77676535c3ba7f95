// ConvInteger: the convolution of 8-bit tensors, less their zero points, in i32.
#include "frontend/ops/quantized_conv.h"

namespace cameo::ops {
namespace {

void infer_conv_integer(Infer& n) {
  Convolution c = convolution(n, 1);
  check_parameters(n, c, {3}, {2});
  n.output(0, DType::i32, convolved_shape(n, c));
}

Meaning conv_integer(const MeaningView& n) {
  auto out = n.index();
  return Compute{{{out, integer_convolution(n, 1, 2, 3, out)}}};
}

}  // namespace

Operator declare_conv_integer() {
  return {.name = "ConvInteger",
          .since = {10},
          .inputs = {{"x", kQuantized},
                     {"w", kQuantized},
                     {"x_zero_point", kQuantized, InputSpec::Optional, 0},
                     {"w_zero_point", kQuantized, InputSpec::Optional, 1}},
          .outputs = {{"y"}},
          .attributes = convolution_attributes(),
          .infer = infer_conv_integer,
          .meaning = conv_integer};
}

}  // namespace cameo::ops
