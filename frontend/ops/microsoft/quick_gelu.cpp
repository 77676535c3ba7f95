// QuickGelu: x * sigmoid(alpha * x).
#include "frontend/ops/defined.h"

namespace cameo::ops {
namespace {

Composite define_quick_gelu(const NodeView& n) {
  Build b(n);
  const ValueId x = b.in(0), slope = b.mul(x, b.like(x, n.attr_float("alpha")));
  return b.outputs({b.mul(x, b.op("Sigmoid", {slope}))});
}

}  // namespace

Operator declare_microsoft_quick_gelu() {
  return {.name = "QuickGelu",
          .domain = "com.microsoft",
          .since = {1},
          .inputs = {{"X", kFloats}},
          .attributes = {{"alpha", 1.702f}},
          .infer = infer_defined<define_quick_gelu>,
          .meaning = defined<define_quick_gelu>};
}

}  // namespace cameo::ops
