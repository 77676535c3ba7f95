// widen_products: a product of 16-bit floats or of 8-bit integers, where the target has none, is one of f32 between
// casts. Of 16 bits that is its definition; a sum of integers, which must be read as f32 to be found here, rounds where
// it passes 2^24. The casts join what makes the operands and what reads the result, and constant weights stay as narrow
// as they are: the kernel widens them as it reads.
#include <algorithm>
#include <map>

#include "frontend/ir/operator.h"
#include "optimizer/pipeline.h"
#include "optimizer/rewrites/operands.h"

namespace cameo {
namespace {

bool is_product(const Node& n) {
  constexpr std::string_view kProducts[] = {"Conv", "ConvTranspose", "Gemm", "MatMul"};
  return std::ranges::find(kProducts, n.op->name) != std::end(kProducts);
}

Tensor as_floats(const Tensor& integers) {
  Tensor t(DType::f32, {integers.dims().begin(), integers.dims().end()});
  for (int64_t i = 0; i < t.size(); ++i) t.set(i, static_cast<double>(integers.get_int(i)));
  return t;
}

/// The zero points of a product's operand, along the axis that has `behind` axes behind it, as they are taken off it.
ValueId aligned(Graph& g, ValueId zero, int behind, const Provenance& o) {
  if (g.type(zero).rank() > 1) return zero;
  std::vector<int64_t> dims;
  if (product(g.type(zero).shape) != Dim(1)) {
    dims.assign(static_cast<size_t>(behind) + 1, 1);
    dims[0] = -1;
  }
  const ValueId to = g.constant(Tensor::i64({static_cast<int64_t>(dims.size())}, dims));
  return g.add(get_operator("Reshape"), {zero, to}, {}, o)[0];
}

class WidenProducts {
 public:
  explicit WidenProducts(PassContext& context) : context_(context) {}

  std::optional<ValueId> rule(Graph& into, const Node& n, std::span<const ValueId> in) {
    if (is_product(n)) return of_halves(into, n, in);
    if (n.op->name == "Cast" && NodeView(into, n).attr_int("to") == static_cast<int64_t>(DType::f32))
      return of_integers(into, n, in[0]);
    return std::nullopt;
  }

 private:
  std::optional<ValueId> of_halves(Graph& into, const Node& n, std::span<const ValueId> in) {
    const DType narrow = into.type(in[0]).dtype;
    if (!context_.target.widens_products_of(narrow) || !context_.apply("widen_product", into, n.provenance))
      return std::nullopt;
    std::vector<ValueId> wide;
    for (ValueId v : in) wide.push_back(v ? widen(into, v, n.provenance) : v);
    const ValueId y = into.add(*n.op, std::move(wide), n.attrs, n.provenance, n.version)[0];
    return cast(into, y, narrow, n.provenance);
  }

  /// Cast(product of integers), or of it and a constant, as a product of f32.
  std::optional<ValueId> of_integers(Graph& into, const Node& n, ValueId sum) {
    ValueId bias;
    if (const NodeId add = into[sum].producer; add && into[add].op->name == "Add") {
      const auto& terms = into[add].inputs;
      if (!into[terms[1]].constant) return std::nullopt;
      sum = terms[0], bias = terms[1];
    }
    const NodeId made = into[sum].producer;
    if (!made) return std::nullopt;
    const Node p = into[made];  // by value: nodes are added
    const bool conv = p.op->name == "ConvInteger";
    if ((!conv && p.op->name != "MatMulInteger") || !lacks(into, p) ||
        !context_.apply("float_product", into, p.provenance))
      return std::nullopt;
    const Provenance& o = n.provenance;
    const int rank = into.type(p.inputs[1]).rank();
    const ValueId x = less_zero(into, p, 0, conv ? 0 : 1, o), w = less_zero(into, p, 1, conv ? rank - 1 : 0, o);
    const ValueId y = into.add(get_operator(conv ? "Conv" : "MatMul"), {x, w}, p.attrs, o)[0];
    return bias ? into.add(get_operator("Add"), {y, cast(into, bias, DType::f32, o)}, {}, o)[0] : y;
  }
  /// Whether no kernel but a nest computes this product of integers on the target, or one of floats is faster.
  bool lacks(const Graph& g, const Node& p) const {
    const ValueId w = p.inputs[1];
    const bool stands = g[w].constant && g.type(w).dtype == DType::i8 && (p.inputs.size() < 4 || !p.inputs[3]);
    if (!context_.target.has_integer_products() || !stands) return true;
    if (p.op->name != "ConvInteger") return false;
    const int64_t groups = NodeView(g, p).attr_int("group");
    const Shape& shape = g.type(w).shape;
    return !has_integer_groups(shape, groups) || has_groups_of_floats(shape, groups, context_.target.machine.dot8);
  }
  /// In which kernels read weights of f32 alone.
  static bool is_in_groups(const Graph& g, const Node& p) {
    if (p.op->name != "ConvInteger") return false;
    const int64_t groups = NodeView(g, p).attr_int("group");
    return groups > 1 && !has_single_channels(g.type(p.inputs[1]).shape, groups);
  }
  ValueId less_zero(Graph& into, const Node& p, size_t operand, int behind, const Provenance& o) {
    const bool of_groups = operand == 1 && is_in_groups(into, p);
    const Tensor* known = of_groups ? constant(into, p.inputs[operand]) : nullptr;
    const ValueId wide = known ? into.constant(as_floats(*known)) : widen(into, p.inputs[operand], o);
    const ValueId zero = operand + 2 < p.inputs.size() ? p.inputs[operand + 2] : ValueId{};
    if (!zero) return wide;
    return into.add(get_operator("Sub"), {wide, cast(into, aligned(into, zero, behind, o), DType::f32, o)}, {}, o)[0];
  }

  ValueId widen(Graph& into, ValueId v, const Provenance& o) {
    if (into[v].constant) return cast(into, v, DType::f32, o);  // each reader reads it for itself
    ValueId& wide = widened_[{into.serial(), v}];
    if (!wide) wide = cast(into, v, DType::f32, o);
    return wide;
  }

  PassContext& context_;
  std::map<std::pair<uint64_t, ValueId>, ValueId> widened_;  // by graph; bodies are graphs too
};

}  // namespace

Graph widen_products(const Graph& g, PassContext& context) {
  WidenProducts products(context);
  return replay(g, [&](Graph& into, const Node& n, std::span<const ValueId> in) -> std::optional<std::vector<ValueId>> {
    const auto y = products.rule(into, n, in);
    return y ? std::optional(std::vector<ValueId>{*y}) : std::nullopt;
  });
}

}  // namespace cameo
