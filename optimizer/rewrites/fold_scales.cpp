// fold_scales: a batch norm with known statistics is one multiplication and one addition a channel, and a
// multiplication or addition of constants behind a convolution, or a multiplication behind a matrix product, moves into
// its constant operands, also through a bias, reshapes and transposes. Algebraic: (x * W) * a and x * (W * a) round
// differently. The constants are computed in f64 and rounded once, since an error in a weight is the same everywhere in
// the output and no mean takes it out.
#include <algorithm>
#include <cmath>
#include <set>

#include "optimizer/pipeline.h"
#include "optimizer/rewrites/uses.h"

namespace cameo {
namespace {

class ScaleFolder {
 public:
  ScaleFolder(const Graph& g, PassContext& context) : g_(g), context_(context), uses_(g) {}

  std::optional<std::vector<ValueId>> rule(Graph& into, const Node& n, std::span<const ValueId> in) {
    std::optional<ValueId> v;
    if (n.op->name == "BatchNormalization") v = split_batch_norm(into, n, in);
    if (n.op->name == "Mul" || n.op->name == "Add") v = fold_into_producer(into, n, in);
    return v ? std::optional(std::vector<ValueId>{*v}) : std::nullopt;
  }

 private:
  static ValueId op(Graph& g, std::string_view name, std::vector<ValueId> in, const Provenance& o, Attrs attrs = {}) {
    return g.add(get_operator(name), std::move(in), std::move(attrs), o)[0];
  }
  static bool is_constant(const Graph& g, ValueId v) { return v && g[v].constant; }
  static ValueId cast(Graph& g, ValueId v, DType to, const Provenance& o) {
    return g.type(v).dtype == to ? v : op(g, "Cast", {v}, o, {{"to", static_cast<int64_t>(to)}});
  }
  /// Elsewhere products and sums may not be taken in another order.
  static bool is_finite(const Graph& g, ValueId v) {
    const Tensor& t = *g[v].constant;
    for (int64_t i = 0; i < t.size(); ++i)
      if (!std::isfinite(t.get(i))) return false;
    return true;
  }
  /// a op b of f32 or f64 constants, in f64.
  static ValueId exact(Graph& g, std::string_view name, ValueId a, ValueId b, const Provenance& o) {
    return op(g, name, {cast(g, a, DType::f64, o), cast(g, b, DType::f64, o)}, o);
  }
  static ValueId rounded(Graph& g, std::string_view name, ValueId a, ValueId b, const Provenance& o) {
    return cast(g, exact(g, name, a, b, o), DType::f32, o);
  }
  static ValueId reshape(Graph& g, ValueId v, std::vector<int64_t> dims, const Provenance& o) {
    auto n = static_cast<int64_t>(dims.size());
    return op(g, "Reshape", {v, g.constant(Tensor::i64({n}, dims))}, o, {{"allowzero", int64_t{1}}});
  }

  std::optional<ValueId> split_batch_norm(Graph& into, const Node& n, std::span<const ValueId> in) {
    if (n.outputs.size() != 1 || into.type(in[0]).rank() < 2 || into.type(in[0]).dtype != DType::f32)
      return std::nullopt;
    for (size_t i = 1; i < 5; ++i)
      if (!is_constant(into, in[i]) || into.type(in[i]).dtype != DType::f32 || into.type(in[i]).rank() != 1)
        return std::nullopt;
    NodeView view(into, n);
    if (n.attrs.count("training_mode") && view.attr_int("training_mode")) return std::nullopt;
    ValueId epsilon = into.constant(Tensor::scalar(DType::f64, view.attr_float("epsilon")));
    const Provenance& o = n.provenance;
    ValueId scale = exact(into, "Div", in[1], op(into, "Sqrt", {exact(into, "Add", in[4], epsilon, o)}, o), o);
    if (!is_finite(into, scale) || !context_.apply("split_batch_norm", into, n.provenance)) return std::nullopt;
    ValueId shift = exact(into, "Sub", in[2], exact(into, "Mul", in[3], scale, o), o);
    std::vector<int64_t> dims(static_cast<size_t>(into.type(in[0]).rank()), 1);
    dims[1] = into[in[1]].constant->size();
    ValueId product = fold_or_multiply(into, n, in[0], uses_.once(n, 0), reshape(into, scale, dims, o));
    return fold_or_add(into, n, product, true, reshape(into, shift, dims, o));
  }
  ValueId fold_or_multiply(Graph& into, const Node& n, ValueId x, bool once, ValueId a) {
    auto v = once ? scale_producer(into, n, x, a) : std::nullopt;
    return v ? *v : op(into, "Mul", {x, cast(into, a, DType::f32, n.provenance)}, n.provenance);
  }
  ValueId fold_or_add(Graph& into, const Node& n, ValueId x, bool once, ValueId c) {
    auto v = once ? shift_producer(into, n, x, c) : std::nullopt;
    return v ? *v : op(into, "Add", {x, cast(into, c, DType::f32, n.provenance)}, n.provenance);
  }

  std::optional<ValueId> fold_into_producer(Graph& into, const Node& n, std::span<const ValueId> in) {
    if (!aligns_at_end(n)) return std::nullopt;
    for (size_t x : {0, 1})
      if (is_constant(into, in[1 - x]) && !is_constant(into, in[x]) && uses_.once(n, x) &&
          into.type(in[x]).dtype == DType::f32)
        return n.op->name == "Mul" ? scale_source(into, n, n.inputs[x], in[x], in[1 - x])
                                   : shift_producer(into, n, in[x], in[1 - x]);
    return std::nullopt;
  }

  /// x * a, where `x` stands for `from` of the old graph, which nothing else reads: 1 / sqrt(d) finds the projection
  /// that it can be folded into behind the bias and the moves that split heads.
  std::optional<ValueId> scale_source(Graph& into, const Node& n, ValueId from, ValueId x, ValueId a) {
    if (auto v = scale_producer(into, n, x, a)) return v;
    NodeId old = g_[from].producer, made = into[x].producer;
    if (!old || !made || g_[old].op != into[made].op) return std::nullopt;
    const Node step = into[made];
    auto scale_input = [&](size_t i) -> std::optional<ValueId> {
      ValueId input = g_[old].inputs[i];
      return uses_.of(input) == 1 ? scale_source(into, n, input, step.inputs[i], a) : std::nullopt;
    };
    const bool is_number = into[a].constant->size() == 1 && into[a].constant->rank() <= into.type(x).rank();
    if (moves_elements(step) && is_number) {
      auto scaled = scale_input(0);
      if (!scaled) return std::nullopt;
      std::vector<ValueId> inputs = step.inputs;
      inputs[0] = *scaled;
      return into.add(*step.op, std::move(inputs), step.attrs, step.provenance, step.version)[0];
    }
    if (step.op->name != "Add" || !aligns_at_end(step)) return std::nullopt;
    for (size_t i : {0, 1}) {
      if (!is_constant(into, step.inputs[1 - i])) continue;
      auto scaled = scale_input(i);
      if (scaled)
        return op(into, "Add", {*scaled, rounded(into, "Mul", step.inputs[1 - i], a, n.provenance)}, step.provenance);
    }
    return std::nullopt;
  }
  /// Before version 7 an attribute may say along which axes the second operand stands.
  static bool aligns_at_end(const Node& n) { return n.version >= 7 || !n.attrs.contains("axis"); }
  static bool moves_elements(const Node& n) {
    constexpr std::string_view kMoves[] = {"Flatten", "Reshape", "Squeeze", "Transpose", "Unsqueeze"};
    return std::ranges::find(kMoves, n.op->name) != std::end(kMoves);
  }

  /// The constant as one number for each of `count` output channels on axis `axis` of a value of rank `rank`.
  static std::optional<ValueId> per_channel(Graph& g, ValueId c, int rank, int axis, int64_t count,
                                            const Provenance& o) {
    const Tensor& t = *g[c].constant;
    if (t.rank() > rank || !is_finite(g, c)) return std::nullopt;
    for (int d = 0; d < t.rank(); ++d)
      if (t.dims()[d] != 1 && (d + rank - t.rank() != axis || t.dims()[d] != count)) return std::nullopt;
    ValueId flat = reshape(g, c, {t.size()}, o);
    return t.size() == count ? flat
                             : op(g, "Expand", {flat, g.constant(Tensor::i64({1}, std::vector<int64_t>{count}))}, o);
  }
  struct Product {  // a convolution with constant weights
    const Node* node;
    int64_t channels;
  };
  std::optional<Product> convolution(const Graph& g, ValueId x) const {
    NodeId made = g[x].producer;
    if (!made) return std::nullopt;
    const Node& n = g[made];
    bool bias_known = n.inputs.size() < 3 || !n.inputs[2] || g[n.inputs[2]].constant;
    bool weights_known = n.op->name == "Conv" && (g[n.inputs[1]].constant || scaled_.count(n.inputs[1]));
    if (!weights_known || !bias_known || g.type(x).dtype != DType::f32) return std::nullopt;
    return Product{&n, g.type(n.inputs[1]).shape[0].value()};
  }
  static ValueId conv_with(Graph& g, const Node& conv, ValueId w, ValueId bias, const Provenance& o) {
    return g.add(*conv.op, {conv.inputs[0], w, bias}, conv.attrs, o, conv.version)[0];
  }

  /// Said last of all, when nothing but the limit keeps a rewrite from happening.
  bool apply(std::string_view rule, const Graph& into, const Node& n) {
    return context_.apply(rule, into, n.provenance);
  }

  std::optional<ValueId> scale_producer(Graph& into, const Node& n, ValueId x, ValueId a) {
    if (auto p = convolution(into, x)) {
      const Node conv = *p->node;
      Provenance o = merge(conv.provenance, n.provenance);
      auto scale = per_channel(into, a, into.type(x).rank(), 1, p->channels, o);
      if (!scale || !apply("scale_into_conv", into, n)) return std::nullopt;
      std::vector<int64_t> dims(static_cast<size_t>(into.type(conv.inputs[1]).rank()), 1);
      dims[0] = p->channels;
      ValueId w = rounded(into, "Mul", conv.inputs[1], reshape(into, *scale, dims, o), o);
      scaled_.insert(w);
      ValueId bias = conv.inputs.size() > 2 ? conv.inputs[2] : ValueId{};
      return conv_with(into, conv, w, bias ? rounded(into, "Mul", bias, *scale, o) : bias, o);
    }
    NodeId made = into[x].producer;
    if (!made || into[made].op->name != "MatMul") return std::nullopt;
    const Node product = into[made];
    const Constant& w = into[product.inputs[1]].constant;
    if (!w || w->rank() != 2) return std::nullopt;
    Provenance o = merge(product.provenance, n.provenance);
    int rank = into.type(x).rank();
    auto scale = per_channel(into, a, rank, rank - 1, w->dims()[1], o);
    if (!scale || !apply("scale_into_matmul", into, n)) return std::nullopt;
    return op(into, "MatMul", {product.inputs[0], rounded(into, "Mul", product.inputs[1], *scale, o)}, o);
  }
  std::optional<ValueId> shift_producer(Graph& into, const Node& n, ValueId x, ValueId c) {
    auto p = convolution(into, x);
    if (!p) return std::nullopt;
    const Node conv = *p->node;
    Provenance o = merge(conv.provenance, n.provenance);
    auto shift = per_channel(into, c, into.type(x).rank(), 1, p->channels, o);
    if (!shift || !apply("shift_into_conv", into, n)) return std::nullopt;
    ValueId bias = conv.inputs.size() > 2 ? conv.inputs[2] : ValueId{};
    return conv_with(into, conv, conv.inputs[1],
                     bias ? rounded(into, "Add", bias, *shift, o) : cast(into, *shift, DType::f32, o), o);
  }

  const Graph& g_;
  PassContext& context_;
  Uses uses_;
  std::set<ValueId>
      scaled_;  // weights of the new graph that are scaled constants, too large to have been folded at once
};

}  // namespace

Graph fold_scales(const Graph& g, PassContext& context) {
  ScaleFolder folder(g, context);
  return replay(g, [&](Graph& into, const Node& n, std::span<const ValueId> in) { return folder.rule(into, n, in); });
}

}  // namespace cameo
