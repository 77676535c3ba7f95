// FusedConv: Conv, plus a tensor of the result's shape, through an activation.
#include "frontend/ops/conv.h"
#include "frontend/ops/microsoft/channels.h"
#include "frontend/ops/microsoft/fused_activation.h"

namespace cameo::ops {
namespace {

Composite define_fused_conv(const NodeView& n) {
  Build b(n);
  ValueId y = b.op("Conv", {b.in(0), b.in(1), b.in(2)},
                   attributes_of(n, {"auto_pad", "dilations", "group", "kernel_shape", "pads", "strides"}));
  if (b.in(3)) {
    check_shape(n, 3, b.type(y).shape, "what is added to the result");
    y = b.add(y, b.in(3));
  }
  std::vector<double> parameters;
  if (n.has_attr("activation_params")) parameters = n.attr_floats("activation_params");
  return b.outputs({fused_activation(n, b, y, [&](size_t place, std::string_view) -> std::optional<double> {
    return place < parameters.size() ? std::optional(parameters[place]) : std::nullopt;
  })});
}

}  // namespace

Operator declare_microsoft_fused_conv() {
  return {
      .name = "FusedConv",
      .domain = "com.microsoft",
      .since = {1},
      .inputs = {{"X", kFloats},
                 {"W", kFloats, InputSpec::Required, 0},
                 {"B", kFloats, InputSpec::Optional, 0},
                 {"Z", kFloats, InputSpec::Optional, 0}},
      .attributes = convolution_attributes({{"activation", AttrKind::String}, {"activation_params", AttrKind::Floats}}),
      .infer = infer_defined<define_fused_conv>,
      .meaning = defined<define_fused_conv>};
}

}  // namespace cameo::ops
