// Build: each call finds the operator by name and adds a node.
#include "frontend/ir/build.h"

#include "frontend/ir/check.h"

namespace cameo {

Build::Build(const NodeView& n) {
  for (int i = 0; i < n.input_count(); ++i) {
    if (!n.has(i)) {
      inputs_.push_back({});
      continue;
    }
    const Value& v = n.graph()[n.node().inputs[i]];
    inputs_.push_back(graph_.add_input("", v.type));
    bool constant_ints = v.constant && v.constant->size() <= 64;
    if (auto content = !v.constant || constant_ints ? n.content(i) : std::nullopt)
      graph_.set_content(inputs_.back(), *content);
  }
}

ValueId Build::op(std::string_view name, std::vector<ValueId> inputs, Attrs attrs) {
  return graph_.add(get_operator(name), std::move(inputs), std::move(attrs))[0];
}
std::vector<ValueId> Build::ops(std::string_view name, std::vector<ValueId> inputs, Attrs attrs, int outputs) {
  return graph_.add(get_operator(name), std::move(inputs), std::move(attrs), {}, 0, outputs);
}
ValueId Build::ints(std::vector<int64_t> v) {
  return graph_.constant(Tensor::i64({static_cast<int64_t>(v.size())}, v));
}
ValueId Build::dims(const Shape& shape) { return ints(extents(shape)); }
ValueId Build::cast(ValueId x, DType to) {
  return type(x).dtype == to ? x : op("Cast", {x}, {{"to", static_cast<int64_t>(to)}});
}
ValueId Build::slice(ValueId x, int64_t axis, int64_t begin, int64_t end, int64_t step) {
  return op("Slice", {x, ints({begin}), ints({end}), ints({axis}), ints({step})});
}
ValueId Build::reduce(std::string_view name, ValueId x, std::vector<int64_t> axes, bool keepdims) {
  return op(name, {x, ints(std::move(axes))}, {{"keepdims", int64_t{keepdims}}});
}

ValueId Build::capture(ValueId outer) {
  CAMEO_CHECK(outer_, "a capture inside of a body");
  if (const Constant& c = outer_->graph_[outer].constant) return graph_.constant(c);
  for (auto& [from, to] : captured_)
    if (from == outer) return to;
  ValueId v = graph_.add_input("", outer_->type(outer));
  captured_.push_back({outer, v});
  return v;
}

std::vector<ValueId> Build::loop(ValueId trips, std::vector<ValueId> initial,
                                 const std::function<Step(Build&, ValueId, std::span<const ValueId>)>& body) {
  Build inner;
  inner.outer_ = this;
  ValueId iteration = inner.input("iteration", Type(DType::i64, {}));
  ValueId condition = inner.input("condition", Type(DType::b1, {}));
  std::vector<ValueId> carried;
  for (ValueId v : initial) carried.push_back(inner.input("", type(v)));
  Step step = body(inner, iteration, carried);
  inner.graph_.add_output("", condition);
  for (ValueId v : step.carried) inner.graph_.add_output("", v);
  for (ValueId v : step.scans) inner.graph_.add_output("", v);
  std::vector<ValueId> inputs{trips, {}};
  inputs.insert(inputs.end(), initial.begin(), initial.end());
  for (auto& [outer, input] : inner.captured_) inputs.push_back(outer);
  int outputs = static_cast<int>(step.carried.size() + step.scans.size());
  Attrs attrs{{"captures", static_cast<int64_t>(inner.captured_.size())}};
  return graph_.add(get_operator("Loop"), std::move(inputs), std::move(attrs), {}, 0, outputs,
                    {std::make_shared<const Graph>(std::move(inner.graph_))});
}

Composite Build::outputs(std::vector<ValueId> outputs) {
  for (ValueId v : outputs) graph_.add_output("", v);
  return {std::make_shared<const Graph>(std::move(graph_))};
}
Graph Build::finish(std::vector<std::pair<std::string, ValueId>> outputs) {
  for (auto& [name, v] : outputs) graph_.add_output(name, v);
  return std::move(graph_);
}

}  // namespace cameo
