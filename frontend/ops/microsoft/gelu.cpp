// Gelu: x times the normal distribution function of x; com.microsoft's name for ai.onnx's.
#include "frontend/ops/defined.h"

namespace cameo::ops {
namespace {

Composite define_gelu(const NodeView& n) {
  Build b(n);
  return b.outputs({b.op("Gelu", {b.in(0)})});
}

}  // namespace

Operator declare_microsoft_gelu() {
  return {.name = "Gelu",
          .domain = "com.microsoft",
          .since = {1},
          .inputs = {{"X", kFloats}},
          .infer = infer_defined<define_gelu>,
          .meaning = defined<define_gelu>};
}

}  // namespace cameo::ops
