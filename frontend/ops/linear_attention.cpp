// LinearAttention: a state of keys by values for each head, which every position decays, corrects and adds to before
// its query reads it: S = exp(g) S, S += k^T (beta (v - k S)), o = scale q S. Query heads that share keys stand as
// [.., key heads, queries a key head, ..].
#include <fmt/format.h>

#include <cmath>

#include "frontend/ir/build.h"
#include "frontend/ops/operands.h"

namespace cameo::ops {
namespace {

enum LinearInput { LinearQ, LinearK, LinearV, LinearPast, Decay, Beta };

struct LinearHeads {
  Dim batch, steps;
  int64_t queries = 0, keys = 0;  // heads
  Dim key_size, value_size;       // of a head
};

LinearHeads linear_heads(const NodeView& n) {
  for (int i : {LinearQ, LinearK, LinearV})
    if (n.rank(i) != 3)
      n.fail(Code::E0302, fmt::format("`{}` is {}, not of rank 3", n.node().op->inputs[i].name, to_string(n.type(i))));
  LinearHeads h{
      n.dim(LinearQ, 0), n.dim(LinearQ, 1), count_attr(n, "q_num_heads"), count_attr(n, "kv_num_heads"), {}, {}};
  if (h.queries % h.keys)
    n.fail(Code::E0204, fmt::format("`q_num_heads` is {}, no multiple of `kv_num_heads`, {}", h.queries, h.keys));
  h.key_size = n.dim(LinearK, 2) / Dim(h.keys), h.value_size = n.dim(LinearV, 2) / Dim(h.keys);
  if (!h.key_size.is_static() || !h.value_size.is_static())
    n.fail(Code::E0404, "the sizes of heads must be known when compiling");
  if (h.key_size.is_static(0) || h.value_size.is_static(0)) n.fail(Code::E0302, "heads of no elements");
  check_shape(n, LinearQ, {h.batch, h.steps, h.key_size * h.queries}, "whole heads of the keys' size");
  check_shape(n, LinearK, {h.batch, h.steps, h.key_size * h.keys}, "whole heads");
  check_shape(n, LinearV, {h.batch, h.steps, h.value_size * h.keys}, "whole heads");
  check_shape(n, LinearPast, {h.batch, h.keys, h.key_size, h.value_size}, "keys by values of each head");
  return h;
}

/// A number for each key head or, where `size` is more than 1, for each element of one.
void check_of_heads(const NodeView& n, int input, const LinearHeads& h, std::initializer_list<Dim> widths) {
  if (!n.has(input)) return;
  const Dim last = n.rank(input) == 3 ? n.dim(input, 2) : Dim(0);
  const bool fits = std::ranges::find(widths, last) != widths.end();
  check_shape(n, input, {h.batch, h.steps, fits ? last : *widths.begin()}, "as the keys are");
}

struct UpdateRule {
  bool decays, corrects;
};
UpdateRule update_rule(const NodeView& n) {
  const std::string name = n.attr_string("update_rule");
  if (name != "linear" && name != "gated" && name != "delta" && name != "gated_delta")
    n.fail(Code::E0204, fmt::format("`update_rule` is `{}`", printable(name)), "linear, gated, delta or gated_delta");
  const UpdateRule rule{name.starts_with("gated"), name.ends_with("delta")};
  if (rule.decays != n.has(Decay) || rule.corrects != n.has(Beta))
    n.fail(Code::E0203, fmt::format("`update_rule` is `{}`, with{} `decay` and with{} `beta`", name,
                                    n.has(Decay) ? "" : "out", n.has(Beta) ? "" : "out"));
  return rule;
}

void infer_linear_attention(Infer& n) {
  const LinearHeads h = linear_heads(n);
  update_rule(n);
  if (!h.steps.is_static(0)) n.require(le(integer(1), h.steps.extent()));
  check_of_heads(n, Decay, h, {h.keys, h.key_size * h.keys});
  check_of_heads(n, Beta, h, {h.keys, 1});
  n.output(0, n.dtype(), {h.batch, h.steps, h.value_size * h.queries});
  n.output(1, n.dtype(n.has(LinearPast) ? LinearPast : LinearQ), {h.batch, h.keys, h.key_size, h.value_size});
}

class LinearAttention {
 public:
  explicit LinearAttention(const MeaningView& n) : n_(n), h_(linear_heads(n)), rule_(update_rule(n)), b_(n) {
    shape_ = b_.op("Shape", {b_.in(LinearQ)});
  }

  Meaning meaning() {
    const ValueId first = first_state();
    const DType of_state = n_.dtype(n_.has(LinearPast) ? LinearPast : LinearQ);
    const int64_t width = h_.queries * h_.value_size.value();
    if (h_.steps.is_static(0))
      return b_.outputs({expanded(b_.scalar(n_.dtype(), 0), 2, {width}), b_.cast(first, of_state)});
    read_operands();
    const ValueId steps = b_.squeeze(b_.slice(shape_, 0, 1, 2), {0});
    const auto done = b_.loop(steps, {first}, [&](Build& step, ValueId i, std::span<const ValueId> state) {
      return take_step(step, i, state[0]);
    });
    const ValueId y = reshaped(b_.transpose(done[1], {1, 0, 2, 3, 4}), 2, {width});
    return b_.outputs({b_.cast(y, n_.dtype()), b_.cast(done[0], of_state)});
  }

 private:
  /// So many axes of the query's, batch and steps, then these: all operands have the same extents then.
  ValueId dims(int64_t axes, std::vector<int64_t> rest) {
    return b_.concat({b_.slice(shape_, 0, 0, axes), b_.ints(std::move(rest))}, 0);
  }
  ValueId reshaped(ValueId v, int64_t axes, std::vector<int64_t> rest) {
    return b_.op("Reshape", {v, dims(axes, std::move(rest))}, {{"allowzero", int64_t{1}}});
  }
  ValueId expanded(ValueId v, int64_t axes, std::vector<int64_t> rest) {
    return b_.op("Expand", {v, dims(axes, std::move(rest))});
  }

  /// [batch, steps, heads * ..] to [steps, batch, heads, rows, columns].
  ValueId by_step(int input, std::vector<int64_t> of_step) {
    return b_.cast(b_.transpose(reshaped(b_.in(input), 2, std::move(of_step)), {1, 0, 2, 3, 4}), DType::f32);
  }
  void read_operands() {
    const int64_t size = h_.key_size.value();
    queries_ = by_step(LinearQ, {h_.keys, h_.queries / h_.keys, size}), keys_ = by_step(LinearK, {h_.keys, 1, size});
    values_ = by_step(LinearV, {h_.keys, 1, h_.value_size.value()});
    if (rule_.decays) {
      const bool each = n_.dim(Decay, 2) != Dim(h_.keys) && n_.dim(Decay, 2) == Dim(h_.keys * size);
      decay_ = by_step(Decay, {h_.keys, each ? size : 1, 1});
    }
    if (rule_.corrects) beta_ = by_step(Beta, {n_.dim(Beta, 2).is_static(1) ? 1 : h_.keys, 1, 1});
  }
  ValueId first_state() {
    const std::vector<int64_t> of_one{h_.keys, h_.key_size.value(), h_.value_size.value()};
    if (b_.in(LinearPast)) return b_.cast(reshaped(b_.in(LinearPast), 1, of_one), DType::f32);
    return expanded(b_.scalar(DType::f32, 0), 1, of_one);
  }
  Build::Step take_step(Build& step, ValueId i, ValueId state) {
    const auto at = [&](ValueId of_all) { return step.gather(step.capture(of_all), i); };
    if (rule_.decays) state = step.mul(state, step.op("Exp", {at(decay_)}));
    const ValueId k = at(keys_);
    ValueId v = at(values_);
    if (rule_.corrects) v = step.mul(at(beta_), step.sub(v, step.matmul(k, state)));
    state = step.add(state, step.mul(step.transpose(k, {0, 1, 3, 2}), v));
    const ValueId y = step.matmul(at(queries_), state);
    return {{state}, {step.mul(y, step.like(y, scale()))}};
  }
  double scale() const {
    const double given = n_.attr_float("scale");
    return given != 0 ? given : 1 / std::sqrt(static_cast<double>(std::max<int64_t>(h_.key_size.value(), 1)));
  }

  const MeaningView& n_;
  LinearHeads h_;
  UpdateRule rule_;
  Build b_;
  ValueId shape_, queries_, keys_, values_, decay_, beta_;
};

Meaning linear_attention(const MeaningView& n) { return LinearAttention(n).meaning(); }

}  // namespace

Operator declare_linear_attention() {
  return {.name = "LinearAttention",
          .since = {27},
          .inputs = {{"query", kFloats},
                     {"key", kFloats, InputSpec::Required, LinearQ},
                     {"value", kFloats, InputSpec::Required, LinearQ},
                     {"past_state", kFloats, InputSpec::Optional},
                     {"decay", kFloats, InputSpec::Optional, LinearQ},
                     {"beta", kFloats, InputSpec::Optional, LinearQ}},
          .outputs = {{"output"}, {"present_state"}},
          .attributes = {{"chunk_size", 64},
                         {"kv_num_heads", AttrKind::Int},
                         {"q_num_heads", AttrKind::Int},
                         {"scale", 0.f},
                         {"update_rule", "gated_delta"}},
          .infer = infer_linear_attention,
          .meaning = linear_attention};
}

}  // namespace cameo::ops
