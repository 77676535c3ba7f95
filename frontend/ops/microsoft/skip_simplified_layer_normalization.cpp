// SkipSimplifiedLayerNormalization: RMSNormalization of the sum of a tensor, another one and a bias; the sum is an
// output too.
#include "frontend/ops/microsoft/skipped.h"

namespace cameo::ops {
namespace {

Composite define_skip_simplified_layer_normalization(const NodeView& n) {
  enum Input { X, Skip, Gamma, Bias };
  Build b(n);
  const double epsilon = n.attr_float("epsilon");
  const ValueId sum = skipped_sum(n, b, Bias), wide = b.cast(sum, DType::f32);
  const ValueId y = b.op("RMSNormalization", {sum, b.in(Gamma)}, {{"axis", int64_t{-1}}, {"epsilon", epsilon}});
  const ValueId mean = b.reduce("ReduceMean", wide, {-1});
  return b.outputs({y, mean, inverse_root(b, wide, n.rank() - 1, epsilon), sum});
}

}  // namespace

Operator declare_microsoft_skip_simplified_layer_normalization() {
  return {.name = "SkipSimplifiedLayerNormalization",
          .domain = "com.microsoft",
          .since = {1},
          .inputs = {{"input", kSkipTypes},
                     {"skip", kSkipTypes, InputSpec::Required, 0},
                     {"gamma", kSkipTypes, InputSpec::Required, 0},
                     {"bias", kSkipTypes, InputSpec::Optional, 0}},
          .outputs = {{"output"},
                      {"mean", OutputSpec::Optional},
                      {"inv_std_var", OutputSpec::Optional},
                      {"input_skip_bias_sum", OutputSpec::Optional}},
          .attributes = {{"epsilon", 1e-12f}},
          .infer = infer_defined<define_skip_simplified_layer_normalization>,
          .meaning = defined<define_skip_simplified_layer_normalization>};
}

}  // namespace cameo::ops
