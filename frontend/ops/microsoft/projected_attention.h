// Attention over a projection of its input to queries, keys and values, for Attention and QAttention of com.microsoft.
#pragma once
#include "frontend/ops/microsoft/sequences.h"

namespace cameo::ops {

/// The inputs by number that both operators have at places of their own; -1: none.
struct ProjectedInputs {
  int mask, past, bias;
};

inline void check_attention_attributes(const NodeView& n) {
  for (std::string_view name : {"do_rotary", "past_present_share_buffer"})
    if (n.attr_int(name)) refuse(n, fmt::format("with `{}`", name));
}

/// `qkv`: [batch, sequence, queries' + keys' + values' elements], of these `sizes`.
inline Composite projected_attention(const NodeView& n, Build& b, ValueId qkv, std::span<const int64_t> sizes,
                                     const ProjectedInputs& in) {
  check_attention_attributes(n);
  const int64_t heads = count_attr(n, "num_heads");
  std::vector<ValueId> parts;
  int64_t begin = 0;
  for (int64_t size : sizes) parts.push_back(b.slice(qkv, 2, begin, begin + size)), begin += size;
  const auto past = [&](int64_t i) { return b.squeeze(b.slice(b.in(in.past), 0, i, i + 1), {0}); };
  ValueId mask, keys = extent_of(b, qkv, 1), past_key, past_value;
  if (b.in(in.past)) {
    check_rank(n, in.past, {5}, "[2, batch, heads, past, size]");
    check_heads(n, in.past, {2, 4});
    past_key = past(0), past_value = past(1);
    keys = b.add(keys, extent_of(b, past_key, 2));
  }
  const DType type = b.type(qkv).dtype;
  if (b.in(in.mask))
    mask = key_mask(n, b, in.mask, b.type(qkv).shape[0], keys, type,
                    n.has_attr("mask_filter_value") ? n.attr_float("mask_filter_value") : -10000);
  mask = both_masks(b, mask, in.bias < 0 ? ValueId{} : b.in(in.bias));
  const std::vector<ValueId> y = b.ops("Attention", {parts[0], parts[1], parts[2], mask, past_key, past_value},
                                       attention_attributes(n, heads, heads, n.attr_int("unidirectional")), 3);
  if (sizes[1] != sizes[2]) return b.outputs({y[0]});  // keys and values are no one tensor
  return b.outputs({y[0], b.concat({b.unsqueeze(y[1], {0}), b.unsqueeze(y[2], {0})}, 0)});
}

}  // namespace cameo::ops
