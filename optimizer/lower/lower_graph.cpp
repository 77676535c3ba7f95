// See lower_graph.h.
#include "optimizer/lower/lower_graph.h"

#include <algorithm>
#include <ranges>

#include "optimizer/choose/choose.h"
#include "optimizer/layout/bands.h"
#include "optimizer/layout/solve_layouts.h"

namespace cameo {
namespace {

/// An output of a fused cluster before layouts are settled: its regions, and what families have read off them.
struct MatchedOutput {
  ValueId value;
  const Target& target;
  std::vector<OutputPart> regions;
  std::vector<std::vector<FamilyMatch>> matches;  // by region
};

MatchedOutput match_output(const LoweredGraph& f, ValueId v, const OutputExpr& out, const Target& target) {
  MatchedOutput m{v, target, split_output(out), {}};
  if (m.regions.size() == 1) m.regions = split_bands(f.g, m.regions[0].out, target);
  for (const OutputPart& region : m.regions) m.matches.push_back(match_families({f.g, f.layouts, v, region, target}));
  return m;
}

std::vector<LoweredPart> lower_matched(const LoweredGraph& f, const MatchedOutput& m) {
  std::vector<LoweredPart> parts;
  for (size_t i = 0; i < m.regions.size(); ++i) {
    const Problem p{f.g, f.layouts, m.value, m.regions[i], m.target};
    parts.push_back({m.regions[i], choose_kernel(p, m.matches[i])});
  }
  return parts;
}

OutputWishes wishes_of(const MatchedOutput& m) {
  OutputWishes all{m.value, {}};
  for (size_t i = 0; i < m.regions.size(); ++i) {
    all.regions.push_back({&m.regions[i], {}});
    for (const FamilyMatch& f : m.matches[i])
      if (f.matched.match)
        all.regions.back().wishes.insert(all.regions.back().wishes.end(), f.matched.match->wishes.begin(),
                                         f.matched.match->wishes.end());
  }
  return all;
}

}  // namespace

std::vector<LoweredPart> lower_output(const LoweredGraph& f, ValueId v, const OutputExpr& out, const Target& target) {
  return lower_matched(f, match_output(f, v, out, target));
}

const Target& machine_of(bool on_host, const Target& target) { return on_host ? host_target() : target; }

std::vector<bool> needed_values(const LoweredGraph& f) {
  std::vector<bool> needed(f.g.values().size());
  const auto need = [&](ValueId v) {
    for (auto alias = f.layouts.aliases.find(v); alias != f.layouts.aliases.end(); alias = f.layouts.aliases.find(v)) {
      needed[v.index] = true;
      v = alias->second.of;
    }
    if (v) needed[v.index] = true;
  };
  const auto node_runs = [&](NodeId n) { return must_run(f.g[n]); };
  for (const Port& p : f.g.outputs()) need(p.value);
  for (ValueId v : deciding_values(f.g)) need(v);
  for (const FusedCluster& c : std::views::reverse(f.clusters)) {  // readers first
    if (c.outputs.empty())
      for (NodeId n : c.cluster.nodes) std::ranges::for_each(f.g[n].inputs, need);
    for (ValueId v : c.cluster.outputs) {
      const auto window = f.layouts.windows.find(v);
      const bool is_part = window != f.layouts.windows.end() && needed[window->second.index];
      if (is_part || std::ranges::any_of(c.cluster.nodes, node_runs)) need(v);
      const auto parts = f.outputs.find(v);
      if (!needed[v.index] || parts == f.outputs.end()) continue;
      for (const LoweredPart& part : parts->second)
        for (const Operand& o : part.lowered.operands) need(o.value);
    }
  }
  return needed;
}

LoweredGraph lower_graph(const Graph& g, std::vector<FusedCluster> clusters, const Target& target, bool has_room) {
  LoweredGraph f{g, std::move(clusters), {}, {}, {}};
  f.layouts.made = assign_orders(g, f.clusters, target);
  if (has_room) f.appends = make_room(g, f.clusters, f.layouts.made);
  std::vector<MatchedOutput> matched;
  std::vector<OutputWishes> wishes;
  for (const FusedCluster& c : f.clusters)
    for (size_t i = 0; i < c.outputs.size(); ++i) {
      const ValueId v = c.cluster.outputs[i];
      if (!product(g.type(v).shape).is_static(0))
        matched.push_back(match_output(f, v, c.outputs[i], machine_of(c.cluster.on_host, target)));
    }
  for (const MatchedOutput& m : matched) wishes.push_back(wishes_of(m));
  solve_layouts(g, f.clusters, wishes, f.layouts);
  for (const MatchedOutput& m : matched)
    if (!f.layouts.aliases.contains(m.value)) f.outputs.emplace(m.value, lower_matched(f, m));
  f.needed = needed_values(f);
  return f;
}

}  // namespace cameo
