// claim_attention: softmax(Q K^T * scale + mask) V, written out as exporters do, is one node Attention where a family
// computes that for less; else the nodes stay as they are. Scales may stand at Q, at K or behind their product, the
// mask is added or chooses between scores and a constant, and NaNs of rows without any key may be replaced by zeros. A
// second mask may be added to scores of shifted windows, for which these are [batch, windows, heads, rows, keys].
// Algebraic: scales are multiplied in another order, and sums are taken in one pass over the keys.
// Attention of 16-bit floats, written out or as the operator without a cache, is one of f32 between casts: its scores
// and weights are not rounded. The lowest f16 is the lowest f32 then, which gives itself as well where it is added. Two
// attributes, which no file can set, say what ONNX's operator leaves open: `unguarded`, a row without any key is NaN,
// and `masked_score`, that of a key that a boolean mask disallows.
// Keys and values that are a cache with new ones behind it, and outputs of the model, are the operator's: each head's
// cache is then copied and read while it is in the core's own cache. Where its length is a size of a run the nodes
// stay, for a state grows in place there (layout/appends.h).
#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <map>
#include <numeric>
#include <set>
#include <utility>

#include "frontend/ir/operator.h"
#include "frontend/ops/softmax.h"
#include "optimizer/choose/claim.h"
#include "optimizer/choose/family.h"
#include "optimizer/pipeline.h"
#include "optimizer/rewrites/operands.h"
#include "optimizer/rewrites/uses.h"

namespace cameo {
namespace {

/// Added to a score, it gives itself: a number of at most this size replaces scores that it is added to.
constexpr double kAbsorbs = -1e30;
constexpr double kLowestHalf = -65504, kLowest = std::numeric_limits<float>::lowest();

enum AttentionInput { Q, K, V, Mask, PastKey, PastValue, Valid };
enum class Product { None, Plain, WithTransposed };  // A B, or A B^T, of the last two axes

/// Of two matrices for each element of the axes in front, as MatMul or Einsum says it.
Product product_of(const Graph& g, const Node& n) {
  if (n.op->name == "MatMul") return Product::Plain;
  if (n.op->name != "Einsum" || n.inputs.size() != 2) return Product::None;
  std::string equation = NodeView(g, n).attr_string("equation");
  std::erase(equation, ' ');
  const auto rank = static_cast<size_t>(g.type(n.inputs[0]).rank());
  if (rank < 2 || equation.size() != 3 * rank + 3) return Product::None;
  const std::string a = equation.substr(0, rank), b = equation.substr(rank + 1, rank),
                    c = equation.substr(2 * rank + 3);
  const std::string front = a.substr(0, rank - 2), row = a.substr(rank - 2, 1), term = a.substr(rank - 1);
  const std::string column = c.substr(rank - 1);
  if (equation != a + "," + b + "->" + c || c != front + row + column) return Product::None;
  if (std::set<char>(equation.begin(), equation.end()).size() != rank + 4) return Product::None;  // ",->" and letters
  return b == front + term + column   ? Product::Plain
         : b == front + column + term ? Product::WithTransposed
                                      : Product::None;
}

std::vector<int64_t> last_axes_swapped(int rank) {
  std::vector<int64_t> perm(static_cast<size_t>(rank));
  std::iota(perm.begin(), perm.end(), 0);
  std::reverse(perm.end() - 2, perm.end());
  return perm;
}

/// Of one graph: what a product of weights and values computes.
struct FoundAttention {
  ValueId q, k, v;
  ValueId bias, choice;  // what is added to scores, and what chooses between them and a number; null: nothing
  ValueId windows;       // what is added to them, as windows of a batch; null: nothing
  std::vector<int64_t> batch_of_windows = {};  // both extents
  bool k_transposed = false;                   // it is [.., size, keys]
  bool chooses_masked = false;                 // where `choice` holds the score is the number
  double scale = 1, bias_scale = 1, masked_score = -INFINITY;
  bool guarded = false;
  const Node *joined_k = nullptr, *joined_v = nullptr;  // Concats of a cache and `k`, `v`; null: there is none
  Provenance provenance;
  bool has_mask_to_add() const { return bias || windows; }
};

class AttentionFinder {
 public:
  AttentionFinder(const Graph& g, const Target& target) : g_(g), target_(target), uses_(g) {}

  /// Nullopt where `n` is no product of such weights.
  std::optional<FoundAttention> find(const Node& n) {
    if (product_of(g_, n) != Product::Plain) return std::nullopt;
    FoundAttention f;
    f.v = n.inputs[1];
    f.provenance = n.provenance;
    found_ = &f;
    const Node* weights = take_guard(n.inputs[0]);
    if (!weights || weights->op->name != "Softmax" || !folds_last_axis(*weights)) return std::nullopt;
    take(*weights);
    if (!take_scores(weights->inputs[0])) return std::nullopt;
    const Shape &k = g_.type(f.k).shape, &v = g_.type(f.v).shape;
    if (k.size() == 4 && v.size() == 4 && k[1] != v[1])  // heads share keys, so they share values
      f.v = ungrouped(f.v, v).value_or(f.v);
    if (!types_fit(f) || !keeps_range(f.scale) || !keeps_range(f.bias_scale)) return std::nullopt;
    take_caches();
    return f;
  }

 private:
  void take(const Node& n) { found_->provenance = merge(found_->provenance, n.provenance); }
  /// The node that makes `v`, if nothing else reads it.
  const Node* maker(ValueId v, int uses = 1) const {
    const NodeId n = g_[v].producer;
    return n && uses_.of(v) == uses ? &g_[n] : nullptr;
  }
  bool folds_last_axis(const Node& n) const {
    const NodeView view(g_, n);
    return ops::softmax_axes(view) == std::vector<int64_t>{view.rank() - 1};
  }
  /// A float that is known when compiling.
  std::optional<double> number(ValueId v) const {
    const Constant& c = g_[v].constant;
    if (!c || c->size() != 1 || !is_float(c->dtype())) return std::nullopt;
    return c->get(0);
  }
  std::optional<double> score(ValueId v) const {
    const auto known = number(v);
    return known == kLowestHalf && g_.type(v).dtype == DType::f16 ? kLowest : known;
  }

  /// Behind Where(IsNaN(weights), 0, weights), if that is what `v` is.
  const Node* take_guard(ValueId v) {
    const Node* where = maker(v);
    if (!where || where->op->name != "Where") return where;
    const Node* is_nan = maker(where->inputs[0]);
    if (!is_nan || is_nan->op->name != "IsNaN" || is_nan->inputs[0] != where->inputs[2] ||
        number(where->inputs[1]) != 0.0 || g_.type(where->inputs[2]) != g_.type(v))
      return nullptr;
    take(*where);
    take(*is_nan);
    found_->guarded = true;
    return maker(where->inputs[2], 2);
  }

  /// The value whose product with a number `v` is.
  ValueId take_scale(ValueId v, double& scale) {
    const Node* n = maker(v);
    if (!n || (n->op->name != "Mul" && n->op->name != "Div")) return v;
    for (size_t side : {1, 0}) {
      const auto factor = number(n->inputs[side]);
      const bool keeps_type = g_.type(n->inputs[1 - side]) == g_.type(n->outputs[0]);  // a number may add axes
      if (!factor || !keeps_type || (n->op->name == "Div" && side == 0)) continue;
      scale *= n->op->name == "Mul" ? *factor : 1 / *factor;
      take(*n);
      return n->inputs[1 - side];
    }
    return v;
  }
  bool take_product(ValueId v) {
    v = take_scale(v, found_->scale);
    const Node* n = maker(v);
    const Product product = n ? product_of(g_, *n) : Product::None;
    if (product == Product::None) return false;
    take(*n);
    found_->q = take_scale(n->inputs[0], found_->scale);
    found_->k = take_scale(n->inputs[1], found_->scale);
    if (product == Product::WithTransposed) return true;
    const auto keys = keys_of(found_->k);
    found_->k_transposed = !keys;
    found_->k = keys.value_or(found_->k);
    return true;
  }
  /// What has these elements with the last two axes swapped.
  std::optional<ValueId> swapped_from(ValueId v) const {
    const NodeId made = g_[v].producer;
    if (!made || g_[made].op->name != "Transpose") return std::nullopt;
    const NodeView view(g_, g_[made]);
    if (view.rank() < 2) return std::nullopt;
    if (!view.has_attr("perm") || view.attr_ints("perm") != last_axes_swapped(view.rank())) return std::nullopt;
    return g_[made].inputs[0];
  }
  std::optional<ValueId> reshaped_from(ValueId v) const {
    const NodeId made = g_[v].producer;
    return made && g_[made].op->name == "Reshape" ? std::optional(g_[made].inputs[0]) : std::nullopt;
  }
  /// The keys as rows, of which `transposed` was made: at once, or with all axes in front as one. Where heads share
  /// keys, those that there are.
  std::optional<ValueId> keys_of(ValueId transposed) const {
    if (g_.type(transposed).rank() < 2) return std::nullopt;
    if (const auto keys = swapped_from(transposed)) return ungrouped(*keys, g_.type(*keys).shape).value_or(*keys);
    const auto swapped = reshaped_from(transposed);
    const auto flat = swapped ? swapped_from(*swapped) : std::nullopt;
    const auto keys = flat ? reshaped_from(*flat) : std::nullopt;
    if (!keys) return std::nullopt;
    Shape expected = g_.type(transposed).shape, rows = g_.type(*flat).shape;
    std::reverse(expected.end() - 2, expected.end());
    if (!std::equal(rows.end() - 2, rows.end(), expected.end() - 2)) return std::nullopt;
    if (const auto groups = ungrouped(*flat, expected)) return groups;
    return g_.type(*keys).shape == expected ? keys : std::nullopt;
  }
  /// Of [batch, heads, keys, size], in which each of fewer heads was repeated for several: those.
  std::optional<ValueId> ungrouped(ValueId repeated, const Shape& heads) const {
    const auto source = [&](ValueId v, std::string_view op) {
      const NodeId made = v ? g_[v].producer : NodeId{};
      return made && g_[made].op->name == op ? g_[made].inputs[0] : ValueId{};
    };
    const ValueId several = source(repeated, "Reshape"), one = source(several, "Expand"),
                  from = source(one, "Unsqueeze");
    if (!from || g_.type(from).rank() != 4 || g_.type(several).rank() != 5) return std::nullopt;
    const Shape& rows = g_.type(from).shape;
    const Dim count = g_.type(several).shape[2];
    const auto with_axis = [&](Dim extent) { return Shape{rows[0], rows[1], extent, rows[2], rows[3]}; };
    if (g_.type(one).shape != with_axis(1) || g_.type(several).shape != with_axis(count)) return std::nullopt;
    return heads == Shape{rows[0], rows[1] * count, rows[2], rows[3]} ? std::optional(from) : std::nullopt;
  }

  /// What weights are the softmax of: the product, with a bias that is added, or replaced by a number where a mask says
  /// so.
  bool take_scores(ValueId v) {
    const Node* n = maker(v);
    if (!n || n->op->name != "Where") return take_biased(v);
    for (size_t side : {1, 2}) {
      const auto replaces = score(n->inputs[3 - side]);
      const bool is_less = replaces && *replaces < INFINITY;  // no NaN
      if (!is_less || g_.type(n->inputs[side]) != g_.type(v) || !take_biased(n->inputs[side])) continue;
      if (found_->has_mask_to_add() && *replaces > kAbsorbs) return false;
      take(*n);
      found_->choice = n->inputs[0];
      found_->chooses_masked = side == 2;
      found_->masked_score = *replaces;
      return true;
    }
    return false;
  }
  /// Scores to which a mask was added while their first axis was two.
  ValueId take_windows(ValueId v) {
    const Node* joined = maker(v);
    const Node* add = joined && joined->op->name == "Reshape" ? maker(joined->inputs[0]) : nullptr;
    if (!add || add->op->name != "Add") return v;
    for (size_t side : {0, 1}) {
      const Node* split = maker(add->inputs[side]);
      if (!split || split->op->name != "Reshape") continue;
      const ValueId scores = split->inputs[0];
      const Shape &whole = g_.type(scores).shape, &parts = g_.type(split->outputs[0]).shape;
      const bool splits_first = whole.size() == 4 && parts.size() == 5 && g_.type(scores) == g_.type(v) &&
                                g_.type(add->outputs[0]).shape == parts && parts[0].is_static() &&
                                parts[1].is_static() && std::equal(whole.begin() + 1, whole.end(), parts.begin() + 2);
      const Shape& mask = g_.type(add->inputs[1 - side]).shape;
      if (!splits_first || mask.empty() || !std::ranges::all_of(mask, [](Dim d) { return d.is_static(); })) continue;
      for (const Node* n : {joined, add, split}) take(*n);
      found_->windows = add->inputs[1 - side];
      found_->batch_of_windows = {parts[0].value(), parts[1].value()};
      return scores;
    }
    return v;
  }
  bool take_biased(ValueId v) {
    v = take_windows(v);
    const FoundAttention before = *found_;
    if (take_product(v)) return true;
    *found_ = before;
    double outer = 1;
    const Node* add = maker(take_scale(v, outer));
    if (!add || add->op->name != "Add") return false;
    const FoundAttention scaled = *found_;
    for (size_t side : {0, 1}) {
      *found_ = scaled;
      if (g_.type(add->inputs[side]) != g_.type(add->outputs[0]) || !take_product(add->inputs[side])) continue;
      take(*add);
      found_->bias = add->inputs[1 - side];
      found_->scale *= outer;
      found_->bias_scale = outer;
      return true;
    }
    return false;
  }

  /// What joins [batch, heads, past, size] and new rows to an output that nothing but attention reads, if it is f32.
  const Node* joined_cache(ValueId v) const {
    constexpr int kReadAndGiven = 3;  // an output counts twice
    const Node* n = maker(v, kReadAndGiven);
    if (!n || n->op->name != "Concat" || n->inputs.size() != 2 || g_.type(v).dtype != DType::f32) return nullptr;
    const NodeView view(g_, *n);
    const bool is_output = std::ranges::any_of(g_.outputs(), [&](const Port& p) { return p.value == v; });
    return is_output && is_static(g_.type(v).shape) && view.rank() == 4 && NodeView::axis(view.attr_int("axis"), 4) == 2
               ? n
               : nullptr;
  }
  void take_caches() {
    const Node *k = found_->k_transposed ? nullptr : joined_cache(found_->k), *v = joined_cache(found_->v);
    if (!k || !v || g_.type(k->inputs[0]).shape[2] != g_.type(v->inputs[0]).shape[2]) return;
    take(*k);
    take(*v);
    found_->joined_k = k;
    found_->joined_v = v;
  }

  /// Neither a scale alone nor what it scales leaves the range of f32 where the scores themselves do not.
  static bool keeps_range(double scale) { return std::abs(scale) > 1e-18 && std::abs(scale) < 1e18; }
  /// Floats of one type, of one batch and number of heads, with keys along the last axis of a mask.
  bool types_fit(const FoundAttention& f) const {
    const Type &q = g_.type(f.q), &v = g_.type(f.v);
    Type k = g_.type(f.k);
    const size_t rank = q.shape.size();
    if (rank < 2 || rank > 4 || k.shape.size() != rank || v.shape.size() != rank) return false;
    for (const Type* t : {&q, &std::as_const(k), &v})
      if (t->dtype != q.dtype || !(q.dtype == DType::f32 || target_.widens_products_of(q.dtype))) return false;
    if (f.k_transposed) std::reverse(k.shape.end() - 2, k.shape.end());
    for (size_t d = 0; d + 2 < rank; ++d)
      if (k.shape[d] != v.shape[d] || (q.shape[d] != k.shape[d] && !(rank == 4 && d == 1))) return false;
    if (q.shape[rank - 1] != k.shape[rank - 1] || v.shape[rank - 2] != k.shape[rank - 2]) return false;
    if (!q.shape.back().is_static() || !v.shape.back().is_static()) return false;
    if (rank == 4) {
      const Dim heads = q.shape[1], groups = k.shape[1];
      if (!heads.is_static() || !groups.is_static() || !groups.value() || heads.value() % groups.value()) return false;
    }
    const auto fits = [&](ValueId mask) {
      if (!mask) return true;
      const Shape& shape = g_.type(mask).shape;
      return shape.size() >= 1 && shape.size() <= rank && shape.back() == k.shape[rank - 2];
    };
    const bool windows_fit = !f.windows || g_.type(f.windows).shape.back() == k.shape[rank - 2];
    return fits(f.bias) && fits(f.choice) && windows_fit;
  }

  const Graph& g_;
  const Target& target_;
  Uses uses_;
  FoundAttention* found_ = nullptr;  // that is being put together
};

ValueId widened(Graph& g, ValueId v, const Provenance& o) {
  return v && is_half(g.type(v).dtype) ? cast(g, v, DType::f32, o) : v;
}
ValueId widened_mask(Graph& g, ValueId mask, const Provenance& o) {
  const ValueId wide = widened(g, mask, o);
  if (!mask || g.type(mask).dtype != DType::f16) return wide;
  const auto scalar = [&](DType type, double value) { return g.constant(Tensor::scalar(type, value)); };
  const ValueId is_lowest = g.add(get_operator("Equal"), {mask, scalar(DType::f16, kLowestHalf)}, {}, o)[0];
  return g.add(get_operator("Where"), {is_lowest, scalar(DType::f32, kLowest), wide}, {}, o)[0];
}

/// Attention on values of the graph that is made.
class AttentionWriter {
 public:
  AttentionWriter(Graph& into, const FoundAttention& f) : g_(into), f_(f) {}

  std::vector<ValueId> inputs(ValueId q, ValueId k, ValueId v, ValueId bias, ValueId windows, ValueId choice) {
    rank_ = g_.type(q).rank();
    for (ValueId* x : {&q, &k, &v}) *x = widened(g_, *x, f_.provenance);
    for (ValueId* mask : {&bias, &windows}) *mask = widened_mask(g_, *mask, f_.provenance);
    if (f_.k_transposed) k = op("Transpose", {k}, {{"perm", last_axes_swapped(rank_)}});
    std::vector<ValueId> all{with_heads(q), with_heads(k), with_heads(v)};
    if (bias && f_.bias_scale != 1) bias = op("Mul", {bias, number(f_.bias_scale)});
    if (windows) bias = bias ? op("Add", {bias, of_batch(windows)}) : of_batch(windows);
    ValueId mask = bias;
    if (choice && bias) {
      std::vector<ValueId> sides{bias, number(f_.masked_score)};
      if (f_.chooses_masked) std::swap(sides[0], sides[1]);
      mask = op("Where", {choice, sides[0], sides[1]});
    } else if (choice) {
      mask = f_.chooses_masked ? op("Not", {choice}) : choice;
    }
    if (mask) all.push_back(g_.type(mask).rank() == 3 ? with_heads(mask) : mask);
    return all;
  }
  Attrs attributes() const {
    Attrs attrs{{"scale", f_.scale}};
    if (!f_.guarded) attrs["unguarded"] = int64_t{1};
    if (!f_.has_mask_to_add() && std::isfinite(f_.masked_score)) attrs["masked_score"] = f_.masked_score;
    return attrs;
  }
  /// Without the axes that `inputs` added.
  ValueId output(ValueId y) { return rank_ == 4 ? y : op("Squeeze", {y, added_axes()}); }

 private:
  ValueId op(std::string_view name, std::vector<ValueId> in, Attrs attrs = {}) {
    return g_.add(get_operator(name), std::move(in), std::move(attrs), f_.provenance)[0];
  }
  /// A mask of windows, at most [batch, windows, heads, rows, keys], with both first axes as one.
  ValueId of_batch(ValueId windows) {
    std::vector<int64_t> split = f_.batch_of_windows, joined{split[0] * split[1]};
    const Shape& shape = g_.type(windows).shape;
    for (size_t axis = 2; axis < 5; ++axis) {
      const size_t missing = 5 - shape.size();
      const int64_t extent = axis < missing ? 1 : shape[axis - missing].value();
      split.push_back(extent);
      joined.push_back(extent);
    }
    const ValueId expanded = op("Expand", {windows, g_.constant(Tensor::i64({5}, split))});
    return op("Reshape", {expanded, g_.constant(Tensor::i64({4}, joined))});
  }
  ValueId number(double value) { return g_.constant(Tensor::scalar(DType::f32, value)); }
  /// Of one head, and of one batch where there is none.
  ValueId added_axes() const {
    const std::vector<int64_t> axes = rank_ == 3 ? std::vector<int64_t>{1} : std::vector<int64_t>{0, 1};
    return g_.constant(Tensor::i64({static_cast<int64_t>(axes.size())}, axes));
  }
  ValueId with_heads(ValueId v) { return rank_ == 4 ? v : op("Unsqueeze", {v, added_axes()}); }

  Graph& g_;
  const FoundAttention& f_;
  int rank_ = 4;
};

class AttentionClaims {
 public:
  AttentionClaims(const Graph& g, PassContext& context)
      : g_(g), context_(context), finder_(g, context.target), claims_(context.target, context.claims) {}

  std::optional<std::vector<ValueId>> rule(Graph& into, const Node& n, std::span<const ValueId> in) {
    if (&n < g_.nodes().data() || &n >= g_.nodes().data() + g_.nodes().size()) return std::nullopt;  // of a body
    for (size_t i = 0; i < in.size(); ++i)
      if (in[i]) made_[n.inputs[i]] = in[i];
    if (n.op->name == "Attention") return of_halves(into, n, in);
    const auto found = finder_.find(n);
    if (!found) return std::nullopt;
    AttentionWriter writer(into, *found);
    const auto made = [&](ValueId v) { return v ? made_.at(v) : v; };
    Node whole;
    whole.op = &get_operator("Attention");
    whole.version = whole.op->since.back();
    whole.inputs = writer.inputs(made(found->q), made(found->k), made(found->v), made(found->bias),
                                 made(found->windows), made(found->choice));
    whole.outputs.resize(1, n.outputs[0]);
    if (const Node *k = found->joined_k, *v = found->joined_v; k) {
      whole.inputs.resize(PastValue + 1);
      for (const auto& [joined, past, now] : {std::tuple(k, PastKey, K), std::tuple(v, PastValue, V)}) {
        whole.inputs[past] = made(joined->inputs[0]);
        whole.inputs[now] = made(joined->inputs[1]);
        whole.outputs.push_back(joined->outputs[0]);
      }
    }
    whole.attrs = writer.attributes();
    whole.provenance = found->provenance;
    const DType type = g_.type(n.outputs[0]).dtype;
    // the model's nodes repeat keys that heads share, the operator's definition reads them in place
    const bool pays = type == DType::f32 && into.type(whole.inputs[Q]).shape[1] != into.type(whole.inputs[K]).shape[1];
    const auto made_whole = add_claimed(into, whole, pays);
    if (made_whole.empty()) return std::nullopt;
    for (size_t i = 1; i < made_whole.size(); ++i) {
      given_[whole.outputs[i]] = made_whole[i];
      into.set_name(made_whole[i], g_[whole.outputs[i]].name);
    }
    const ValueId y = made_whole[0];
    return std::vector{writer.output(type == DType::f32 ? y : cast(into, y, type, whole.provenance))};
  }
  /// The joined cache that attention gives; null where a node of its own does.
  ValueId output(ValueId v) const {
    const auto given = given_.find(v);
    return given == given_.end() ? ValueId{} : given->second;
  }
  std::vector<Claim> take() { return claims_.take(); }

 private:
  /// What the node computes, where a family does it for less, or where it `pays` anyway; empty: it is not added.
  std::vector<ValueId> add_claimed(Graph& into, Node& whole, bool pays) {
    const Claim* claim = claims_.decide(alone(into, whole, whole.inputs));
    if (!claim || !(claim->won.family || pays) || !context_.apply("claim_attention", into, whole.provenance)) return {};
    if (claim->won.family) whole.attrs[std::string(kClaimedBy)] = std::string(claim->won.family->name());
    return into.add(*whole.op, whole.inputs, whole.attrs, whole.provenance, whole.version,
                    static_cast<int>(whole.outputs.size()));
  }
  std::optional<std::vector<ValueId>> of_halves(Graph& into, const Node& n, std::span<const ValueId> in) {
    const DType type = into.type(in[Q]).dtype;
    const bool has_more = n.outputs.size() > 1 || operand(in, PastKey) || operand(in, Valid);
    if (!context_.target.widens_products_of(type) || has_more) return std::nullopt;
    Node whole = n;
    for (size_t i = 0; i < in.size(); ++i)
      whole.inputs[i] = i == Mask ? widened_mask(into, in[i], n.provenance) : widened(into, in[i], n.provenance);
    const auto made = add_claimed(into, whole, false);
    return made.empty() ? std::nullopt : std::optional(std::vector{cast(into, made[0], type, n.provenance)});
  }

  const Graph& g_;
  PassContext& context_;
  AttentionFinder finder_;
  Claims claims_;
  std::map<ValueId, ValueId> made_;   // by value of `g_`, those that nodes have read so far
  std::map<ValueId, ValueId> given_;  // by value of `g_`, outputs that attention makes
};

}  // namespace

Graph claim_attention(const Graph& g, PassContext& context) {
  AttentionClaims claims(g, context);
  Graph claimed = replay(
      g, [&](Graph& into, const Node& n, std::span<const ValueId> in) { return claims.rule(into, n, in); },
      [&](ValueId v) { return claims.output(v); });
  std::ranges::move(claims.take(), std::back_inserter(context.claims));
  return claimed;
}

}  // namespace cameo
