// form_clusters, in two rounds. First each anchor grows forward: nodes that compute element by element on what the
// cluster made join it, as long as in the end one value leaves it (so a GELU of 22 nodes, or a residual, becomes an
// epilogue). Where the cluster holds no sum but reductions of the last axis, what computes with a row's results joins
// too, and further reductions of the same rows: softmax and the norms, composite or written out, become one kernel.
// What a cluster dequantises last, for others to read, is computed by these: 8 bits stand in memory. So is the
// difference to a mean, or another sum or product that costs its readers no more than a read of what it is made of.
// Then a fold-free cluster whose value is read once, each element once, is substituted into its reader. For targets
// that multiply 16-bit floats, casts that widen them for products are no part of what makes them, but of each product.
#include <algorithm>

#include "optimizer/clusters/join_rules.h"

namespace cameo {
namespace {

constexpr size_t kLookAhead = 256;  // nodes after the anchor that are looked at

class Clusterer {
 public:
  Clusterer(const Graph& g, const Target& target, Refusals* refusals)
      : g_(g), rules_(g, target), owner_(g.nodes().size(), -1), is_shared_(g.nodes().size()), refusals_(refusals) {}

  std::vector<Cluster> run() {
    for (uint32_t i = 0; i < g_.nodes().size(); ++i)
      if (owner_[i] < 0) add(grow(i));
    for (uint32_t i = 0; i < g_.nodes().size(); ++i)
      if (rules_.widens(i)) join_all_readers(i);
    for (size_t c = 0; c < clusters_.size(); ++c)
      if (clusters_[c].nodes.size() > 1 && may_hand_over(clusters_[c].nodes.back().index))
        join_all_readers(clusters_[c].nodes.back().index);
    for (size_t c = clusters_.size(); c-- > 0;)
      if (is_made_by_readers(clusters_[c])) join_all_readers(clusters_[c].nodes[0].index);
    for (size_t c = 0; c < clusters_.size(); ++c)
      if (!clusters_[c].nodes.empty()) absorb_into_reader(c);
    std::erase_if(clusters_, [](const Cluster& c) { return c.nodes.empty(); });
    std::stable_sort(clusters_.begin(), clusters_.end(),
                     [](const Cluster& a, const Cluster& b) { return a.nodes.back() < b.nodes.back(); });
    return std::move(clusters_);
  }

 private:
  void add(const std::vector<uint32_t>& nodes) {
    Cluster c;
    KernelSize& size = sizes_.emplace_back();
    for (uint32_t n : nodes) {
      size.add(rules_.size_of(n));
      c.nodes.push_back({n});
      owner_[n] = static_cast<int>(clusters_.size());
    }
    for (ValueId v : g_.nodes()[nodes.back()].outputs)
      if (v && !g_[v].constant) c.outputs.push_back(v);
    clusters_.push_back(std::move(c));
  }

  // ---- forward ------------------------------------------------------------------------------------------------------

  std::vector<uint32_t> grow(uint32_t anchor) {
    std::vector<uint32_t> nodes{anchor};
    std::set<ValueId> inside(g_.nodes()[anchor].outputs.begin(), g_.nodes()[anchor].outputs.end());
    if (Refusal why = may_grow(anchor); !why.empty()) return refuse_readers(inside, why), nodes;
    std::set<uint32_t> members{anchor};
    std::set<ValueId> tainted;  // computed from the cluster's values outside of it
    size_t closed = 1;
    KernelSize size = rules_.size_of(anchor);
    const Refusal against_rows = rules_.may_reduce_rows_of(anchor);
    refuse_readers(inside, "too many nodes stand between");
    const uint32_t end = static_cast<uint32_t>(std::min(g_.nodes().size(), anchor + kLookAhead));
    for (uint32_t i = anchor + 1; i < end && !size.is_full(); ++i) {
      const Node& n = g_.nodes()[i];
      const auto reads = [&](const std::set<ValueId>& values) {
        return std::ranges::any_of(n.inputs, [&](ValueId v) { return v && values.contains(v); });
      };
      const bool late = reads(tainted);
      if (!late && !reads(inside)) continue;
      const KernelSize more = rules_.size_of(i);
      if (Refusal why = late ? "it is read together with what other kernels make of it"
                             : may_join(i, size, more, inside, against_rows);
          !why.empty()) {
        refuse(i, inside, why);
        tainted.insert(n.outputs.begin(), n.outputs.end());
        continue;
      }
      nodes.push_back(i);
      size.add(more);
      members.insert(i);
      inside.insert(n.outputs[0]);
      refuse_readers({n.outputs[0]}, "too many nodes stand between");
      if (leaving(nodes, members) == 1) closed = nodes.size();
    }
    for (size_t i = closed; i < nodes.size(); ++i) refuse(nodes[i], inside, "several values would leave the kernel");
    nodes.resize(closed);
    return nodes;
  }
  Refusal may_grow(uint32_t anchor) {
    return rules_.widens(anchor) ? "it is part of each node that reads it" : rules_.may_fuse(anchor);
  }
  Refusal may_join(uint32_t node, const KernelSize& size, const KernelSize& more, const std::set<ValueId>& inside,
                   Refusal against_rows) {
    if (owner_[node] >= 0) return "the reader is part of another kernel";
    if (rules_.widens(node)) return "the reader widens it for products";
    if (Refusal why = fit_together(size, more); !why.empty()) return why;
    return rules_.may_join(node, inside, against_rows);
  }
  int leaving(const std::vector<uint32_t>& nodes, const std::set<uint32_t>& members) {
    int count = 0;
    for (uint32_t n : nodes) {
      const ValueId v = g_.nodes()[n].outputs[0];
      count += rules_.is_output(v) ||
               std::ranges::any_of(rules_.readers(v), [&](uint32_t reader) { return !members.contains(reader); });
    }
    return count;
  }
  /// Its readers compute element by element; what only moves elements may have them made where it wants them.
  bool may_hand_over(uint32_t i) {
    const ValueId v = g_.nodes()[i].outputs[0];
    return rules_.dequantizes_for_readers(i) && std::ranges::all_of(rules_.readers(v), [&](uint32_t reader) {
             return rules_.may_join(reader, {v}, "it has reductions").empty();
           });
  }
  bool is_made_by_readers(const Cluster& c) {
    if (c.nodes.size() != 1 || !rules_.is_made_by_readers(c.nodes[0].index)) return false;
    return std::ranges::none_of(rules_.readers(c.outputs[0]), [&](uint32_t reader) { return is_shared_[reader]; });
  }
  void join_all_readers(uint32_t i) {
    Cluster& own = clusters_[static_cast<size_t>(owner_[i])];
    std::erase(own.nodes, NodeId{i});
    if (!own.nodes.empty()) own.outputs = {g_.nodes()[own.nodes.back().index].outputs[0]};
    const std::vector<uint32_t>& readers = rules_.readers(g_.nodes()[i].outputs[0]);
    for (uint32_t reader : readers) {
      Cluster& to = clusters_[static_cast<size_t>(owner_[reader])];
      const auto at = std::ranges::lower_bound(to.nodes, NodeId{i});
      if (at == to.nodes.end() || *at != NodeId{i}) to.nodes.insert(at, NodeId{i});
      is_shared_[i] = is_shared_[i] || (reader != readers[0] && owner_[i] != owner_[reader]);
      owner_[i] = owner_[reader];
    }
  }

  // ---- into the reader ----------------------------------------------------------------------------------------------

  void absorb_into_reader(size_t c) {
    Cluster& from = clusters_[c];
    for (ValueId v : from.outputs) {
      if (rules_.readers(v).empty()) continue;
      const int owner = owner_[rules_.readers(v)[0]];
      Refusal why = from.outputs.size() != 1 ? "it is made beside other tensors"
                    : is_shared_[rules_.readers(v)[0]]
                        ? "it is read by several kernels"
                        : rules_.may_substitute(from.nodes, v, clusters_[static_cast<size_t>(owner)].nodes);
      if (why.empty()) why = fit_together(sizes_[c], sizes_[static_cast<size_t>(owner)]);
      if (why.empty()) return join(from, clusters_[static_cast<size_t>(owner)], owner);
      if (refusals_)
        for (uint32_t reader : rules_.readers(v)) (*refusals_)[{v, NodeId{reader}}].absorb = why;
    }
  }
  void join(Cluster& from, Cluster& to, int owner) {
    sizes_[static_cast<size_t>(owner)].add(sizes_[static_cast<size_t>(owner_[from.nodes[0].index])]);
    for (NodeId n : from.nodes) {
      to.nodes.push_back(n);
      owner_[n.index] = owner;
    }
    std::sort(to.nodes.begin(), to.nodes.end());
    from.nodes.clear();
  }

  // ---- what `explain` asks for --------------------------------------------------------------------------------------

  /// Of a node that reads some of these values.
  void refuse(uint32_t reader, const std::set<ValueId>& values, Refusal why) {
    if (!refusals_) return;
    for (ValueId v : g_.nodes()[reader].inputs)
      if (v && values.contains(v)) (*refusals_)[{v, NodeId{reader}}].join = why;
  }
  void refuse_readers(const std::set<ValueId>& values, Refusal why) {
    if (!refusals_) return;
    for (ValueId v : values)
      if (v)
        for (uint32_t reader : rules_.readers(v)) (*refusals_)[{v, NodeId{reader}}].join = why;
  }

  const Graph& g_;
  JoinRules rules_;
  std::vector<int> owner_;
  std::vector<bool> is_shared_;  // part of several clusters
  std::vector<Cluster> clusters_;
  std::vector<KernelSize> sizes_;  // by cluster
  Refusals* refusals_;             // null: nobody asks
};

}  // namespace

std::string to_string(const Apart& why) {
  const bool one = why.join.empty() || why.absorb.empty() || why.join == why.absorb;
  return std::string(why.join.empty() ? why.absorb : why.join) + (one ? "" : "; " + std::string(why.absorb));
}
bool are_fused(std::span<const Cluster> clusters, NodeId a, NodeId b) {
  return std::ranges::any_of(clusters, [&](const Cluster& c) {
    return std::ranges::binary_search(c.nodes, a) && std::ranges::binary_search(c.nodes, b);
  });
}

std::vector<Cluster> form_clusters(const Graph& g, const Target& target, Refusals* refusals) {
  return Clusterer(g, target, refusals).run();
}

}  // namespace cameo
