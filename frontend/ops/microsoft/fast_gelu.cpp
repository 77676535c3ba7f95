// FastGelu: the tanh approximation of Gelu, of x plus a bias.
#include "frontend/ops/defined.h"

namespace cameo::ops {
namespace {

Composite define_fast_gelu(const NodeView& n) {
  Build b(n);
  const ValueId x = b.in(1) ? b.add(b.in(0), b.in(1)) : b.in(0);
  return b.outputs({b.op("Gelu", {x}, {{"approximate", "tanh"}})});
}

}  // namespace

Operator declare_microsoft_fast_gelu() {
  return {.name = "FastGelu",
          .domain = "com.microsoft",
          .since = {1},
          .inputs = {{"X", kFloats}, {"bias", kFloats, InputSpec::Optional, 0}},
          .infer = infer_defined<define_fast_gelu>,
          .meaning = defined<define_fast_gelu>};
}

}  // namespace cameo::ops
