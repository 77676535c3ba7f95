// QLinearConv of com.microsoft: ai.onnx's, of images whose channels may be their last axis.
#include "frontend/ops/conv.h"
#include "frontend/ops/microsoft/quantized.h"

namespace cameo::ops {
namespace {

Composite define_q_linear_conv(const NodeView& n) {
  for (int scale : {1, 4, 6}) check_scale(n, scale);
  Build b(n);
  const bool last = n.attr_int("channels_last");
  std::vector<ValueId> inputs;
  for (int i = 0; i < n.input_count(); ++i) inputs.push_back(b.in(i));
  if (last) inputs[0] = channels_first(b, inputs[0]);
  const ValueId y = b.op("QLinearConv", inputs,
                         attributes_of(n, {"auto_pad", "dilations", "group", "kernel_shape", "pads", "strides"}));
  return b.outputs({last ? channels_last(b, y) : y});
}

}  // namespace

Operator declare_microsoft_q_linear_conv() {
  constexpr DTypes kScale{DType::f32};
  return {.name = "QLinearConv",
          .domain = "com.microsoft",
          .since = {1},
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
          .attributes = convolution_attributes({{"channels_last", 0}}),
          .infer = infer_defined<define_q_linear_conv>,
          .meaning = defined<define_q_linear_conv>};
}

}  // namespace cameo::ops
