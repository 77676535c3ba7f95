// Pad: ai.onnx's, its amounts in one row or two axes.
#include "frontend/ops/defined.h"

namespace cameo::ops {
namespace {

Composite define_pad(const NodeView& n) {
  Build b(n);
  const ValueId value = b.in(2) ? b.reshape(b.in(2), {}) : ValueId{};
  return b.outputs({b.op("Pad", {b.in(0), b.reshape(b.in(1), {-1}), value}, {{"mode", n.attr_string("mode")}})});
}

}  // namespace

Operator declare_microsoft_pad() {
  return {.name = "Pad",
          .domain = "com.microsoft",
          .since = {1},
          .inputs = {{"data", kFloats}, {"pads", kInt64}, {"value", kFloats, InputSpec::Optional, 0}},
          .outputs = {{"output"}},
          .attributes = {{"mode", "constant"}},
          .infer = infer_defined<define_pad>,
          .meaning = defined<define_pad>};
}

}  // namespace cameo::ops
