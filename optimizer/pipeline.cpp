// The pipeline: read this table first. Every row is a graph -> graph function; dead nodes go with every replay.
#include "optimizer/pipeline.h"

#include <algorithm>

namespace cameo {
namespace {
constexpr Pass kPasses[] = {
    {"fold_scales", fold_scales, Exactness::Algebraic},
    {"fold_constants", fold_constants, Exactness::Exact},
    {"expand_composites", expand_composites, Exactness::Exact},
    {"fold_expanded", fold_constants, Exactness::Exact},
    {"sink_constants", sink_constants, Exactness::Exact},
    // waypoint: from here on every node is a Compute, View, Scatter, Compact, Control or Opaque
    {"merge_equal_nodes", merge_equal_nodes, Exactness::Exact},
};
}  // namespace

std::span<const Pass> passes() { return kPasses; }

Graph optimize(Graph g, PassContext& context) {
  for (const Pass& p : kPasses) {
    if (std::ranges::find(context.skip, p.name) != context.skip.end()) continue;
    g = p.run(g, context);
    if (context.after) context.after(p.name, g);
  }
  return g;
}

}  // namespace cameo
