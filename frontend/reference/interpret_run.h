// Running nodes and graphs on tensors with shadows: what each meaning does (interpret.cpp, interpret_scatter.cpp,
// interpret_control.cpp). One set of symbols serves a whole run, bodies and definitions included.
#pragma once
#include <deque>

#include "frontend/ir/operator.h"
#include "frontend/reference/interpret.h"
#include "frontend/reference/interpret_tape.h"

namespace cameo::tape {

class GraphRun;

class NodeRun {
 public:
  NodeRun(const Graph& g, const Node& n, Symbols& symbols, bool shadow);
  NodeRun(NodeRun&&) = default;
  ~NodeRun();
  std::vector<Dual> run(std::span<const Dual> inputs);

 private:
  struct Slot {
    std::unique_ptr<Tape> tape;
    bool symbolic = false;
  };
  const Type& out_type(int i) const;
  Dual new_output(int i, std::vector<int64_t> dims) const;
  /// The tape of these roots, from the slot when nothing that it depends on has changed.
  const Tape& compile(size_t slot, std::span<const Expr> index, std::span<const Expr> roots,
                      std::span<const Dual> inputs);
  Dual run_output(size_t i, const OutputExpr& e, std::span<const Dual> inputs);
  std::vector<Dual> run_compute(const Compute& m, std::span<const Dual> inputs);
  std::vector<Dual> run_view(const View& m, std::span<const Dual> inputs);
  std::vector<Dual> run_scatter(const Scatter& m, std::span<const Dual> inputs);
  std::vector<Dual> run_composite(const Composite& m, std::span<const Dual> inputs);
  std::vector<Dual> run_if(std::span<const Dual> inputs);
  std::vector<Dual> run_loop(std::span<const Dual> inputs);
  std::vector<Dual> run_opaque(std::span<const Dual> inputs);
  GraphRun& body(size_t i);

  const Graph& graph_;
  const Node& node_;
  Symbols& symbols_;
  bool shadow_;
  const Meaning* meaning_ = nullptr;
  std::vector<Slot> tapes_;
  std::vector<std::unique_ptr<GraphRun>> bodies_;  // the definition of a composite, or the bodies of a control node
};

class GraphRun {
 public:
  GraphRun(const Graph& g, Symbols& symbols, bool shadow);
  std::vector<Dual> run(std::vector<Dual> inputs, const Observer& observe = {});

 private:
  Dual value(ValueId v) const;
  void run_node(size_t i, const Observer& observe);
  const Graph& graph_;
  Symbols& symbols_;
  bool shadow_;
  std::vector<NodeRun> nodes_;
  std::vector<int> last_use_;  // of each value: the number of a node, or of nodes for outputs
  std::vector<Dual> values_;
};

/// Learns the symbols that are dims or elements of a value from a tensor that stands for it.
void learn(Symbols& symbols, const Value& value, const Tensor& t);

/// A value's shadow as an interpretation gives it: floats in f64.
Tensor in_f64(const Tensor& rounded, const Tensor& unrounded);

/// The tensor with its floats converted; others as they are.
Tensor converted(const Tensor& t, DType to);

}  // namespace cameo::tape
