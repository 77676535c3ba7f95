// GroupQueryAttention: Attention of queries to the keys of their group, causal, over a cache of keys and values that
// the new ones come into behind what each sequence has of the past; queries and keys turn by their positions first, if
// asked for. Where there is one sequence and the past is all of the cache, it is appended to.
#include <cmath>

#include "frontend/ops/microsoft/sequences.h"

namespace cameo::ops {
namespace {

class GroupQueryAttention {
 public:
  explicit GroupQueryAttention(const NodeView& n)
      : n_(n), b_(n), heads_(count_attr(n, "num_heads")), groups_(count_attr(n, "kv_num_heads")) {
    check();
    split();
    batch_ = n.dim(Query, 0), queries_ = n.dim(Query, 1);
    check_past(PastKey, k_);
    check_past(PastValue, v_);
    const Dim total = Dim(simplify_index(elements(n, Total, 1).at(0)));
    const Dim past = n.has(PastKey) ? n.dim(PastKey, 2) : Dim(0);
    present_ = Dim(simplify_index(max(past.extent(), total.extent())));
    appends_ = batch_.is_static(1) && total == past + queries_ && !sinks() && causal();
    count_ = extent_of(b_, q_, 1);
    if (!appends_) {
      const ValueId valid = b_.add(b_.cast(b_.in(Lengths), DType::i64), b_.scalar(DType::i64, 1));
      valid_ = b_.unsqueeze(valid, {1});
      before_ = b_.op("Max", {b_.sub(valid_, count_), b_.scalar(DType::i64, 0)});
    }
  }

  Composite definition() {
    if (n_.attr_int("do_rotary")) turn(q_, heads_), turn(k_, groups_);
    Attrs attrs = attention_attributes(n_, heads_, groups_, appends_);
    if (const double cap = n_.attr_float("softcap"); cap != 0) attrs.emplace("softcap", cap);
    return appends_ ? appended(std::move(attrs)) : merged(std::move(attrs));
  }

 private:
  enum Input { Query, Key, Value, PastKey, PastValue, Lengths, Total, Cos, Sin, Positions, AttentionBias, Sink };

  bool causal() const { return n_.attr_int("causal"); }
  int64_t window() const { return n_.attr_int("local_window_size"); }
  bool sinks() const { return b_.in(Sink) || n_.attr_int("smooth_softmax") == 1; }

  void check() const {
    check_rank(n_, Query, {3}, "[batch, sequence, hidden]");
    check_scalar(n_, Total);
    check_shape(n_, Lengths, {n_.dim(Query, 0)}, "one a sequence");
    for (int i : {Key, Value}) check_rank(n_, i, {3}, "[batch, sequence, hidden]");
    for (int i : {PastKey, PastValue}) check_rank(n_, i, {4}, "[batch, heads, past, size]");
    for (int i : {Cos, Sin}) check_rank(n_, i, {2}, "an angle for each pair of a head, at each position");
    check_rank(n_, AttentionBias, {4}, "[batch or 1, heads or 1, queries, keys]");
    for (int i = Sink + 1; i < n_.input_count(); ++i)
      if (n_.has(i)) refuse(n_, fmt::format("with `{}`", n_.node().op->inputs[static_cast<size_t>(i)].name));
    if (n_.attr_string("k_quant_type") != "NONE" || n_.attr_string("v_quant_type") != "NONE")
      refuse(n_, "with a quantised cache");
    if (n_.attr_int("sliding_window_cache")) refuse(n_, "with `sliding_window_cache`");
    for (int i : {Query, Key, Value}) check_heads(n_, i, {2});
    for (int i : {PastKey, PastValue}) check_heads(n_, i, {1, 3});
    check_heads(n_, Cos, {1});
    check_heads(n_, AttentionBias, {1});
    if (n_.has(Key) != n_.has(Value) || n_.has(PastKey) != n_.has(PastValue))
      n_.fail(Code::E0203, "keys and values go together");
  }

  /// What the cache has, against the new ones, [batch, queries, groups * size].
  void check_past(Input past, ValueId now) const {
    if (!n_.has(past)) return;
    const Dim size = b_.type(now).shape[2] / Dim(groups_);
    check_shape(n_, past, {batch_, groups_, n_.dim(PastKey, 2), size}, "heads as the new ones");
  }

  void split() {
    q_ = b_.in(Query), k_ = b_.in(Key), v_ = b_.in(Value);
    if (k_) return;
    const Dim hidden = n_.dim(Query, 2);
    if (hidden.value() % (heads_ + 2 * groups_))
      n_.fail(Code::E0302, fmt::format("`query` is {}: no {} heads, {} keys' and {} values'", to_string(n_.type(Query)),
                                       heads_, groups_, groups_));
    const int64_t size = hidden.value() / (heads_ + 2 * groups_), keys = heads_ * size, values = keys + groups_ * size;
    const ValueId all = q_;
    q_ = b_.slice(all, 2, 0, keys), k_ = b_.slice(all, 2, keys, values), v_ = b_.slice(all, 2, values, hidden.value());
  }

  /// The position of each query among the keys of its sequence, [batch, queries].
  ValueId query_positions() {
    const ValueId own = b_.unsqueeze(positions(b_, count_), {0});
    if (!appends_) return b_.add(own, before_);
    return b_.in(PastKey) ? b_.add(own, extent_of(b_, b_.in(PastKey), 2)) : own;
  }

  void turn(ValueId& x, int64_t heads) {
    const ValueId at = b_.in(Positions) ? b_.in(Positions) : query_positions();
    if (!n_.has(Cos) || !n_.has(Sin)) n_.fail(Code::E0203, "`do_rotary` without `cos_cache` and `sin_cache`");
    const Dim turned = n_.dim(Cos, 1) * Dim(2);
    x = b_.op("RotaryEmbedding", {x, b_.in(Cos), b_.in(Sin), at},
              {{"interleaved", n_.attr_int("rotary_interleaved")},
               {"num_heads", heads},
               {"rotary_embedding_dim", turned.value()}});
  }

  Composite appended(Attrs attrs) {
    if (window() > 0) attrs.emplace("left_window_size", window() - 1);
    const std::vector<ValueId> y =
        b_.ops("Attention", {q_, k_, v_, b_.in(AttentionBias), b_.in(PastKey), b_.in(PastValue)}, std::move(attrs), 3);
    return b_.outputs({y[0], y[1], y[2]});
  }

  /// The part of `past`, [batch, groups, past, size], that a sequence has, then `now`, [batch, queries, groups * size];
  /// zeros behind it. [batch, groups, present, size].
  ValueId merged_cache(ValueId past, ValueId now) {
    const ValueId total = present_count(), none = b_.scalar(DType::i64, 0);
    const ValueId at = b_.sub(b_.unsqueeze(positions(b_, total), {0}), before_);  // among the new ones
    const ValueId last = b_.sub(count_, b_.scalar(DType::i64, 1));
    const ValueId from = b_.unsqueeze(b_.op("Min", {b_.op("Max", {at, none}), last}), {2});
    const ValueId fresh = split_heads(b_.op("GatherND", {now, from}, {{"batch_dims", int64_t{1}}}));
    const auto everywhere = [&](ValueId condition) { return b_.unsqueeze(condition, {1, 3}); };
    const ValueId is_fresh = b_.op("And", {b_.op("GreaterOrEqual", {at, none}), b_.op("Less", {at, count_})});
    ValueId other = b_.like(fresh, 0);
    if (past) {
      const ValueId behind = b_.unsqueeze(b_.sub(total, extent_of(b_, past, 2)), {0});
      const ValueId pads = b_.concat({b_.ints({0, 0, 0, 0, 0, 0}), behind, b_.ints({0})}, 0);
      other = b_.op("Where", {everywhere(b_.op("Less", {at, none})), b_.op("Pad", {past, pads}), other});
    }
    return b_.op("Where", {everywhere(is_fresh), fresh, other});
  }
  ValueId split_heads(ValueId x) { return b_.transpose(b_.reshape(x, {0, 0, groups_, -1}), {0, 2, 1, 3}); }
  ValueId present_count() {
    const ValueId total = b_.reshape(b_.cast(b_.in(Total), DType::i64), {});
    return b_.in(PastKey) ? b_.op("Max", {total, extent_of(b_, b_.in(PastKey), 2)}) : total;
  }

  /// 0 where a query may look at a key, else -inf, and what the model adds: [batch, heads or 1, queries, keys].
  ValueId mask() {
    const ValueId key = b_.unsqueeze(positions(b_, present_count()), {0, 1}),
                  query = b_.unsqueeze(query_positions(), {2});
    ValueId allowed = b_.op("Less", {key, b_.unsqueeze(valid_, {2})});
    if (causal()) allowed = b_.op("And", {allowed, b_.op("LessOrEqual", {key, query})});
    if (window() > 0)
      allowed =
          b_.op("And", {allowed, b_.op("Greater", {b_.add(key, b_.like(key, static_cast<double>(window()))), query})});
    const DType type = n_.dtype(Query);
    const ValueId bias = b_.in(AttentionBias) ? b_.in(AttentionBias) : b_.scalar(type, 0);
    return b_.op("Where", {b_.unsqueeze(allowed, {1}), bias, b_.scalar(type, -INFINITY)});
  }

  /// A key more, which no query likes more or less, and no value: its score is the sink of its head, or 0.
  void add_sink(ValueId& keys, ValueId& values, ValueId& mask) {
    const ValueId pads = b_.ints({0, 0, 0, 0, 0, 0, 1, 0});
    keys = b_.op("Pad", {keys, pads}), values = b_.op("Pad", {values, pads});
    const ValueId sink = b_.in(Sink) ? b_.reshape(b_.in(Sink), {1, -1, 1, 1}) : b_.scalar(n_.dtype(Query), 0);
    const ValueId one = b_.ints({1}), heads = b_.ints({heads_});
    const auto dim = [&](ValueId x) { return b_.unsqueeze(x, {0}); };
    const ValueId rows = b_.concat({dim(extent_of(b_, q_, 0)), heads, dim(count_)}, 0);
    mask = b_.op("Expand", {mask, b_.concat({rows, one}, 0)});
    mask = b_.concat({mask, b_.op("Expand", {sink, b_.concat({rows, one}, 0)})}, 3);
  }

  Composite merged(Attrs attrs) {
    const ValueId keys = merged_cache(b_.in(PastKey), k_), values = merged_cache(b_.in(PastValue), v_);
    ValueId seen_keys = keys, seen_values = values, seen = mask();
    if (sinks()) add_sink(seen_keys, seen_values, seen);
    const ValueId queries = b_.transpose(b_.reshape(q_, {0, 0, heads_, -1}), {0, 2, 1, 3});
    const ValueId y = b_.op("Attention", {queries, seen_keys, seen_values, seen}, std::move(attrs));
    return b_.outputs({joined_heads(b_, b_.transpose(y, {0, 2, 1, 3})), keys, values});
  }

  const NodeView& n_;
  Build b_;
  int64_t heads_, groups_;
  Dim batch_, queries_, present_;
  bool appends_ = false;
  ValueId q_, k_, v_;       // [batch, sequence, heads * size]
  ValueId count_;           // of queries
  ValueId valid_, before_;  // keys of each sequence, and those before the new ones, [batch, 1]
};

Composite define_group_query_attention(const NodeView& n) { return GroupQueryAttention(n).definition(); }

}  // namespace

Operator declare_microsoft_group_query_attention() {
  constexpr DTypes kTypes{DType::f32, DType::f16, DType::bf16}, kInts{DType::i32}, kScale{DType::f32};
  constexpr auto kOptional = InputSpec::Optional;
  return {.name = "GroupQueryAttention",
          .domain = "com.microsoft",
          .since = {1},
          .inputs = {{"query", kTypes},
                     {"key", kTypes, kOptional, 0},
                     {"value", kTypes, kOptional, 0},
                     {"past_key", kTypes, kOptional, 0},
                     {"past_value", kTypes, kOptional, 0},
                     {"seqlens_k", kInts},
                     {"total_sequence_length", kInts},
                     {"cos_cache", kTypes, kOptional, 0},
                     {"sin_cache", kTypes, kOptional, 0},
                     {"position_ids", kInt64, kOptional},
                     {"attention_bias", kTypes, kOptional, 0},
                     {"head_sink", kTypes, kOptional, 0},
                     {"k_scale", kScale, kOptional},
                     {"v_scale", kScale, kOptional},
                     {"q_norm_weight", kTypes, kOptional, 0},
                     {"k_norm_weight", kTypes, kOptional, 0},
                     {"query_seqlens", kInts, kOptional}},
          .outputs = {{"output"},
                      {"present_key", OutputSpec::Optional},
                      {"present_value", OutputSpec::Optional},
                      {"output_qk", OutputSpec::Optional}},
          .attributes = {{"causal", 1},
                         {"do_rotary", 0},
                         {"k_norm_epsilon", AttrKind::Float},
                         {"k_quant_type", "NONE"},
                         {"kv_cache_bit_width", AttrKind::Int},
                         {"kv_num_heads", AttrKind::Int},
                         {"local_window_size", -1},
                         {"num_heads", AttrKind::Int},
                         {"q_norm_epsilon", AttrKind::Float},
                         {"qk_norm_epsilon", 1e-6f},
                         {"qk_output", 0},
                         {"rotary_interleaved", 0},
                         {"scale", AttrKind::Float},
                         {"sliding_window_cache", 0},
                         {"smooth_softmax", -1},
                         {"softcap", 0.f},
                         {"v_quant_type", "NONE"}},
          .infer = infer_defined<define_group_query_attention>,
          .meaning = defined<define_group_query_attention>};
}

}  // namespace cameo::ops
