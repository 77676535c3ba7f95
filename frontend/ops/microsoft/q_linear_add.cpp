// QLinearAdd: the sum of two quantised tensors, quantised.
#include "frontend/ops/microsoft/quantized.h"

namespace cameo::ops {
namespace {
Composite define_q_linear_add(const NodeView& n) { return quantized_binary(n, "Add"); }
}  // namespace

Operator declare_microsoft_q_linear_add() {
  return {.name = "QLinearAdd",
          .domain = "com.microsoft",
          .since = {1},
          .inputs = binary_inputs(),
          .outputs = {{"C"}},
          .infer = infer_defined<define_q_linear_add>,
          .meaning = defined<define_q_linear_add>};
}

}  // namespace cameo::ops
