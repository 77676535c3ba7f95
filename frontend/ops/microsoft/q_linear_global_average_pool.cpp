// QLinearGlobalAveragePool: the mean over the spatial axes of a quantised image, quantised.
#include "frontend/ops/microsoft/quantized.h"

namespace cameo::ops {
namespace {
Composite define_q_linear_global_average_pool(const NodeView& n) { return quantized_pool(n, "GlobalAveragePool"); }
}  // namespace

Operator declare_microsoft_q_linear_global_average_pool() {
  return {.name = "QLinearGlobalAveragePool",
          .domain = "com.microsoft",
          .since = {1},
          .inputs = unary_inputs(),
          .attributes = {{"channels_last", 0}},
          .infer = infer_defined<define_q_linear_global_average_pool>,
          .meaning = defined<define_q_linear_global_average_pool>};
}

}  // namespace cameo::ops
