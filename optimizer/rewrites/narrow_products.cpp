// narrow_products, of builds that ask for it (--precision=bf16): operands of products of f32 are rounded to bf16, and
// their sums stay f32. What ONNX has no operator for is a product of f32 by what Widen makes of bf16, of which kernels
// read the 16 bits (clusters/join_rules.cpp). Weights, which must be known, are rounded when compiling, for who moves
// or gathers them too. Where the target multiplies bf16 two by two, so is what they are multiplied with: where it is
// made, so that it is stored in 16 bits for all who read it, through reshapes and transposes. Elsewhere that would gain
// nothing, and it stays f32.
#include <algorithm>
#include <map>
#include <set>

#include "frontend/ir/operator.h"
#include "optimizer/pipeline.h"
#include "optimizer/rewrites/operands.h"

namespace cameo {
namespace {

constexpr int64_t kWorthNarrowing = 256;  // elements of weights: fewer cost no time

bool moves_elements(const Node& n) {
  constexpr std::string_view kMoves[] = {"Flatten", "Gather",    "Identity", "Reshape",
                                         "Squeeze", "Transpose", "Unsqueeze"};
  return std::ranges::find(kMoves, n.op->name) != std::end(kMoves);
}

class NarrowProducts {
 public:
  NarrowProducts(const Graph& g, PassContext& context)
      : g_(g), context_(context), narrow_where_made_(g.values().size()) {
    for (const Port& p : g.outputs()) keep_wide(p.value);
    for (const Node& n : g.nodes())
      if (is_product(n) && is_kept(n)) keep_wide(n.inputs[0]);
    for (size_t i = g.nodes().size(); i-- > 0;) find_narrow(g.nodes()[i]);
  }

  std::optional<std::vector<ValueId>> rule(Graph& into, const Node& n, std::span<const ValueId> in) {
    if (!n.bodies.empty()) return std::nullopt;
    std::vector<ValueId> inputs(in.begin(), in.end());
    if (moves_elements(n)) return moved(into, n, inputs);
    for (ValueId& v : inputs)
      if (const ValueId narrow = constant(into, v) ? ValueId{} : narrow_of(into, v))
        v = widen(into, narrow, n.provenance);
    const bool is_ours = &n >= g_.nodes().data() && &n < g_.nodes().data() + g_.nodes().size();
    if (is_ours && is_product(n) && is_kept(n))
      context_.remark(n.provenance, "its products stay f32: --keep-fp32 names it");
    if (is_ours && narrows(n) && context_.apply("narrow_product", into, n.provenance)) narrow(into, n, inputs);
    std::vector<ValueId> outs =
        into.add(*n.op, std::move(inputs), n.attrs, n.provenance, n.version, static_cast<int>(n.outputs.size()));
    if (is_ours)
      for (size_t i = 0; i < outs.size(); ++i)
        if (n.outputs[i] && narrow_where_made_[n.outputs[i].index])
          outs[i] = widened(into, narrowed(into, outs[i], n.provenance), n.provenance);
    return outs;
  }

 private:
  static ValueId narrowed(Graph& g, ValueId v, const Provenance& o) { return cast(g, v, DType::bf16, o); }
  static ValueId widen(Graph& g, ValueId v, const Provenance& o) {
    return g.add(get_operator("Widen", "cameo"), {v}, {}, o)[0];
  }

  // ---- of the graph that is replayed
  /// The constant that a product multiplies by, also one that is transposed; null: it is none.
  const Tensor* weights_of(ValueId v) const {
    while (v && !g_[v].constant) {
      const NodeId made = g_[v].producer;
      if (!made || g_[made].op->name != "Transpose") return nullptr;
      v = g_[made].inputs[0];
    }
    return constant(g_, v);
  }
  bool is_kept(const Node& n) const {
    return std::ranges::any_of(n.provenance, [&](uint32_t source) {
      return std::ranges::any_of(context_.keep_fp32,
                                 [&](const std::string& name) { return is_called(g_.sources()[source], name); });
    });
  }
  bool is_product(const Node& n) const {
    if (g_.type(n.outputs[0]).dtype != DType::f32) return false;
    if (n.op->name == "Conv") return NodeView(g_, n).attr_int("group") == 1;
    return n.op->name == "MatMul" || n.op->name == "Gemm";
  }
  bool narrows(const Node& n) const {
    if (!is_product(n) || is_kept(n)) return false;
    const Tensor* weights = weights_of(n.inputs[1]);
    return weights && weights->size() >= kWorthNarrowing && !constant(g_, n.inputs[0]);
  }
  /// From the last node to the first one: what products read is narrow where it is made, before it is moved.
  void find_narrow(const Node& n) {
    if (moves_elements(n) && narrow_where_made_[n.outputs[0].index]) {
      narrow_where_made_[n.outputs[0].index] = false;
      mark(n.inputs[0]);
    }
    if (!narrows(n)) return;
    weights_.insert(weights_of(n.inputs[1]));
    mark(n.inputs[0]);
  }
  void mark(ValueId v) {
    if (context_.target.has_products_of_pairs() && g_[v].producer && !wide_.contains(v))
      narrow_where_made_[v.index] = true;
  }

  /// What is moved, joined or cut to `v` is not rounded where it is made; a product that wants it narrow rounds it for
  /// itself.
  void keep_wide(ValueId v) {
    constexpr std::string_view kPieces[] = {"Concat", "DepthToSpace", "Expand", "Pad",
                                            "Slice",  "SpaceToDepth", "Split",  "Tile"};
    if (!v || !wide_.insert(v).second) return;
    const NodeId made = g_[v].producer;
    if (!made) return;
    const Node& n = g_[made];
    if (!moves_elements(n) && std::ranges::find(kPieces, n.op->name) == std::end(kPieces)) return;
    for (const ValueId from : n.inputs) keep_wide(from);
  }

  // ---- of the graph that is made
  /// What a value of f32 stands for; null: it was not rounded.
  ValueId narrow_of(Graph& into, ValueId v) {
    if (!v) return {};
    if (const Constant& c = into[v].constant) return weights_.contains(c.get()) ? rounded(into, v) : ValueId{};
    const auto found = narrow_.find({into.serial(), v});
    return found == narrow_.end() ? ValueId{} : found->second;
  }
  ValueId rounded(Graph& into, ValueId v) {
    const Constant from = into[v].constant;
    ValueId& made = narrow_[{into.serial(), v}];
    if (made) return made;
    Constant& to = rounded_[from.get()];
    if (!to) {
      Tensor t(DType::bf16, from->dims());
      std::ranges::transform(from->as<float>(), t.mutable_as<uint16_t>().begin(), float_to_bfloat);
      to = std::make_shared<const Tensor>(std::move(t));
    }
    return made = into.constant(to, into[v].name);
  }
  ValueId widened(Graph& into, ValueId narrow, const Provenance& o) {
    const ValueId wide = widen(into, narrow, o);
    narrow_[{into.serial(), wide}] = narrow;
    return wide;
  }
  /// Moves 16 bits, and not what they stand for.
  std::optional<std::vector<ValueId>> moved(Graph& into, const Node& n, std::vector<ValueId> inputs) {
    const ValueId narrow = narrow_of(into, inputs[0]);
    if (!narrow) return std::nullopt;
    inputs[0] = narrow;
    const ValueId v = into.add(*n.op, std::move(inputs), n.attrs, n.provenance, n.version)[0];
    return std::vector<ValueId>{widened(into, v, n.provenance)};
  }
  /// Its operands are what is narrow, widened.
  void narrow(Graph& into, const Node& n, std::vector<ValueId>& inputs) {
    if (constant(into, inputs[1])) inputs[1] = widen(into, narrow_of(into, inputs[1]), n.provenance);
    const NodeId made = into[inputs[0]].producer;
    const bool is_narrow = made && into[made].op->name == "Widen";
    if (context_.target.has_products_of_pairs() && !is_narrow)
      inputs[0] = widen(into, narrowed(into, inputs[0], n.provenance), n.provenance);
    context_.remark(n.provenance, context_.target.has_products_of_pairs()
                                      ? "its operands are bf16, two products an instruction; the sum is f32"
                                      : "its weights are bf16, widened as they are read; the sum is f32");
  }

  const Graph& g_;
  PassContext& context_;
  std::vector<bool> narrow_where_made_;                     // by value
  std::set<ValueId> wide_;                                  // not to be rounded where they are made
  std::set<const Tensor*> weights_;                         // of narrow products
  std::map<std::pair<uint64_t, ValueId>, ValueId> narrow_;  // by graph; bodies are graphs too
  std::map<const Tensor*, Constant> rounded_;
};

}  // namespace

Graph narrow_products(const Graph& g, PassContext& context) {
  if (context.precision != DType::bf16) return g;
  NarrowProducts products(g, context);
  return replay(g, [&](Graph& into, const Node& n, std::span<const ValueId> in) { return products.rule(into, n, in); });
}

}  // namespace cameo
