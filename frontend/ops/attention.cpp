// Attention: softmax(Q K^T * scale + mask) V for heads that may share keys (grouped), with a cache before the keys.
// Everything that disallows a key is a condition and puts -inf there; a row without any key gives zeros.
// Grouped heads stand as [batch, key heads, queries a key head, ..], so that no key is copied.
#include <cmath>
#include <numeric>

#include "frontend/ir/build.h"
#include "frontend/ops/window.h"

namespace cameo::ops {
namespace {

enum Input { Q, K, V, Mask, PastKey, PastValue, Valid };

struct AttentionShape {
  bool flat = false;  // [batch, sequence, heads * size]
  Dim batch, heads, groups, queries, keys, size, value_size, past = 0;
  Dim total() const { return past + keys; }
};

AttentionShape attention_shape(const NodeView& n) {
  int rank = n.rank(Q);
  if ((rank != 3 && rank != 4) || n.rank(K) != rank || n.rank(V) != rank)
    n.fail(Code::E0302, fmt::format("Q is {}, K {} and V {}: ranks of 3 or 4 are needed", to_string(n.type(Q)),
                                    to_string(n.type(K)), to_string(n.type(V))));
  AttentionShape s;
  s.flat = rank == 3;
  s.batch = n.dim(Q, 0);
  s.queries = n.dim(Q, -2);
  s.keys = n.dim(K, -2);
  if (s.flat) {
    if (!n.has_attr("q_num_heads") || !n.has_attr("kv_num_heads"))
      n.fail(Code::E0204, "`q_num_heads` and `kv_num_heads` are missing for inputs of rank 3");
    s.heads = count_attr(n, "q_num_heads"), s.groups = count_attr(n, "kv_num_heads");
  } else {
    s.heads = n.dim(Q, 1), s.groups = n.dim(K, 1);
  }
  s.size = s.flat ? n.dim(Q, -1) / s.heads : n.dim(Q, -1);
  s.value_size = s.flat ? n.dim(V, -1) / s.groups : n.dim(V, -1);
  if (!s.heads.is_static() || !s.groups.is_static() || !s.size.is_static())
    n.fail(Code::E0404, fmt::format("Q is {} and K {}: heads and their size must be known when compiling",
                                    to_string(n.type(Q)), to_string(n.type(K))));
  if (s.groups.value() ? s.heads.value() % s.groups.value() : s.heads.value())
    n.fail(Code::E0302, fmt::format("{} query heads over {} key heads", s.heads.value(), s.groups.value()));
  if (n.has(PastKey) != n.has(PastValue)) n.fail(Code::E0203, "`past_key` and `past_value` go together");
  if (n.has(PastKey)) s.past = n.rank(PastKey) == 4 ? n.dim(PastKey, 2) : Dim(0);
  return s;
}

/// K, V, the cache and the mask against Q.
void check_operands(const NodeView& n, const AttentionShape& s) {
  auto flat_or_not = [&](const Dim& heads, const Dim& length, const Dim& size) {
    return s.flat ? Shape{s.batch, length, heads * size} : Shape{s.batch, heads, length, size};
  };
  check_shape(n, Q, flat_or_not(s.heads, s.queries, s.size), "whole heads");
  check_shape(n, K, flat_or_not(s.groups, s.keys, s.size), "the batch and head size of Q");
  check_shape(n, V, flat_or_not(s.groups, s.keys, s.value_size), "the batch of Q, the heads and length of K");
  check_shape(n, PastKey, {s.batch, s.groups, s.past, s.size}, "keys of the same batch, heads and head size");
  check_shape(n, PastValue, {s.batch, s.groups, s.past, s.value_size}, "values as long as the keys");
  check_shape(n, Valid, {s.batch}, "one length a sequence");
  if (!n.has(Mask)) return;
  if (n.rank(Mask) < 1) n.fail(Code::E0302, "`attn_mask` is a scalar");
  Shape all{s.batch, s.heads, s.queries, s.total()}, mask = n.shape(Mask);
  mask.back() = all.back();  // a shorter one disallows what lies behind it
  Shape shapes[] = {all, mask};
  Shape both = infer::broadcast_shapes(n, shapes);
  bool fits = both.size() == all.size();
  for (size_t d = 0; fits && d < all.size(); ++d) fits = n.agree(both[d], all[d]);
  if (!fits)
    n.fail(Code::E0302,
           fmt::format("`attn_mask` is {} for scores of shape {}", to_string(n.type(Mask)), to_string(all)));
}

void infer_attention(Infer& n) {
  AttentionShape s = attention_shape(n);
  check_operands(n, s);
  n.output(
      0, n.dtype(Q),
      s.flat ? Shape{s.batch, s.queries, s.heads * s.value_size} : Shape{s.batch, s.heads, s.queries, s.value_size});
  n.output(1, n.dtype(K), {s.batch, s.groups, s.total(), s.size});
  n.output(2, n.dtype(V), {s.batch, s.groups, s.total(), s.value_size});
  n.output(3, n.dtype(Q), {s.batch, s.heads, s.queries, s.total()});
}

class Attention {
 public:
  explicit Attention(const MeaningView& n)
      : n_(n), s_(attention_shape(n)), b_(n), type_(accumulator(n.dtype(Q))), shared_(s_.heads != s_.groups) {
    wide_ = type_;
    if (n.has_attr("softmax_precision") && n.attr_int("softmax_precision") == static_cast<int>(DType::f64))
      wide_ = DType::f64;
  }

  Meaning meaning() {
    ValueId q = heads(b_.in(Q), s_.heads), k = cached(K, PastKey), v = cached(V, PastValue);
    ValueId present_k = k, present_v = v;
    if (shared_) {
      q = split_heads(q);
      k = b_.unsqueeze(k, {2}), v = b_.unsqueeze(v, {2});
    }
    std::vector<int64_t> perm(b_.type(k).rank());
    std::iota(perm.begin(), perm.end(), 0);
    std::swap(perm[perm.size() - 1], perm[perm.size() - 2]);
    ValueId raw = b_.matmul(b_.cast(q, type_), b_.transpose(b_.cast(k, type_), perm));
    raw = b_.mul(raw, b_.like(raw, scale()));
    ValueId capped = soft_cap(raw), biased = with_bias(capped), weights = softmax(biased);
    ValueId y = b_.matmul(b_.cast(weights, type_), b_.cast(v, type_));
    ValueId stages[] = {raw, capped, biased, weights};
    int64_t mode = n_.attr_int("qk_matmul_output_mode");
    if (mode < 0 || mode > 3) n_.fail(Code::E0204, fmt::format("`qk_matmul_output_mode` is {}", mode));
    ValueId shown = stages[mode];
    if (n_.output_count() > 3) shown = b_.cast(join_heads(shown), n_.dtype(Q));
    return b_.outputs({finish(y), b_.cast(present_k, n_.dtype(K)), b_.cast(present_v, n_.dtype(V)), shown});
  }

 private:
  int rank() const { return shared_ ? 5 : 4; }
  ValueId shape_part(ValueId v, int64_t begin, int64_t end) { return b_.slice(b_.op("Shape", {v}), 0, begin, end); }
  /// To the dims that stand in `parts`, one after the other; a 0 is a 0.
  ValueId reshaped(ValueId v, std::vector<ValueId> parts) {
    return b_.op("Reshape", {v, b_.concat(std::move(parts), 0)}, {{"allowzero", int64_t{1}}});
  }

  /// [batch, sequence, heads * size] to [batch, heads, sequence, size].
  ValueId heads(ValueId v, const Dim& count) {
    if (!s_.flat) return v;
    ValueId heads = b_.ints({count.value()}), size = b_.div(shape_part(v, 2, 3), heads);
    return b_.transpose(reshaped(v, {shape_part(v, 0, 2), heads, size}), {0, 2, 1, 3});
  }
  ValueId cached(Input now, Input past) {
    ValueId v = heads(b_.in(now), s_.groups);
    return b_.in(past) ? b_.concat({b_.in(past), v}, 2) : v;
  }
  /// [batch, heads, a, b] to [batch, groups, heads a group, a, b].
  ValueId split_heads(ValueId v) {
    ValueId middle = b_.ints({s_.groups.value(), s_.heads.value() / s_.groups.value()});
    return reshaped(v, {shape_part(v, 0, 1), middle, shape_part(v, 2, 4)});
  }
  ValueId join_heads(ValueId v) {
    if (!shared_) return v;
    return reshaped(v, {shape_part(v, 0, 1), b_.ints({s_.heads.value()}), shape_part(v, 3, 5)});
  }
  double scale() const {
    if (n_.has_attr("scale")) return n_.attr_float("scale");
    return 1 / std::sqrt(static_cast<double>(std::max<int64_t>(s_.size.value(), 1)));  // scores of no elements are 0
  }
  ValueId soft_cap(ValueId x) {
    double cap = n_.attr_float("softcap");
    if (cap == 0) return x;
    return b_.mul(b_.op("Tanh", {b_.div(x, b_.like(x, cap))}), b_.like(x, cap));
  }

  // ---- what is allowed ----
  ValueId both(ValueId a, ValueId b) { return !a ? b : !b ? a : b_.op("And", {a, b}); }
  ValueId length(ValueId of, int axis, const Dim& d) {
    if (d.is_static()) return b_.scalar(DType::i64, static_cast<double>(d.value()));
    return b_.squeeze(shape_part(of, axis, axis + 1), {0});
  }
  ValueId positions(ValueId count) {
    return b_.op("Range", {b_.scalar(DType::i64, 0), count, b_.scalar(DType::i64, 1)});
  }
  /// A number for each of the batch, [batch, 1, ..], to compare scores' positions with.
  ValueId valid_keys() {
    std::vector<int64_t> axes(rank() - 1);
    std::iota(axes.begin(), axes.end(), 1);
    return b_.unsqueeze(b_.in(Valid), axes);
  }

  /// The position among all keys that each query stands at, [queries, 1] or [batch, 1, .., queries, 1].
  ValueId query_positions(ValueId scores) {
    ValueId count = length(scores, rank() - 2, s_.queries), i = b_.unsqueeze(positions(count), {1});
    if (b_.in(PastKey)) return b_.add(i, length(b_.in(PastKey), 2, s_.past));
    if (b_.in(Valid)) return b_.add(i, b_.sub(valid_keys(), count));
    return i;
  }
  ValueId allowed(ValueId scores) {
    int64_t left = std::min(n_.attr_int("left_window_size"), kMaxExtent);
    int64_t right = std::min(n_.attr_int("right_window_size"), kMaxExtent);
    bool causal = n_.attr_int("is_causal");
    ValueId result;
    if (!causal && left < 0 && right < 0 && !b_.in(Valid)) return result;
    ValueId j = positions(length(scores, rank() - 1, s_.total()));
    if (causal || left >= 0 || right >= 0) {
      ValueId i = query_positions(scores);
      if (causal) result = b_.op("LessOrEqual", {j, i});
      if (left >= 0)
        result = both(result, b_.op("GreaterOrEqual", {j, b_.sub(i, b_.like(i, static_cast<double>(left)))}));
      if (right >= 0)
        result = both(result, b_.op("LessOrEqual", {j, b_.add(i, b_.like(i, static_cast<double>(right)))}));
    }
    if (b_.in(Valid)) result = both(result, b_.op("Less", {j, valid_keys()}));
    return result;
  }

  /// Positions beyond the mask are disallowed. A mask of one position is all positions' own, which for some only a run
  /// can tell.
  ValueId widened(ValueId m, const Dim& width, ValueId total, ValueId fill) {
    const ValueId own = length(m, b_.type(m).rank() - 1, width);
    const std::vector<int64_t> none(2 * b_.type(m).rank() - 1, 0);
    const ValueId pads = b_.concat({b_.ints(none), b_.unsqueeze(b_.sub(total, own), {0})}, 0);
    if (range_of(width.extent()).low > 1 || width.is_static()) return b_.op("Pad", {m, pads, fill});
    const ValueId all = b_.op("Equal", {own, b_.like(own, 1)}), inside = b_.op("Less", {positions(total), own});
    return b_.op("Where", {b_.op("Or", {all, inside}), b_.op("Pad", {m, pads}, {{"mode", "edge"}}), fill});
  }
  /// The mask as wide as the keys and with heads as the scores have them.
  ValueId mask(ValueId scores) {
    ValueId m = b_.in(Mask);
    bool boolean = b_.type(m).dtype == DType::b1;
    if (!boolean) m = b_.cast(m, type_);
    Dim width = b_.type(m).shape.back(), total = s_.total();
    if (width != total && !width.is_static(1))
      m = widened(m, width, length(scores, rank() - 1, total),
                  boolean ? b_.scalar(DType::b1, 0) : b_.scalar(type_, -INFINITY));
    if (!shared_ || b_.type(m).rank() < 3) return m;
    if (b_.type(m).rank() == 3) m = b_.unsqueeze(m, {0});
    return b_.type(m).shape[1].is_static(1) ? b_.unsqueeze(m, {2}) : split_heads(m);
  }
  ValueId with_bias(ValueId scores) {
    ValueId condition = allowed(scores), none = b_.like(scores, -INFINITY), x = scores;
    if (b_.in(Mask)) {
      ValueId m = mask(scores);
      if (b_.type(m).dtype == DType::b1 && n_.has_attr("masked_score")) {
        x = b_.op("Where", {m, x, b_.like(x, n_.attr_float("masked_score"))});
      } else if (b_.type(m).dtype == DType::b1) {
        condition = both(condition, m);
      } else {  // a score may be inf or NaN where the mask is -inf
        x = b_.op("Where", {b_.op("Equal", {m, b_.like(m, -INFINITY)}), none, b_.add(x, m)});
      }
    }
    guarded_ = !n_.has_attr("unguarded") && (b_.in(Mask) || b_.in(Valid) || n_.attr_int("left_window_size") >= 0 ||
                                             n_.attr_int("right_window_size") >= 0);
    return condition ? b_.op("Where", {condition, x, none}) : x;
  }
  ValueId softmax(ValueId x) {
    x = b_.cast(x, wide_);
    if (!guarded_) return b_.op("Softmax", {x}, {{"axis", int64_t{-1}}});
    ValueId top = b_.reduce("ReduceMax", x, {-1});
    top = b_.op("Where", {b_.op("Equal", {top, b_.like(top, -INFINITY)}), b_.like(top, 0), top});
    ValueId e = b_.op("Exp", {b_.sub(x, top)}), sum = b_.reduce("ReduceSum", e, {-1});
    sum = b_.op("Where", {b_.op("Equal", {sum, b_.like(sum, 0)}), b_.like(sum, 1), sum});
    return b_.div(e, sum);
  }

  ValueId finish(ValueId y) {
    y = join_heads(y);
    if (s_.flat) {
      y = b_.transpose(y, {0, 2, 1, 3});
      y = reshaped(y, {shape_part(y, 0, 2), b_.mul(shape_part(y, 2, 3), shape_part(y, 3, 4))});
    }
    return b_.cast(y, n_.dtype(Q));
  }

  const MeaningView& n_;
  AttentionShape s_;
  Build b_;
  DType type_, wide_;
  bool shared_, guarded_ = false;
};

Meaning attention(const MeaningView& n) { return Attention(n).meaning(); }

}  // namespace

Operator declare_attention() {
  return {.name = "Attention",
          .since = {23, 24, 25},
          .inputs = {{"Q", kFloats},
                     {"K", kFloats, InputSpec::Required, 0},
                     {"V", kFloats},
                     {"attn_mask", kNumbers | kBool, InputSpec::Optional},
                     {"past_key", kFloats, InputSpec::Optional, 1},
                     {"past_value", kFloats, InputSpec::Optional, 2},
                     {"nonpad_kv_seqlen", kInt64, InputSpec::Optional}},
          .outputs = {{"Y"},
                      {"present_key", OutputSpec::Optional},
                      {"present_value", OutputSpec::Optional},
                      {"qk_matmul_output", OutputSpec::Optional}},
          .attributes = {{"is_causal", 0},
                         {"kv_num_heads", AttrKind::Int},
                         {"left_window_size", -1, 25},
                         {"q_num_heads", AttrKind::Int},
                         {"qk_matmul_output_mode", 0},
                         {"right_window_size", -1, 25},
                         {"scale", AttrKind::Float},
                         {"softcap", 0.f},
                         {"softmax_precision", AttrKind::Int}},
          .infer = infer_attention,
          .meaning = attention};
}

}  // namespace cameo::ops
