// optimize: the ordered table of passes that takes an imported graph to the one that is planned.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "frontend/graph.h"

namespace cameo {

struct PassContext {
  std::function<void(const std::string& text)> log;       // what rewrites did, one line each; may be null
  std::vector<std::string> skip;                          // --skip=PASS
  std::function<void(std::string_view pass, const Graph&)> after;  // --print-after, --verify=each
};

enum class Exactness { Exact, Algebraic };  // bitwise equal, or within tolerance of the unrounded run
struct Pass {
  std::string_view name;
  Graph (*run)(const Graph&, PassContext&);
  Exactness exactness;
};
std::span<const Pass> passes();
Graph optimize(Graph g, PassContext& context);

// The passes, one file each in rewrites/.
Graph fold_scales(const Graph& g, PassContext& context);         // batch norm and scales into weights
Graph fold_constants(const Graph& g, PassContext& context);      // constant expressions of any size, within a budget
Graph expand_composites(const Graph& g, PassContext& context);   // what no kernel claims becomes its definition
Graph sink_constants(const Graph& g, PassContext& context);      // into the bodies that capture them
Graph merge_equal_nodes(const Graph& g, PassContext& context);   // common sub-expressions

}  // namespace cameo
