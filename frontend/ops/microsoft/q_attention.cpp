// QAttention: Attention of com.microsoft whose projection is a product of 8-bit integers.
#include "frontend/ops/microsoft/projected_attention.h"
#include "frontend/ops/microsoft/scaled_product.h"

namespace cameo::ops {
namespace {

Composite define_q_attention(const NodeView& n) {
  enum Input { X, Weights, Bias, XScale, WeightScale, Mask, XZero, WeightZero, Past };
  check_rank(n, X, {3}, "[batch, sequence, hidden]");
  check_rank(n, Weights, {2}, "[hidden, those of queries, keys and values]");
  const Dim all = n.dim(Weights, 1);
  check_heads(n, Weights, {1});
  const std::vector<int64_t> sizes(3, all.value() / 3);
  Build b(n);
  const ValueId qkv = scaled_product(b, {b.in(X), b.in(XScale), b.in(XZero)},
                                     {b.in(Weights), b.in(WeightScale), b.in(WeightZero)}, b.in(Bias));
  return projected_attention(n, b, qkv, sizes, {Mask, Past, -1});
}

}  // namespace

Operator declare_microsoft_q_attention() {
  constexpr DTypes kTypes{DType::f32, DType::f16};
  return {.name = "QAttention",
          .domain = "com.microsoft",
          .since = {1},
          .inputs = {{"input", kQuantized},
                     {"weight", kQuantized},
                     {"bias", kTypes},
                     {"input_scale", kTypes, InputSpec::Required, 2},
                     {"weight_scale", kTypes, InputSpec::Required, 2},
                     {"mask_index", DTypes(DType::i32), InputSpec::Optional},
                     {"input_zero_point", kQuantized, InputSpec::Optional, 0},
                     {"weight_zero_point", kQuantized, InputSpec::Optional, 1},
                     {"past", kTypes, InputSpec::Optional, 2}},
          .outputs = {{"output"}, {"present", OutputSpec::Optional}},
          .attributes = {{"do_rotary", 0},
                         {"mask_filter_value", AttrKind::Float},
                         {"num_heads", AttrKind::Int},
                         {"past_present_share_buffer", 0},
                         {"scale", AttrKind::Float},
                         {"unidirectional", 0}},
          .infer = infer_defined<define_q_attention>,
          .meaning = defined<define_q_attention>};
}

}  // namespace cameo::ops
