// A row of kRules an operator: what reaches its inputs of what reaches its output. From the last node to the first,
// what reaches a value from its users adds up.
#include "frontend/ir/differentiate.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <numeric>

#include "frontend/ir/operator.h"

namespace cameo {
namespace {

/// One node, and what reaches its output.
struct Step {
  Graph& g;
  const Provenance& provenance;
  const Node& node;
  ValueId reaches;

  ValueId op(std::string_view name, std::vector<ValueId> inputs, Attrs attrs = {}) const {
    return g.add(get_operator(name), std::move(inputs), std::move(attrs), provenance)[0];
  }
  ValueId in(int i) const { return node.inputs[i]; }
  ValueId out() const { return node.outputs[0]; }
  ValueId mul(ValueId a, ValueId b) const { return op("Mul", {a, b}); }
  ValueId neg(ValueId a) const { return op("Neg", {a}); }
  ValueId number(double v) const { return g.constant(Tensor::scalar(g.type(out()).dtype, v)); }
  /// With the last two axes in each other's place.
  ValueId turned(ValueId v) const {
    std::vector<int64_t> perm(g.type(v).rank());
    std::iota(perm.begin(), perm.end(), 0);
    std::swap(perm[perm.size() - 1], perm[perm.size() - 2]);
    return op("Transpose", {v}, {{"perm", perm}});
  }
  /// Of a matrix or a stack of them; vectors have other rules.
  void need_matrices() const {
    for (ValueId v : node.inputs)
      if (g.type(v).rank() < 2) throw CompileError(Code::E0402, "the derivative of a `MatMul` of vectors");
  }
};

using Reached = std::vector<ValueId>;  // one an input
struct Derivative {
  std::string_view op;
  Reached (*reach)(const Step&);
};
constexpr Derivative kRules[] = {
    {"Add", [](const Step& s) -> Reached { return {s.reaches, s.reaches}; }},
    {"Div",
     [](const Step& s) -> Reached {
       const ValueId first = s.op("Div", {s.reaches, s.in(1)});
       return {first, s.neg(s.mul(first, s.out()))};
     }},
    {"Exp", [](const Step& s) -> Reached { return {s.mul(s.reaches, s.out())}; }},
    {"Identity", [](const Step& s) -> Reached { return {s.reaches}; }},
    {"Log", [](const Step& s) -> Reached { return {s.op("Div", {s.reaches, s.in(0)})}; }},
    {"MatMul",
     [](const Step& s) -> Reached {
       s.need_matrices();
       return {s.op("MatMul", {s.reaches, s.turned(s.in(1))}), s.op("MatMul", {s.turned(s.in(0)), s.reaches})};
     }},
    {"Mul", [](const Step& s) -> Reached { return {s.mul(s.reaches, s.in(1)), s.mul(s.reaches, s.in(0))}; }},
    {"Neg", [](const Step& s) -> Reached { return {s.neg(s.reaches)}; }},
    {"Relu",
     [](const Step& s) -> Reached {
       return {s.op("Where", {s.op("Less", {s.number(0), s.in(0)}), s.reaches, s.number(0)})};
     }},
    {"Sigmoid",
     [](const Step& s) -> Reached { return {s.mul(s.reaches, s.mul(s.out(), s.op("Sub", {s.number(1), s.out()})))}; }},
    {"Sqrt", [](const Step& s) -> Reached { return {s.op("Div", {s.mul(s.reaches, s.number(0.5)), s.out()})}; }},
    {"Sub", [](const Step& s) -> Reached { return {s.reaches, s.neg(s.reaches)}; }},
    {"Tanh",
     [](const Step& s) -> Reached { return {s.mul(s.reaches, s.op("Sub", {s.number(1), s.mul(s.out(), s.out())}))}; }},
};

class Differentiation {
 public:
  Differentiation(Graph& g, const Provenance& provenance) : g_(g), provenance_(provenance) {}

  std::vector<ValueId> run(ValueId y, std::span<const ValueId> xs) {
    const std::vector<Node> nodes(g_.nodes().begin(), g_.nodes().end());  // those before the first of ours
    std::vector<bool> depends(g_.values().size());
    for (ValueId x : xs) depends[x.index] = true;
    const auto is_on_the_way = [&](ValueId v) { return v && depends[v.index]; };
    for (const Node& n : nodes)
      if (std::ranges::any_of(n.inputs, is_on_the_way))
        for (ValueId v : n.outputs)
          if (v) depends[v.index] = true;
    reaches_[y] = filled_like(y, 1);
    for (size_t i = nodes.size(); i-- > 0;) {
      const Node& n = nodes[i];
      if (n.outputs.empty() || !is_on_the_way(n.outputs[0]) || std::ranges::find(xs, n.outputs[0]) != xs.end())
        continue;
      const auto reached = reaches_.find(n.outputs[0]);
      if (reached != reaches_.end()) pass(n, reached->second, is_on_the_way);
    }
    std::vector<ValueId> derivatives;
    for (ValueId x : xs) derivatives.push_back(reaches_.contains(x) ? reaches_[x] : filled_like(x, 0));
    return derivatives;
  }

 private:
  ValueId op(std::string_view name, std::vector<ValueId> inputs, Attrs attrs = {}) {
    return g_.add(get_operator(name), std::move(inputs), std::move(attrs), provenance_)[0];
  }
  ValueId filled_like(ValueId v, double number) {
    return op("Expand", {g_.constant(Tensor::scalar(g_.type(v).dtype, number)), op("Shape", {v})});
  }
  template <class OnTheWay>
  void pass(const Node& n, ValueId reached, const OnTheWay& is_on_the_way) {
    const auto rule = std::ranges::find(kRules, n.op->name, &Derivative::op);
    if (rule == std::end(kRules) || !n.op->domain.empty())
      throw CompileError(Code::E0402, fmt::format("the derivative of `{}` is not known", n.op->name));
    const Reached to = rule->reach({g_, provenance_, n, reached});
    for (size_t i = 0; i < to.size(); ++i) {
      if (!is_on_the_way(n.inputs[i])) continue;
      const ValueId own = summed_to(to[i], n.inputs[i]);
      ValueId& all = reaches_[n.inputs[i]];
      all = all ? op("Add", {all, own}) : own;
    }
  }
  /// Over the axes along which the value was broadcast.
  ValueId summed_to(ValueId v, ValueId like) {
    const Shape &from = g_.type(v).shape, &to = g_.type(like).shape;
    if (from == to) return v;
    std::vector<int64_t> axes;
    const size_t more = from.size() - to.size();
    for (size_t a = 0; a < from.size(); ++a)
      if (a < more || from[a] != to[a - more]) axes.push_back(static_cast<int64_t>(a));
    const ValueId sum = op("ReduceSum", {v, g_.constant(Tensor::i64({std::ssize(axes)}, axes))});
    return op("Reshape", {sum, op("Shape", {like})});
  }

  Graph& g_;
  const Provenance& provenance_;
  std::map<ValueId, ValueId> reaches_;
};

}  // namespace

std::vector<ValueId> differentiate(Graph& g, ValueId y, std::span<const ValueId> xs, const Provenance& provenance) {
  return Differentiation(g, provenance).run(y, xs);
}

}  // namespace cameo
