// BiasGelu: Gelu of the sum of a tensor and a bias.
#include "frontend/ops/defined.h"

namespace cameo::ops {
namespace {

Composite define_bias_gelu(const NodeView& n) {
  Build b(n);
  return b.outputs({b.op("Gelu", {b.add(b.in(0), b.in(1))})});
}

}  // namespace

Operator declare_microsoft_bias_gelu() {
  return {.name = "BiasGelu",
          .domain = "com.microsoft",
          .since = {1},
          .inputs = {{"A", kFloats}, {"B", kFloats, InputSpec::Required, 0}},
          .outputs = {{"C"}},
          .infer = infer_defined<define_bias_gelu>,
          .meaning = defined<define_bias_gelu>};
}

}  // namespace cameo::ops
