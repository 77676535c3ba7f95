// What operators over sequences share: extents as values, positions, and masks that are added to the scores of
// Attention.
#pragma once
#include <fmt/format.h>

#include "frontend/ops/defined.h"

namespace cameo::ops {

/// An extent as an i64 scalar.
inline ValueId extent_of(Build& b, ValueId v, int axis) {
  const Dim d = b.type(v).shape[static_cast<size_t>(axis)];
  if (d.is_static()) return b.scalar(DType::i64, static_cast<double>(d.value()));
  return b.squeeze(b.slice(b.op("Shape", {v}), 0, axis, axis + 1), {0});
}
/// 0, 1 .. count - 1
inline ValueId positions(Build& b, ValueId count) {
  return b.op("Range", {b.scalar(DType::i64, 0), count, b.scalar(DType::i64, 1)});
}

/// Heads and their sizes are numbers.
inline void check_heads(const NodeView& n, int input, std::initializer_list<int> axes) {
  for (int axis : axes)
    if (n.has(input) && !n.dim(input, axis).is_static())
      n.fail(Code::E0404, "heads and their size must be known when compiling");
}

/// [batch, sequence, heads, size] to [batch, sequence, heads * size].
inline ValueId joined_heads(Build& b, ValueId x) { return b.reshape(x, {0, 0, -1}); }

/// 0 for keys that may be looked at and `fill` for others, [batch, 1, queries or 1, keys], from the mask of input
/// `mask`, which is a bool a key, [batch, keys] or [batch, queries, keys], or the number of keys of each sequence.
/// Behind all of these may stand where they begin, or 2 * batch + 2 sums of lengths, which say nothing new: ONNX
/// Runtime's CPU kernels do not read these.
inline ValueId key_mask(const NodeView& n, Build& b, int mask, const Dim& batch, ValueId keys, DType type,
                        double fill) {
  ValueId m = b.in(mask), allowed;
  const Dim count = n.dim(mask, 0);
  if (n.rank(mask) == 1) {
    const ValueId at = b.cast(b.unsqueeze(positions(b, keys), {0}), DType::i32);
    const bool alone = count == batch, begins = !alone && count == batch * Dim(2);
    const bool sums = count == batch * Dim(3) + Dim(2);
    if (!alone && !begins && !sums && !(count.is_static() && batch.is_static()))
      n.fail(Code::E0404, "how many numbers a mask has of each sequence must be known when compiling");
    if (!alone && !begins && !sums)
      refuse(n, fmt::format("with a mask of {} for {} sequences", to_string(n.type(mask)), to_string(batch)));
    const int64_t length = batch.is_static() ? batch.value() : -1;
    if (!alone && length < 0) n.fail(Code::E0404, "how many sequences there are must be known when compiling");
    const ValueId ends = alone ? m : b.slice(m, 0, 0, length);
    allowed = b.op("Less", {at, b.unsqueeze(ends, {1})});
    if (begins)
      allowed =
          b.op("And", {allowed, b.op("GreaterOrEqual", {at, b.unsqueeze(b.slice(m, 0, length, INT64_MAX), {1})})});
  } else {
    check_rank(n, mask, {2, 3}, "[batch], [batch, keys] or [batch, queries, keys]");
    allowed = b.op("Greater", {m, b.scalar(DType::i32, 0)});
  }
  allowed = b.unsqueeze(allowed, n.rank(mask) == 3 ? std::vector<int64_t>{1} : std::vector<int64_t>{1, 2});
  return b.op("Where", {allowed, b.scalar(type, 0), b.scalar(type, fill)});
}
inline ValueId both_masks(Build& b, ValueId one, ValueId other) {
  return !one ? other : !other ? one : b.add(one, other);
}

/// Attributes of Attention over heads that stand side by side; `scale` only where the node has one that is not 0.
inline Attrs attention_attributes(const NodeView& n, int64_t heads, int64_t groups, bool causal) {
  Attrs attrs{{"q_num_heads", heads}, {"kv_num_heads", groups}};
  if (causal) attrs.emplace("is_causal", int64_t{1});
  if (n.has_attr("scale") && n.attr_float("scale") != 0) attrs.emplace("scale", n.attr_float("scale"));
  return attrs;
}

}  // namespace cameo::ops
