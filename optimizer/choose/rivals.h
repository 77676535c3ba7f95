// What measuring may find to be better: for each thing that was chosen by its price, the ways that lost and are worth a
// run.
#pragma once
#include <string>
#include <vector>

#include "optimizer/plan/plan.h"

namespace cameo {

/// Equal kernels, or equal composite nodes that stay whole or are expanded.
struct Rivalry {
  std::vector<std::string> problems;  // as a lock names them
  std::vector<std::string> nodes;     // ONNX nodes that it computes
  bool of_claim = false;
  Alternative won;
  std::vector<Alternative> rivals;  // the most promising one first
};

/// Of a plan that was made with a lock, an empty one or not, and of which some way lost: claims by whether the nodes
/// stay whole, kernels by how they are computed. What is by its price several times slower is no rival.
std::vector<Rivalry> rivalries_of_claims(const Plan& plan, const Sources& sources);
std::vector<Rivalry> rivalries_of_kernels(const Plan& plan, const Sources& sources);

}  // namespace cameo
