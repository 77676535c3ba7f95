// verify: what must hold of every graph, and what the waypoints of the pipeline promise from there on. Types are
// inferred anew and must come out the same; a sentence for each thing that does not hold names the node.
#pragma once
#include <string>
#include <vector>

#include "frontend/ir/graph.h"

namespace cameo {

enum class Waypoint : uint8_t {
  Imported,  // values are made before they are used; types are what shape rules say; every node comes from the model's
  Replayed,  // and every node is needed by an output: a replay leaves no other
  Expanded,  // and every node is a Compute, View, Scatter, Control or Opaque
};

/// Empty when all of it holds.
std::vector<std::string> verify(const Graph& g, Waypoint from);

/// A bug of ours when there is anything: says it all and ends.
void require_sound(const std::vector<std::string>& problems, std::string_view what);

}  // namespace cameo
