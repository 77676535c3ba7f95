// MultiHeadAttention: Attention of queries, keys and values that stand apart, or together in one tensor; a bias is
// added to them first.
#include "frontend/ops/microsoft/sequences.h"

namespace cameo::ops {
namespace {

struct OfHeads {
  enum Input { Query, Key, Value, Bias, Mask, AttentionBias, PastKey, PastValue, PastLength, Beams };
};

struct HeadsApart {
  ValueId q, k, v;  // [batch, sequence, heads * size]
};

/// Part `i` of the axis before the last one of [batch, sequence, heads, parts, size].
ValueId packed_part(Build& b, ValueId x, int64_t i) { return joined_heads(b, b.squeeze(b.slice(x, 3, i, i + 1), {3})); }
/// [batch, heads, keys, size] as well as [batch, keys, heads * size].
ValueId flat_keys(Build& b, ValueId x) {
  return b.type(x).rank() == 4 ? joined_heads(b, b.transpose(x, {0, 2, 1, 3})) : x;
}

/// Heads and their size are numbers, at the axes that the rank says.
void check_axes_of_heads(const NodeView& n, int input) {
  if (!n.has(input)) return;
  if (n.rank(input) == 3) check_heads(n, input, {2});
  if (n.rank(input) == 4) check_heads(n, input, {1, 3});
  if (n.rank(input) == 5) check_heads(n, input, {2, 4});
}

HeadsApart heads_apart(const NodeView& n, Build& b) {
  for (int i : {OfHeads::Query, OfHeads::Key, OfHeads::Value, OfHeads::PastKey, OfHeads::PastValue})
    check_axes_of_heads(n, i);
  check_rank(n, OfHeads::Query, {3, 5}, "[batch, sequence, hidden] or [batch, sequence, heads, 3, size]");
  if (n.rank(OfHeads::Query) == 5)
    return {packed_part(b, b.in(OfHeads::Query), 0), packed_part(b, b.in(OfHeads::Query), 1),
            packed_part(b, b.in(OfHeads::Query), 2)};
  if (!n.has(OfHeads::Key)) n.fail(Code::E0203, "`key` is missing");
  check_rank(n, OfHeads::Key, {3, 4, 5},
             "[batch, keys, hidden], [batch, heads, keys, size] or [batch, keys, heads, 2, size]");
  if (n.rank(OfHeads::Key) == 5)
    return {b.in(OfHeads::Query), packed_part(b, b.in(OfHeads::Key), 0), packed_part(b, b.in(OfHeads::Key), 1)};
  if (!n.has(OfHeads::Value)) n.fail(Code::E0203, "`value` is missing");
  check_rank(n, OfHeads::Value, {3, 4}, "[batch, keys, hidden] or [batch, heads, keys, size]");
  return {b.in(OfHeads::Query), flat_keys(b, b.in(OfHeads::Key)), flat_keys(b, b.in(OfHeads::Value))};
}

/// Each of the three has its part of the bias added, but for keys and values that come as [batch, heads, keys, size]:
/// these are taken as they are, as ONNX Runtime has it.
void add_bias(const NodeView& n, Build& b, HeadsApart& h) {
  int64_t begin = 0;
  for (const auto& [input, x] : {std::pair(OfHeads::Query, &h.q), {OfHeads::Key, &h.k}, {OfHeads::Value, &h.v}}) {
    const int64_t first = begin;
    begin += b.type(*x).shape.back().value();
    if (n.has(input) && n.rank(input) == 4) continue;
    *x = b.add(*x, b.slice(b.in(OfHeads::Bias), 0, first, begin));
  }
  check_shape(n, OfHeads::Bias, {begin}, "the biases of queries, keys and values");
}

Composite define_multi_head_attention(const NodeView& n) {
  if (n.has(OfHeads::PastLength) || n.has(OfHeads::Beams))
    refuse(n, "with `past_sequence_length` or `cache_indirection`");
  Build b(n);
  HeadsApart h = heads_apart(n, b);
  for (int past : {OfHeads::PastKey, OfHeads::PastValue}) check_rank(n, past, {4}, "[batch, heads, past, size]");
  if (b.in(OfHeads::Bias)) add_bias(n, b, h);
  ValueId mask, keys = extent_of(b, h.k, 1);
  if (b.in(OfHeads::PastKey)) keys = b.add(keys, extent_of(b, b.in(OfHeads::PastKey), 2));
  if (b.in(OfHeads::Mask))
    mask = key_mask(n, b, OfHeads::Mask, n.dim(OfHeads::Query, 0), keys, n.dtype(OfHeads::Query),
                    n.has_attr("mask_filter_value") ? n.attr_float("mask_filter_value") : -10000);
  mask = both_masks(b, mask, b.in(OfHeads::AttentionBias));
  const int64_t heads = count_attr(n, "num_heads");
  const std::vector<ValueId> y =
      b.ops("Attention", {h.q, h.k, h.v, mask, b.in(OfHeads::PastKey), b.in(OfHeads::PastValue)},
            attention_attributes(n, heads, heads, n.attr_int("unidirectional")), 3);
  return b.outputs({y[0], y[1], y[2]});
}

}  // namespace

Operator declare_microsoft_multi_head_attention() {
  constexpr DTypes kTypes{DType::f32, DType::f16, DType::bf16}, kInts{DType::i32};
  return {.name = "MultiHeadAttention",
          .domain = "com.microsoft",
          .since = {1},
          .inputs = {{"query", kTypes},
                     {"key", kTypes, InputSpec::Optional, 0},
                     {"value", kTypes, InputSpec::Optional, 0},
                     {"bias", kTypes, InputSpec::Optional, 0},
                     {"key_padding_mask", kInts, InputSpec::Optional},
                     {"attention_bias", kTypes, InputSpec::Optional, 0},
                     {"past_key", kTypes, InputSpec::Optional, 0},
                     {"past_value", kTypes, InputSpec::Optional, 0},
                     {"past_sequence_length", kInts, InputSpec::Optional},
                     {"cache_indirection", kInts, InputSpec::Optional}},
          .outputs = {{"output"},
                      {"present_key", OutputSpec::Optional},
                      {"present_value", OutputSpec::Optional},
                      {"qk", OutputSpec::Optional}},
          .attributes = {{"mask_filter_value", AttrKind::Float},
                         {"num_heads", AttrKind::Int},
                         {"scale", AttrKind::Float},
                         {"unidirectional", 0}},
          .infer = infer_defined<define_multi_head_attention>,
          .meaning = defined<define_multi_head_attention>};
}

}  // namespace cameo::ops
