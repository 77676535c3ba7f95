// The pipeline: read this table first. Every row is a graph -> graph function; dead nodes go with every replay.
#include "optimizer/pipeline.h"

#include <algorithm>

namespace cameo {
namespace {
constexpr Pass kPasses[] = {
    {"expand_domains", expand_domains, Exactness::Exact},
    {"known_lists", known_lists, Exactness::Exact},
    {"quantized_moves", quantized_moves, Exactness::Exact},
    {"integer_products", integer_products, Exactness::Algebraic},
    {"dequantized_products", dequantized_products, Exactness::Algebraic},
    {"fold_constants", fold_constants, Exactness::Exact},
    {"crop_convolutions", crop_convolutions, Exactness::Exact},
    {"fold_scales", fold_scales, Exactness::Algebraic},
    {"flush_denormals", flush_denormals, Exactness::Algebraic},
    {"claim_attention", claim_attention, Exactness::Algebraic, Waypoint::Replayed, true},
    {"claim_composites", claim_composites, Exactness::Exact, Waypoint::Replayed, true},
    {"expand_composites", expand_composites, Exactness::Exact, Waypoint::Expanded, true},
    {"fold_expanded", fold_constants, Exactness::Exact},
    {"tabulate_bytes", tabulate_bytes, Exactness::Exact},
    {"pack_constants", pack_constants, Exactness::Exact},
    {"merge_equal_nodes", merge_equal_nodes, Exactness::Exact},
    {"narrow_products", narrow_products, Exactness::Narrow, Waypoint::Replayed, true},
    {"widen_products", widen_products, Exactness::Algebraic, Waypoint::Replayed, true},
    {"join_groups", join_groups, Exactness::Exact, Waypoint::Replayed, true},
    {"separate_pools", separate_pools, Exactness::Exact, Waypoint::Replayed, true},
    {"split_reductions", split_reductions, Exactness::Algebraic, Waypoint::Replayed, true},
};
const std::span<const Pass> kForAll(std::begin(kPasses), std::ranges::find(kPasses, true, &Pass::asks_target));
const std::span<const Pass> kForTarget(std::begin(kPasses) + kForAll.size(), std::end(kPasses));

Graph run(std::span<const Pass> passes, Graph g, PassContext& context) {
  for (const Pass& p : passes) {
    if (std::ranges::find(context.skip, p.name) != context.skip.end()) continue;
    context.pass = p.name;
    g = p.run(g, context);
    context.reached = std::max(context.reached, p.reached);
    if (context.verify_each) require_sound(verify(g, context.reached), p.name);
    if (context.after) context.after(context, g);
  }
  return g;
}
}  // namespace

bool PassContext::apply(std::string_view rule, const Graph& g, const Provenance& provenance) {
  if (rewrites >= rewrite_limit) return false;
  ++rewrites;
  note(rule, g, provenance);
  return true;
}

void PassContext::note(std::string_view rule, const Graph& g, const Provenance& provenance) {
  log.push_back({pass, rule, where(g.sources(), provenance)});
}

std::span<const Pass> passes() { return kPasses; }

Graph optimize_for_all(Graph g, PassContext& context) {
  if (context.verify_each) require_sound(verify(g, context.reached), "the imported graph");
  return run(kForAll, std::move(g), context);
}
Graph optimize_for_target(Graph g, PassContext& context) {
  context.claims.clear();
  g = run(kForTarget, std::move(g), context);
  if (!context.verify_each) require_sound(verify(g, context.reached), "the optimised graph");
  return g;
}
Graph optimize(Graph g, PassContext& context) {
  return optimize_for_target(optimize_for_all(std::move(g), context), context);
}

}  // namespace cameo
