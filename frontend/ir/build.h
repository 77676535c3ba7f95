// Build: writes small graphs by hand, for the definitions of composite operators and for tests. Every call adds a node
// of the newest version of its operator, so shape rules and folding apply as everywhere.
#pragma once
#include <functional>
#include <string_view>
#include <vector>

#include "frontend/ir/graph.h"
#include "frontend/ir/operator.h"

namespace cameo {

class Build {
 public:
  Build() = default;
  /// A definition over a node's inputs: the graph has one input for each input of `n` that is present.
  explicit Build(const NodeView& n);

  ValueId input(std::string name, Type type) { return graph_.add_input(std::move(name), std::move(type)); }
  ValueId in(int i) const { return i < static_cast<int>(inputs_.size()) ? inputs_[i] : ValueId{}; }  // of the node
  ValueId op(std::string_view name, std::vector<ValueId> inputs, Attrs attrs = {});                  // its first output
  std::vector<ValueId> ops(std::string_view name, std::vector<ValueId> inputs, Attrs attrs, int outputs);

  ValueId scalar(DType t, double v) { return graph_.constant(Tensor::scalar(t, v)); }
  ValueId like(ValueId x, double v) { return scalar(type(x).dtype, v); }
  ValueId ints(std::vector<int64_t> v);
  ValueId dims(const Shape& shape);  // static extents as an i64 vector
  const Type& type(ValueId v) const { return graph_.type(v); }

  ValueId add(ValueId a, ValueId b) { return op("Add", {a, b}); }
  ValueId sub(ValueId a, ValueId b) { return op("Sub", {a, b}); }
  ValueId mul(ValueId a, ValueId b) { return op("Mul", {a, b}); }
  ValueId div(ValueId a, ValueId b) { return op("Div", {a, b}); }
  ValueId matmul(ValueId a, ValueId b) { return op("MatMul", {a, b}); }
  ValueId cast(ValueId x, DType to);  // the same value when it has the type already
  ValueId transpose(ValueId x, std::vector<int64_t> perm) { return op("Transpose", {x}, {{"perm", std::move(perm)}}); }
  ValueId reshape(ValueId x, std::vector<int64_t> dims) { return op("Reshape", {x, ints(std::move(dims))}); }
  ValueId unsqueeze(ValueId x, std::vector<int64_t> axes) { return op("Unsqueeze", {x, ints(std::move(axes))}); }
  ValueId squeeze(ValueId x, std::vector<int64_t> axes) { return op("Squeeze", {x, ints(std::move(axes))}); }
  ValueId concat(std::vector<ValueId> x, int64_t axis) { return op("Concat", std::move(x), {{"axis", axis}}); }
  ValueId slice(ValueId x, int64_t axis, int64_t begin, int64_t end, int64_t step = 1);
  ValueId reduce(std::string_view name, ValueId x, std::vector<int64_t> axes, bool keepdims = true);
  ValueId gather(ValueId x, ValueId index, int64_t axis = 0) { return op("Gather", {x, index}, {{"axis", axis}}); }

  /// A Loop of `trips` iterations. The body gets a Build of its own, the iteration number (i64 scalar) and the carried
  /// values; it reaches outer values through `capture`. Gives the final carried values, then each scan output stacked
  /// on axis 0.
  struct Step {
    std::vector<ValueId> carried, scans;
  };
  std::vector<ValueId> loop(
      ValueId trips, std::vector<ValueId> initial,
      const std::function<Step(Build& body, ValueId iteration, std::span<const ValueId> carried)>& body);
  ValueId capture(ValueId outer);  // in a body: the outer value as an input

  /// One value an output of the operator, in order; a node with fewer outputs ignores the rest.
  Composite outputs(std::vector<ValueId> outputs);
  Graph finish(std::vector<std::pair<std::string, ValueId>> outputs);
  Graph& graph() { return graph_; }

 private:
  Graph graph_;
  std::vector<ValueId> inputs_;
  const Build* outer_ = nullptr;
  std::vector<std::pair<ValueId, ValueId>> captured_;  // outer value, input of this body
};

}  // namespace cameo
