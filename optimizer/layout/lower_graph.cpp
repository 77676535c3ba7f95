// See lower_graph.h. Everything is lowered once in the layouts that clusters ask for; then values that readers want
// with room around or inside of another value move, and the kernels that touch them are lowered again.
#include "optimizer/layout/lower_graph.h"

#include <algorithm>
#include <set>

#include "optimizer/choose/choose.h"

namespace cameo {
namespace {

Parts lower_ahead(const LoweredGraph& f, const FusedCluster& c, const Target& target) {
  if (c.outputs.size() != 1 || product(f.g.type(c.cluster.outputs[0]).shape).is_static(0)) return {};
  return lower_output(f, c.cluster.outputs[0], c.outputs[0], machine_of(c.cluster.on_host, target));
}

/// The order of the axes that have more than one index.
std::vector<int> moving_order(const LoweredGraph& f, ValueId v, const Layout& l) {
  std::vector<int> order = order_of(l);
  std::erase_if(order, [&](int a) { return f.g.type(v).shape[static_cast<size_t>(a)].is_static(1); });
  return order;
}

/// Whether the layout of a value is free: made by kernels of this graph, read by kernels that ask for its layout.
std::vector<bool> free_layouts(const LoweredGraph& f) {
  std::vector<bool> free(f.g.values().size());
  for (auto [v, c] : f.maker) free[v.index] = !f.lowered[c].empty() && !alias_of(f.lowered[c]);
  for (const Port& p : f.g.outputs()) free[p.value.index] = false;
  for (size_t c = 0; c < f.clusters.size(); ++c) {
    if (alias_of(f.lowered[c])) free[f.lowered[c][0].operands[1].value.index] = false;
    if (!f.clusters[c].outputs.empty()) continue;
    for (NodeId n : f.clusters[c].cluster.nodes)
      for (ValueId v : f.g[n].inputs)
        if (v) free[v.index] = false;
  }
  return free;
}
/// Readers that want one order of axes and a constant around are given a value that is made so, or if it cannot be then
/// one copy of it: the widest halo serves all.
void choose_halos(LoweredGraph& f) {
  std::vector<bool> free = free_layouts(f);
  std::map<ValueId, Operand> wanted;
  for (const Parts& parts : f.lowered)
    for (const LoweredKernel& l : parts)
      for (const Operand& o : l.operands) {
        if (o.packing || o.layout == f.layouts[o.value.index] || f.g[o.value].constant) continue;
        Operand& all = wanted.try_emplace(o.value, o).first->second;
        if (all.order != o.order || (all.around && o.around && all.around != o.around)) continue;
        if (o.around) all.around = o.around;
        for (size_t a = 0; a < o.order.size(); ++a) {
          all.before[a] = std::max(all.before[a], o.before[a]);
          all.after[a] = std::max(all.after[a], o.after[a]);
        }
      }
  for (auto& [v, o] : wanted) {
    o.layout = with_halo(extents(f.g.type(v).shape), o.order, o.before, o.after);
    if (free[v.index] && moving_order(f, v, o.layout) == moving_order(f, v, f.layouts[v.index]))
      f.layouts.made[v.index] = o.layout;
    f.layouts.haloed.emplace(v, o);
  }
}
/// A part that only copies a value into a region of the output need not run where the value can be made there.
void choose_windows(LoweredGraph& f) {
  std::vector<bool> free = free_layouts(f);
  for (size_t c = f.clusters.size(); c-- > 0;) {  // readers first: a window may lie in a window
    if (f.lowered[c].size() < 2) continue;
    ValueId whole = f.clusters[c].cluster.outputs[0];
    for (const LoweredKernel& part : f.lowered[c]) {
      if (!part.copies_to) continue;
      ValueId v = part.operands[1].value;
      Layout window = layout_within(*part.copies_to, f.layouts[whole.index]);
      if (!free[v.index] || f.layouts.haloed.count(v) || f.windows.count(v) ||
          moving_order(f, v, window) != moving_order(f, v, f.layouts[v.index]))
        continue;
      f.layouts.made[v.index] = window;
      f.windows.emplace(v, whole);
    }
  }
}

/// A large constant that a product has in panels is not stored a second time for who reads elements of it: the rows of
/// a tied embedding.
void choose_packed(LoweredGraph& f) {
  constexpr size_t kWorthSharing = 1 << 20;  // bytes
  std::map<ValueId, Packing> panels;
  std::set<ValueId> plain;  // as they stand, for kernels that lie in no panel
  for (const Parts& parts : f.lowered)
    for (const LoweredKernel& l : parts)
      for (const Operand& o : l.operands)
        if (o.packing) panels.emplace(o.value, *o.packing);
  for (const FusedCluster& c : f.clusters)
    if (c.outputs.empty())
      for (NodeId n : c.cluster.nodes) plain.insert(f.g[n].inputs.begin(), f.g[n].inputs.end());
  for (auto& [v, packing] : panels) {
    const std::vector<int64_t> dims = extents(f.g.type(v).shape);
    const std::vector<Expr> anywhere(dims.size(), integer(0));
    if (f.g[v].constant->bytes().size() >= kWorthSharing && !plain.contains(v) &&
        packed_offset(packing, dims, anywhere))
      f.layouts.packed.emplace(v, packing);
  }
}

}  // namespace

std::optional<int64_t> alias_of(const Parts& parts) { return parts.size() == 1 ? parts[0].alias_offset : std::nullopt; }

Parts lower_output(const LoweredGraph& f, ValueId v, const OutputExpr& out, const Target& target) {
  Parts parts;
  for (const OutputPart& p : split_output(out)) parts.push_back(choose_kernel({f.g, f.layouts, v, p, target}));
  if (parts.size() > 1 || f.layouts.haloed.count(v) || f.windows.count(v))  // its own buffer, or a part of one
    for (LoweredKernel& l : parts) l.alias_offset.reset();
  return parts;
}

const Target& machine_of(bool on_host, const Target& target) { return on_host ? host_target() : target; }

LoweredGraph lower_graph(const Graph& g, std::vector<FusedCluster> clusters, const Target& target) {
  LoweredGraph f{g, std::move(clusters), {}, {}, {}, {}};
  f.layouts.made = assign_layouts(g, f.clusters);
  for (const FusedCluster& c : f.clusters) {
    for (ValueId v : c.cluster.outputs) f.maker[v] = f.lowered.size();
    f.lowered.push_back(lower_ahead(f, c, target));
  }
  const Layouts before = f.layouts;
  choose_halos(f);
  choose_windows(f);
  choose_packed(f);
  auto moved = [&](const Operand& o) {
    return before[o.value.index] != f.layouts[o.value.index] || f.layouts.haloed.count(o.value) ||
           (!o.packing && f.layouts.packed.count(o.value));
  };
  for (size_t c = 0; c < f.clusters.size(); ++c)
    if (std::ranges::any_of(f.lowered[c],
                            [&](const LoweredKernel& l) { return std::ranges::any_of(l.operands, moved); }))
      f.lowered[c] = lower_ahead(f, f.clusters[c], target);
  return f;
}

}  // namespace cameo
