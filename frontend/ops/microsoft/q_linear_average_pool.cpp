// QLinearAveragePool: AveragePool of a quantised image, quantised.
#include "frontend/ops/microsoft/quantized.h"

namespace cameo::ops {
namespace {
Composite define_q_linear_average_pool(const NodeView& n) {
  return quantized_pool(
      n, "AveragePool",
      attributes_of(n, {"auto_pad", "ceil_mode", "count_include_pad", "kernel_shape", "pads", "strides"}));
}
}  // namespace

Operator declare_microsoft_q_linear_average_pool() {
  return {.name = "QLinearAveragePool",
          .domain = "com.microsoft",
          .since = {1},
          .inputs = unary_inputs(),
          .attributes = {{"auto_pad", "NOTSET"},
                         {"ceil_mode", 0},
                         {"channels_last", 0},
                         {"count_include_pad", 0},
                         {"kernel_shape", AttrKind::Ints},
                         {"pads", AttrKind::Ints},
                         {"strides", AttrKind::Ints}},
          .infer = infer_defined<define_q_linear_average_pool>,
          .meaning = defined<define_q_linear_average_pool>};
}

}  // namespace cameo::ops
