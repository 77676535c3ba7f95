// QLinearMul: the product, element by element, of two quantised tensors, quantised.
#include "frontend/ops/microsoft/quantized.h"

namespace cameo::ops {
namespace {
Composite define_q_linear_mul(const NodeView& n) { return quantized_binary(n, "Mul"); }
}  // namespace

Operator declare_microsoft_q_linear_mul() {
  return {.name = "QLinearMul",
          .domain = "com.microsoft",
          .since = {1},
          .inputs = binary_inputs(),
          .outputs = {{"C"}},
          .infer = infer_defined<define_q_linear_mul>,
          .meaning = defined<define_q_linear_mul>};
}

}  // namespace cameo::ops
