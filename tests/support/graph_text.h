// Small models as text, for tests of whole graphs, and graphs as text that stays put: values keep the model's names, or
// are numbered in the order in which they are printed. The grammar stands in tests/optimizer/README.md.
#pragma once
#include <string>
#include <vector>

#include "frontend/ir/graph.h"

namespace cameo::test {

struct ModelText {
  Graph graph;
  std::vector<Tensor> inputs;  // one an input
};

/// Reads the lines of a model. What is not understood throws std::runtime_error; what the compiler refuses,
/// CompileError.
ModelText parse_model(const std::vector<std::string>& lines);

std::string print_graph(const Graph& g);
/// The ONNX nodes of a provenance, by name: `C, Y`.
std::string names_of(const Sources& sources, const Provenance& provenance);

}  // namespace cameo::test
