// The first ONNX node whose value in the artifact is further from the interpreter's than the rule allows.
#pragma once
#include <string>
#include <vector>

#include "cli/loaded_model.h"
#include "frontend/ir/graph.h"

namespace cameo {

struct Blame {
  bool found = false;
  std::string sentence, node, value;
  double error = 0, tolerance = 0;
};

Blame find_divergence(const Graph& graph, const Interface& io, LoadedModel& artifact,
                      const std::vector<Tensor>& inputs);

}  // namespace cameo
