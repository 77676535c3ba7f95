// See solve_layouts.h.
#include "optimizer/layout/solve_layouts.h"

#include <algorithm>
#include <ranges>
#include <set>

namespace cameo {
namespace {

class Solver {
 public:
  Solver(const Graph& g, std::span<const FusedCluster> clusters, std::span<const OutputWishes> outputs,
         Layouts& layouts)
      : g_(g), clusters_(clusters), outputs_(outputs), layouts_(layouts), free_(g.values().size()) {}

  void solve() {
    for (const OutputWishes& o : outputs_)
      if (auto alias = alias_of(o)) layouts_.aliases.emplace(o.value, *alias);
    find_free();
    choose_halos();
    choose_windows();
    choose_packed();
  }

 private:
  const Shape& shape(ValueId v) const { return g_.type(v).shape; }

  /// An output that only hands on a value's elements in the order and at the distance in which they stand.
  std::optional<Layouts::Alias> alias_of(const OutputWishes& o) const {
    if (o.regions.size() != 1) return std::nullopt;
    const auto& [out, at] = *o.regions[0].part;
    const Expr load = out.value;
    if (load.op() != Op::Load) return std::nullopt;
    const ValueId from{load.operand()};
    if (!guard_of(shape(from), load.index()).is_const(1)) return std::nullopt;
    std::vector<Expr> units, zeros;
    for (Expr axis : out.index)
      if (axis.extent().is_const(1)) units.push_back(axis), zeros.push_back(integer(0));
    const auto offset_in = [&](ValueId v, std::span<const Expr> index) {
      return simplify_index(substitute(physical(layouts_[v.index], index), units, zeros));
    };
    const Affine distance = affine(offset_in(from, load.index()) - offset_in(o.value, at));
    if (!distance.terms.empty() || distance.constant < 0) return std::nullopt;
    return Layouts::Alias{from, distance.constant};
  }

  /// Values whose layout is free: made by kernels of this graph, read by kernels that ask for a layout.
  void find_free() {
    for (const OutputWishes& o : outputs_) free_[o.value.index] = !layouts_.aliases.contains(o.value);
    for (const Port& p : g_.outputs()) free_[p.value.index] = false;
    for (const auto& [v, alias] : layouts_.aliases) free_[alias.of.index] = false;
    for (const FusedCluster& c : clusters_)
      if (c.outputs.empty())
        for (NodeId n : c.cluster.nodes)
          for (ValueId v : g_[n].inputs)
            if (v) free_[v.index] = false;
  }

  bool same_order(ValueId v, const Layout& a, const Layout& b) const {
    return moving_order(shape(v), a.order) == moving_order(shape(v), b.order);
  }

  /// Readers that want one order of axes and a constant around are given a value that is made so, or if it cannot be
  /// then one copy of it: the widest halo serves all. Of wishes that contradict each other the first one wins, since
  /// each of the others costs one copy, whichever it is.
  void choose_halos() {
    std::map<ValueId, Operand> wanted;
    for (const OutputWishes& o : outputs_)
      for (const auto& region : o.regions)
        for (const Operand& wish : region.wishes) {
          if (wish.packing || wish.layout == layouts_[wish.value.index] || g_[wish.value].constant) continue;
          widen(wanted.try_emplace(wish.value, wish).first->second, wish);
        }
    for (auto& [v, o] : wanted) {
      o.layout = with_halo(shape(v), o.order, o.before, o.after);
      if (free_[v.index] && same_order(v, o.layout, layouts_[v.index])) layouts_.made[v.index] = o.layout;
      layouts_.haloed.emplace(v, o);
    }
  }
  static void widen(Operand& all, const Operand& wish) {
    if (all.order != wish.order || (all.border_value && wish.border_value && all.border_value != wish.border_value))
      return;
    if (wish.border_value) all.border_value = wish.border_value;
    for (size_t a = 0; a < wish.order.size(); ++a) {
      all.before[a] = std::max(all.before[a], wish.before[a]);
      all.after[a] = std::max(all.after[a], wish.after[a]);
    }
  }

  /// A region that only copies a value need not be computed where the value can be made there.
  void choose_windows() {
    for (const OutputWishes& o : std::views::reverse(outputs_)) {  // readers first: a window may lie in a window
      if (o.regions.size() < 2) continue;
      for (const auto& region : o.regions) {
        const auto v = copied_value(g_, *region.part);
        if (!v || !free_[v->index] || layouts_.haloed.contains(*v) || layouts_.windows.contains(*v)) continue;
        const Layout window = layout_within(*region.part, layouts_[o.value.index]);
        if (!same_order(*v, window, layouts_[v->index])) continue;
        layouts_.made[v->index] = window;
        layouts_.windows.emplace(*v, o.value);
      }
    }
  }

  /// A large constant that a product has in panels is not stored a second time for who reads elements of it: the rows
  /// of a tied embedding.
  void choose_packed() {
    constexpr size_t kWorthSharing = 1 << 20;  // bytes
    std::set<ValueId> plain;                   // as they stand, for kernels that lie in no panel
    for (const FusedCluster& c : clusters_)
      if (c.outputs.empty())
        for (NodeId n : c.cluster.nodes) plain.insert(g_[n].inputs.begin(), g_[n].inputs.end());
    for (const OutputWishes& o : outputs_)
      for (const auto& region : o.regions)
        for (const Operand& wish : region.wishes) {
          if (!wish.packing || plain.contains(wish.value)) continue;
          const std::vector<int64_t> dims = extents(shape(wish.value));
          const std::vector<Expr> anywhere(dims.size(), integer(0));
          if (g_[wish.value].constant->bytes().size() >= kWorthSharing && packed_offset(*wish.packing, dims, anywhere))
            layouts_.packed.emplace(wish.value, *wish.packing);
        }
  }

  const Graph& g_;
  std::span<const FusedCluster> clusters_;
  std::span<const OutputWishes> outputs_;
  Layouts& layouts_;
  std::vector<bool> free_;  // by value
};

}  // namespace

void solve_layouts(const Graph& g, std::span<const FusedCluster> clusters, std::span<const OutputWishes> outputs,
                   Layouts& layouts) {
  Solver(g, clusters, outputs, layouts).solve();
}

}  // namespace cameo
