// QLinearSoftmax: Softmax of a quantised tensor, quantised; `opset` says which version's: before 13 it is over all axes
// from `axis` on.
#include "frontend/ops/microsoft/quantized.h"

namespace cameo::ops {
namespace {

Composite define_q_linear_softmax(const NodeView& n) {
  Build b(n);
  const Operator& softmax = get_operator("Softmax");
  const int version = version_at(softmax, static_cast<int>(std::clamp<int64_t>(n.attr_int("opset"), 1, 1000)));
  const ValueId y = b.graph().add(softmax, {dequantized(b, 0, 1, 2)}, {{"axis", n.attr_int("axis")}}, {}, version)[0];
  return b.outputs({quantized(n, b, y, 3, 4, n.dtype())});
}

}  // namespace

Operator declare_microsoft_q_linear_softmax() {
  return {.name = "QLinearSoftmax",
          .domain = "com.microsoft",
          .since = {1},
          .inputs = unary_inputs(),
          .attributes = {{"axis", -1}, {"opset", AttrKind::Int}},
          .infer = infer_defined<define_q_linear_softmax>,
          .meaning = defined<define_q_linear_softmax>};
}

}  // namespace cameo::ops
