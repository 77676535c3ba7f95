// Attention of com.microsoft: queries, keys and values are one product of the input; keys and values of the past stand
// before them, in one tensor.
#include "frontend/ops/microsoft/projected_attention.h"

namespace cameo::ops {
namespace {

Composite define_attention(const NodeView& n) {
  enum Input { X, Weights, Bias, Mask, Past, AttentionBias, PastLength };
  check_rank(n, X, {3}, "[batch, sequence, hidden]");
  check_rank(n, Weights, {2}, "[hidden, those of queries, keys and values]");
  if (n.has(PastLength)) refuse(n, "with `past_sequence_length`");
  const Dim all = n.dim(Weights, 1);
  check_heads(n, Weights, {1});
  std::vector<int64_t> sizes(3, all.value() / 3);
  if (n.has_attr("qkv_hidden_sizes")) sizes = n.attr_ints("qkv_hidden_sizes");
  if (sizes.size() != 3 || sizes[0] + sizes[1] + sizes[2] != all.value())
    n.fail(Code::E0302, fmt::format("`weights` is {}: no queries, keys and values", to_string(n.type(Weights))));
  Build b(n);
  ValueId qkv = b.matmul(b.in(X), b.in(Weights));
  if (b.in(Bias)) qkv = b.add(qkv, b.in(Bias));
  return projected_attention(n, b, qkv, sizes, {Mask, Past, AttentionBias});
}

}  // namespace

Operator declare_microsoft_attention() {
  constexpr DTypes kTypes{DType::f32, DType::f16, DType::bf16}, kMask{DType::i32};
  return {.name = "Attention",
          .domain = "com.microsoft",
          .since = {1},
          .inputs = {{"input", kTypes},
                     {"weights", kTypes, InputSpec::Required, 0},
                     {"bias", kTypes, InputSpec::Optional, 0},
                     {"mask_index", kMask, InputSpec::Optional},
                     {"past", kTypes, InputSpec::Optional, 0},
                     {"attention_bias", kTypes, InputSpec::Optional, 0},
                     {"past_sequence_length", kMask, InputSpec::Optional}},
          .outputs = {{"output"}, {"present", OutputSpec::Optional}},
          .attributes = {{"do_rotary", 0},
                         {"mask_filter_value", AttrKind::Float},
                         {"num_heads", AttrKind::Int},
                         {"past_present_share_buffer", 0},
                         {"qkv_hidden_sizes", AttrKind::Ints},
                         {"rotary_embedding_dim", AttrKind::Int},
                         {"scale", AttrKind::Float},
                         {"unidirectional", 0}},
          .infer = infer_defined<define_attention>,
          .meaning = defined<define_attention>};
}

}  // namespace cameo::ops
