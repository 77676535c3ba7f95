// QLinearLeakyRelu: LeakyRelu of a quantised tensor, quantised.
#include "frontend/ops/microsoft/quantized.h"

namespace cameo::ops {
namespace {
Composite define_q_linear_leaky_relu(const NodeView& n) {
  return quantized_unary(n, "LeakyRelu", {{"alpha", n.attr_float("alpha")}});
}
}  // namespace

Operator declare_microsoft_q_linear_leaky_relu() {
  return {.name = "QLinearLeakyRelu",
          .domain = "com.microsoft",
          .since = {1},
          .inputs = unary_inputs(),
          .attributes = {{"alpha", 0.01f}},
          .infer = infer_defined<define_q_linear_leaky_relu>,
          .meaning = defined<define_q_linear_leaky_relu>};
}

}  // namespace cameo::ops
