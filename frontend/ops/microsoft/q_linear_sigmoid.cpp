// QLinearSigmoid: the logistic function of a quantised tensor, quantised.
#include "frontend/ops/microsoft/quantized.h"

namespace cameo::ops {
namespace {
Composite define_q_linear_sigmoid(const NodeView& n) { return quantized_unary(n, "Sigmoid"); }
}  // namespace

Operator declare_microsoft_q_linear_sigmoid() {
  return {.name = "QLinearSigmoid",
          .domain = "com.microsoft",
          .since = {1},
          .inputs = unary_inputs(),
          .infer = infer_defined<define_q_linear_sigmoid>,
          .meaning = defined<define_q_linear_sigmoid>};
}

}  // namespace cameo::ops
