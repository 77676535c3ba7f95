// SkipLayerNormalization: LayerNormalization of the sum of a tensor, another one and a bias; the sum is an output too.
#include "frontend/ops/microsoft/skipped.h"

namespace cameo::ops {
namespace {

Composite define_skip_layer_normalization(const NodeView& n) {
  enum Input { X, Skip, Gamma, Beta, Bias };
  Build b(n);
  const ValueId sum = skipped_sum(n, b, Bias);
  const std::vector<ValueId> y = b.ops("LayerNormalization", {sum, b.in(Gamma), b.in(Beta)},
                                       {{"axis", int64_t{-1}}, {"epsilon", n.attr_float("epsilon")}}, 3);
  return b.outputs({y[0], y[1], y[2], sum});
}

}  // namespace

Operator declare_microsoft_skip_layer_normalization() {
  return {.name = "SkipLayerNormalization",
          .domain = "com.microsoft",
          .since = {1},
          .inputs = {{"input", kSkipTypes},
                     {"skip", kSkipTypes, InputSpec::Required, 0},
                     {"gamma", kSkipTypes, InputSpec::Required, 0},
                     {"beta", kSkipTypes, InputSpec::Optional, 0},
                     {"bias", kSkipTypes, InputSpec::Optional, 0}},
          .outputs = {{"output"},
                      {"mean", OutputSpec::Optional},
                      {"inv_std_var", OutputSpec::Optional},
                      {"input_skip_bias_sum", OutputSpec::Optional}},
          .attributes = {{"epsilon", 1e-12f}},
          .infer = infer_defined<define_skip_layer_normalization>,
          .meaning = defined<define_skip_layer_normalization>};
}

}  // namespace cameo::ops
