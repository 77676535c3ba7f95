// The reference interpreter: the oracle of every test. Floats are computed in double and integers in 64 bits, rounded
// to the declared type at each node's output; an unrounded run shadows the rounded one and measures its error, while
// every discrete decision (comparison, floor, cast to integer, ArgMax) is made by the rounded one, in f32 but for f64.
#pragma once
#include <span>
#include <vector>

#include "frontend/ir/graph.h"

namespace cameo {

/// The outputs of one node (of any meaning) for given operands; an absent operand is an empty Tensor.
std::vector<Tensor> interpret_node(const Graph& g, const Node& n, std::span<const Tensor> inputs);

struct Interpretation {
  std::vector<Tensor> rounded;    // one an output of the graph, of its declared type
  std::vector<Tensor> unrounded;  // f64 for floating outputs, else equal to `rounded`
};
/// Runs a graph. `observe`, if given, sees every node's outputs. Run-time errors (an index out of range) are
/// CompileErrors.
using Observer =
    std::function<void(const Node& node, std::span<const Tensor> rounded, std::span<const Tensor> unrounded)>;
Interpretation interpret(const Graph& g, std::span<const Tensor> inputs, const Observer& observe = {});

}  // namespace cameo
