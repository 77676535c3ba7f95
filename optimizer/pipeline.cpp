// The pipeline: read this table first. Every row is a graph -> graph function; dead nodes go with every replay.
#include "optimizer/pipeline.h"

#include <algorithm>

namespace cameo {
namespace {
constexpr Pass kPasses[] = {
    {"fold_constants", fold_constants, Exactness::Exact},
    {"fold_scales", fold_scales, Exactness::Algebraic},
    {"expand_composites", expand_composites, Exactness::Exact, Waypoint::Expanded},
    {"fold_expanded", fold_constants, Exactness::Exact},
    {"merge_equal_nodes", merge_equal_nodes, Exactness::Exact},
    {"widen_products", widen_products, Exactness::Exact},
};
}  // namespace

bool PassContext::apply(std::string_view rule, const Graph& g, const Origin& origin) {
  if (rewrites >= rewrite_limit) return false;
  ++rewrites;
  note(rule, g, origin);
  return true;
}

void PassContext::note(std::string_view rule, const Graph& g, const Origin& origin) {
  log.push_back({pass, rule, where(g.sources(), origin)});
}

std::span<const Pass> passes() { return kPasses; }

Graph optimize(Graph g, PassContext& context) {
  Waypoint reached = Waypoint::Imported;
  if (context.verify_each) require_sound(verify(g, reached), "the imported graph");
  for (const Pass& p : kPasses) {
    if (std::ranges::find(context.skip, p.name) != context.skip.end()) continue;
    context.pass = p.name;
    g = p.run(g, context);
    reached = std::max(reached, p.reached);
    if (context.verify_each) require_sound(verify(g, reached), p.name);
    if (context.after) context.after(p.name, g);
  }
  if (!context.verify_each) require_sound(verify(g, reached), "the optimised graph");
  return g;
}

}  // namespace cameo
