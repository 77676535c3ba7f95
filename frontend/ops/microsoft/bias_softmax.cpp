// BiasSoftmax: softmax of the sum of a tensor and a bias that broadcasts to it, over all axes from `axis` on.
#include "frontend/ops/defined.h"
#include "frontend/ops/normalize.h"

namespace cameo::ops {
namespace {

Composite define_bias_softmax(const NodeView& n) {
  Build b(n);
  check_broadcasts(n, 1);
  const Operator& softmax = get_operator("Softmax");
  const ValueId x = b.add(b.in(0), b.in(1));
  return b.outputs({b.graph().add(softmax, {x}, {{"axis", n.attr_int("axis")}}, {}, version_at(softmax, 12))[0]});
}

}  // namespace

Operator declare_microsoft_bias_softmax() {
  return {.name = "BiasSoftmax",
          .domain = "com.microsoft",
          .since = {1},
          .inputs = {{"data", kFloats}, {"bias", kFloats, InputSpec::Required, 0}},
          .outputs = {{"output"}},
          .attributes = {{"axis", 1}, {"is_inner_broadcast", AttrKind::Int}},
          .infer = infer_defined<define_bias_softmax>,
          .meaning = defined<define_bias_softmax>};
}

}  // namespace cameo::ops
