// FlexAttention: softmax(Q K^T * scale) V for heads that may share keys, with a graph of the model's between scores and
// softmax and one behind it. Inputs are Q, K and V, then the `captures` outer values that the graphs read; `stages`
// says which of the two there are. Query heads that share keys stand one below the other, so that no key is copied.
#include <fmt/format.h>

#include <cmath>

#include "frontend/ir/build.h"
#include "frontend/ops/operands.h"

namespace cameo::ops {
namespace {

enum FlexInput { FlexQ, FlexK, FlexV, FirstCapture };
enum FlexStage { Scores, Probabilities };

DType softmax_type(const NodeView& n) {
  if (!n.has_attr("softmax_precision")) return n.dtype() == DType::f64 ? DType::f64 : DType::f32;
  const int64_t t = n.attr_int("softmax_precision");
  if (t < 0 || t >= kDTypeCount || !kFloats.contains(static_cast<DType>(t)))
    n.fail(Code::E0204, fmt::format("`softmax_precision` is {}", t));
  return static_cast<DType>(t);
}

Dim known_heads(const NodeView& n, int input) {
  if (n.rank(input) != 4)
    n.fail(Code::E0302,
           fmt::format("`{}` is {}, not of rank 4", n.node().op->inputs[input].name, to_string(n.type(input))));
  const Dim heads = n.shape(input)[1];
  if (!heads.is_static()) n.fail(Code::E0404, "the number of heads is " + to_string(heads) + ", not a number");
  return heads;
}

void infer_flex_attention(Infer& n) {
  const Dim queries = known_heads(n, FlexQ), keys = known_heads(n, FlexK);
  const Shape &q = n.shape(FlexQ), &k = n.shape(FlexK);
  if (keys.value() ? queries.value() % keys.value() : queries.value())
    n.fail(Code::E0302, fmt::format("{} query heads over {} key heads", queries.value(), keys.value()));
  known_heads(n, FlexV);
  check_shape(n, FlexK, {q[0], keys, k[2], q[3]}, "the batch and head size of Q");
  check_shape(n, FlexV, {q[0], keys, k[2], n.shape(FlexV)[3]}, "the batch of Q, the heads and length of K");
  const Type scores(softmax_type(n), {q[0], queries, q[2], k[2]});
  for (const auto& body : n.node().bodies) {
    const Type& made = body->type(body->outputs()[0].value);
    bool fits = body->outputs().size() == 1 && made.dtype == scores.dtype && made.rank() == 4;
    for (int d = 0; fits && d < 4; ++d) fits = n.agree(made.shape[d], scores.shape[d]);
    if (!fits) n.fail(Code::E0302, fmt::format("a body gives {} for {}", to_string(made), to_string(scores)));
  }
  n.output(0, n.dtype(), {q[0], queries, q[2], n.shape(FlexV)[3]});
}

class FlexAttention {
 public:
  explicit FlexAttention(const MeaningView& n) : n_(n), b_(n), type_(accumulator(n.dtype())) {
    if (n.has_attr("stages")) stages_ = n.attr_ints("stages");
  }

  Meaning meaning() {
    const ValueId shape = b_.op("Shape", {b_.in(FlexQ)}), keys = b_.op("Shape", {b_.in(FlexK)});
    const auto part = [&](ValueId of, int64_t axis) { return b_.slice(of, 0, axis, axis + 1); };
    const ValueId group = b_.ints({group_size()}), rows = b_.mul(group, part(shape, 2));
    const ValueId q = reshaped(b_.cast(b_.in(FlexQ), type_), {part(shape, 0), part(keys, 1), rows, part(shape, 3)});
    const ValueId k = b_.transpose(b_.cast(b_.in(FlexK), type_), {0, 1, 3, 2}), raw = b_.matmul(q, k);
    ValueId x = reshaped(b_.mul(raw, b_.like(raw, scale())), {b_.slice(shape, 0, 0, 3), part(keys, 2)});
    x = changed(b_.cast(x, softmax_type(n_)), Scores);
    x = changed(b_.op("Softmax", {x}, {{"axis", int64_t{-1}}}), Probabilities);
    x = reshaped(b_.cast(x, b_.type(raw).dtype), {part(shape, 0), part(keys, 1), rows, part(keys, 2)});
    const ValueId y = b_.matmul(x, b_.cast(b_.in(FlexV), type_)), size = part(b_.op("Shape", {b_.in(FlexV)}), 3);
    return b_.outputs({b_.cast(reshaped(y, {b_.slice(shape, 0, 0, 3), size}), n_.dtype())});
  }

 private:
  int64_t group_size() const {
    const int64_t keys = n_.shape(FlexK)[1].value();
    return keys ? n_.shape(FlexQ)[1].value() / keys : 1;
  }
  double scale() const {
    if (n_.has_attr("scale")) return n_.attr_float("scale");
    const Dim size = n_.shape(FlexQ)[3];
    if (!size.is_static()) n_.fail(Code::E0404, "the size of heads is " + to_string(size) + ", not a number");
    return 1 / std::sqrt(static_cast<double>(std::max<int64_t>(size.value(), 1)));
  }
  ValueId reshaped(ValueId v, std::vector<ValueId> parts) {
    return b_.op("Reshape", {v, b_.concat(std::move(parts), 0)}, {{"allowzero", int64_t{1}}});
  }
  ValueId changed(ValueId x, FlexStage stage) {
    const auto at = std::ranges::find(stages_, int64_t{stage});
    if (at == stages_.end()) return x;
    std::vector<ValueId> inputs{x};
    for (int i = FirstCapture; i < n_.input_count(); ++i) inputs.push_back(b_.in(i));
    return inline_graph(b_.graph(), n_.body(static_cast<int>(at - stages_.begin())), inputs, {})[0];
  }

  const MeaningView& n_;
  Build b_;
  DType type_;
  std::vector<int64_t> stages_;
};

Meaning flex_attention(const MeaningView& n) { return FlexAttention(n).meaning(); }

}  // namespace

Operator declare_preview_flex_attention() {
  return {.name = "FlexAttention",
          .domain = "ai.onnx.preview",
          .since = {1},
          .inputs = {{"Q", kFloats},
                     {"K", kFloats, InputSpec::Required, FlexQ},
                     {"V", kFloats, InputSpec::Required, FlexQ},
                     {"captured", kTensors, InputSpec::Any}},
          .outputs = {{"Y"}},
          .attributes = {{"score_mod", AttrSpec::kNoGraph},
                         {"prob_mod", AttrSpec::kNoGraph},
                         {"captures", 0},
                         {"scale", AttrKind::Float},
                         {"softmax_precision", AttrKind::Int},
                         {"stages", AttrKind::Ints}},
          .infer = infer_flex_attention,
          .meaning = flex_attention};
}

}  // namespace cameo::ops
