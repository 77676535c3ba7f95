// Trilu: com.microsoft's name for ai.onnx's.
#include "frontend/ops/defined.h"

namespace cameo::ops {
namespace {

Composite define_trilu(const NodeView& n) {
  Build b(n);
  return b.outputs({b.op("Trilu", {b.in(0), b.in(1)}, n.node().attrs)});
}

}  // namespace

Operator declare_microsoft_trilu() {
  return {.name = "Trilu",
          .domain = "com.microsoft",
          .since = {1},
          .inputs = {{"X"}, {"k", kInt64, InputSpec::Optional}},
          .attributes = {{"upper", 1}},
          .infer = infer_defined<define_trilu>,
          .meaning = defined<define_trilu>};
}

}  // namespace cameo::ops
