// BiasAdd: the sum of a tensor, a bias of its channels and another tensor.
#include "frontend/ops/defined.h"

namespace cameo::ops {
namespace {

Composite define_bias_add(const NodeView& n) {
  Build b(n);
  return b.outputs({b.add(b.add(b.in(0), b.in(1)), b.in(2))});
}

}  // namespace

Operator declare_microsoft_bias_add() {
  return {
      .name = "BiasAdd",
      .domain = "com.microsoft",
      .since = {1},
      .inputs = {{"X", kFloats}, {"bias", kFloats, InputSpec::Required, 0}, {"skip", kFloats, InputSpec::Required, 0}},
      .infer = infer_defined<define_bias_add>,
      .meaning = defined<define_bias_add>};
}

}  // namespace cameo::ops
