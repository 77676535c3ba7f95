// form_clusters, in two rounds. First each anchor grows forward: nodes that compute element by element on what the
// cluster made join it, as long as in the end one value leaves it (so a GELU of 22 nodes, or a residual, becomes an
// epilogue). Where the cluster holds no sum but reductions of the last axis, what computes with a row's results joins
// too, and further reductions of the same rows: softmax and the norms, composite or written out, become one kernel.
// Then a fold-free cluster whose value is read once, each element once, is substituted into its reader. For targets
// that multiply 16-bit floats, casts that widen them for products are no part of what makes them, but of each product.
#include <algorithm>
#include <cmath>
#include <set>

#include "optimizer/clusters/clusters.h"
#include "optimizer/work.h"

namespace cameo {
namespace {

// What a kernel may grow to: beyond it compile time grows and nothing is gained.
constexpr size_t kMaxNodes = 48;
constexpr size_t kMaxReads = 64;    // values from outside, each a pointer that the kernel is called with
constexpr size_t kMaxFolds = 4;     // reductions of rows, each of which computes anew what stands before it
constexpr size_t kLookAhead = 256;  // nodes after the anchor that are looked at

struct NodeFacts {
  const OutputExpr* out = nullptr;  // of a Compute with one output, else null
  bool folds = false;
};

/// What nodes take, as one kernel, of what a kernel may grow to.
struct Size {
  size_t nodes = 0, folds = 0;
  std::set<ValueId> made = {}, used = {};

  void add(const Size& o) {
    nodes += o.nodes;
    folds += o.folds;
    made.insert(o.made.begin(), o.made.end());
    used.insert(o.used.begin(), o.used.end());
  }
};
bool fit_together(const Size& a, const Size& b) {
  if (a.nodes + b.nodes > kMaxNodes || a.folds + b.folds > kMaxFolds) return false;
  std::set<ValueId> reads;
  for (const Size* size : {&a, &b})
    for (ValueId v : size->used) {
      if (!a.made.contains(v) && !b.made.contains(v)) reads.insert(v);
      if (reads.size() > kMaxReads) return false;
    }
  return true;
}

class Clusterer {
 public:
  Clusterer(const Graph& g, const Target& target)
      : g_(g),
        target_(target),
        facts_(g.nodes().size()),
        owner_(g.nodes().size(), -1),
        users_(g.values().size()),
        is_output_(g.values().size()) {
    meanings_.reserve(g.nodes().size());
    for (uint32_t i = 0; i < g.nodes().size(); ++i) {
      const Node& n = g.nodes()[i];
      meanings_.push_back(meaning_of(g, n));
      for (ValueId v : n.inputs)
        if (v && (users_[v.index].empty() || users_[v.index].back() != i)) users_[v.index].push_back(i);
      auto* c = std::get_if<Compute>(&meanings_.back());
      if (!c || c->outputs.size() != 1 || g.type(n.outputs[0]).kind != Kind::Tensor) continue;
      facts_[i].out = &c->outputs[0];
      std::vector<Expr> roots{c->outputs[0].value};
      visit(roots, [&](Expr e) { facts_[i].folds |= e.op() == Op::Fold; });
    }
    for (const Port& p : g.outputs()) is_output_[p.value.index] = true;
    widens_.resize(g.nodes().size());
    for (uint32_t i = 0; i < g.nodes().size(); ++i) widens_[i] = widens_for_products(i);
  }

  std::vector<Cluster> run() {
    for (uint32_t i = 0; i < g_.nodes().size(); ++i)
      if (owner_[i] < 0) add(facts_[i].out && !widens_[i] ? grow(i) : std::vector<uint32_t>{i});
    for (uint32_t i = 0; i < g_.nodes().size(); ++i)
      if (widens_[i]) join_all_readers(i);
    for (size_t c = 0; c < clusters_.size(); ++c)
      if (!clusters_[c].nodes.empty()) absorb_into_reader(c);
    std::erase_if(clusters_, [](const Cluster& c) { return c.nodes.empty(); });
    std::stable_sort(clusters_.begin(), clusters_.end(),
                     [](const Cluster& a, const Cluster& b) { return a.nodes.back() < b.nodes.back(); });
    return std::move(clusters_);
  }

 private:
  Size size_of(uint32_t node) const {
    const Node& n = g_.nodes()[node];
    Size size{1, facts_[node].folds, {n.outputs.begin(), n.outputs.end()}, {n.inputs.begin(), n.inputs.end()}};
    size.used.erase(ValueId());
    return size;
  }
  void add(const std::vector<uint32_t>& nodes) {
    Cluster c;
    Size& size = sizes_.emplace_back();
    for (uint32_t n : nodes) {
      size.add(size_of(n));
      c.nodes.push_back({n});
      owner_[n] = static_cast<int>(clusters_.size());
    }
    for (ValueId v : g_.nodes()[nodes.back()].outputs)
      if (v && !g_[v].constant) c.outputs.push_back(v);
    clusters_.push_back(std::move(c));
  }

  static bool same_index(Expr a, Expr b) { return a == b || (b.is_const(0) && a.extent().is_const(1)); }
  static bool same_but_last(const Shape& a, const Shape& b) {
    return a.size() == b.size() && !a.empty() && std::equal(a.begin(), a.end() - 1, b.begin());
  }
  struct FoldFacts {
    std::vector<Expr> vars;
    bool nested = false;
  };
  static FoldFacts folds_of(Expr value) {
    FoldFacts f;
    std::vector<Expr> roots{value};
    visit(roots, [&](Expr e) {
      if (e.op() != Op::Fold) return;
      f.vars.push_back(e.arg(0));
      std::vector<Expr> body{e.arg(1)};
      visit(body, [&](Expr x) { f.nested |= x.op() == Op::Fold; });
    });
    return f;
  }
  /// The node reduces the last axis of its operands, and nothing else.
  bool reduces_rows(uint32_t node) {
    const Node& n = g_.nodes()[node];
    const Shape& shape = g_.type(n.outputs[0]).shape;
    if (shape.empty() || !shape.back().is_static(1)) return false;
    FoldFacts folds = folds_of(facts_[node].out->value);
    return folds.vars.size() == 1 && !folds.nested && loads_fit(node, nullptr, true, folds.vars);
  }
  /// Every Load of a value in `inside` (null: of any that the folds read) reads the element that is being computed;
  /// with `rows`, also its row's one element, or under a fold of the last axis the elements of its row.
  bool loads_fit(uint32_t node, const std::set<ValueId>* inside, bool rows, const std::vector<Expr>& fold_vars) {
    const Node& n = g_.nodes()[node];
    const OutputExpr& out = *facts_[node].out;
    const Shape& shape = g_.type(n.outputs[0]).shape;
    bool ok = true;
    std::vector<Expr> roots{out.value};
    visit(roots, [&](Expr e) {
      if (e.op() != Op::Load) return;
      ValueId v = n.inputs[e.operand()];
      bool by_fold = std::ranges::any_of(fold_vars, [&](Expr f) { return depends_on(e, f); });
      if (inside ? !inside->count(v) : !by_fold) return;
      const Shape& from = g_.type(v).shape;
      if (e.checked() || from.size() != shape.size()) {
        ok = false;
        return;
      }
      size_t rank = shape.size();
      bool lead = rank > 0 && same_but_last(from, shape) &&
                  std::equal(out.index.begin(), out.index.end() - 1, e.index().begin(), same_index);
      if (rank == 0) return;
      Expr last = e.index()[rank - 1];
      bool element = from.back() == shape.back() && same_index(out.index[rank - 1], last);
      bool row_value = rows && from.back().is_static(1) && last.is_const(0);
      bool folded =
          rows && shape.back().is_static(1) && by_fold && last.op() == Op::Var && last.extent() == from.back().extent();
      ok &= lead && (element || row_value || folded);
    });
    return ok;
  }
  /// Whether a node may join a cluster that made the values `inside`.
  bool may_join(uint32_t node, const std::set<ValueId>& inside, bool rows) {
    if (!facts_[node].out) return false;
    if (!facts_[node].folds) return loads_fit(node, &inside, rows, {});
    if (!rows || !reduces_rows(node)) return false;
    return loads_fit(node, &inside, true, folds_of(facts_[node].out->value).vars);
  }

  std::vector<uint32_t> grow(uint32_t anchor) {
    std::vector<uint32_t> nodes{anchor};
    std::set<uint32_t> members{anchor};
    std::set<ValueId> inside{g_.nodes()[anchor].outputs[0]};
    std::set<ValueId> tainted;  // computed from the cluster's values outside of it
    size_t closed = 1;
    Size size = size_of(anchor);
    bool rows = !facts_[anchor].folds || reduces_rows(anchor);
    uint32_t end = static_cast<uint32_t>(std::min(g_.nodes().size(), anchor + kLookAhead));
    for (uint32_t i = anchor + 1; i < end && size.nodes < kMaxNodes; ++i) {
      const Node& n = g_.nodes()[i];
      bool reads = false, late = false;
      for (ValueId v : n.inputs) {
        reads |= v && inside.count(v);
        late |= v && tainted.count(v);
      }
      if (!reads && !late) continue;
      const Size more = size_of(i);
      if (late || owner_[i] >= 0 || widens_[i] || !fit_together(size, more) || !may_join(i, inside, rows)) {
        for (ValueId v : n.outputs) tainted.insert(v);
        continue;
      }
      nodes.push_back(i);
      size.add(more);
      members.insert(i);
      inside.insert(n.outputs[0]);
      if (leaving(nodes, members) == 1) closed = nodes.size();
    }
    nodes.resize(closed);
    return nodes;
  }
  int leaving(const std::vector<uint32_t>& nodes, const std::set<uint32_t>& members) {
    int count = 0;
    for (uint32_t n : nodes) {
      ValueId v = g_.nodes()[n].outputs[0];
      count +=
          is_output_[v.index] || std::ranges::any_of(users_[v.index], [&](uint32_t u) { return !members.count(u); });
    }
    return count;
  }

  /// Of floats whose products the target has: a cast to f32 that nothing reads but folds which could not join what
  /// makes them.
  bool widens_for_products(uint32_t i) {
    if (!facts_[i].out) return false;
    const Expr value = facts_[i].out->value;
    if (value.op() != Op::Cast || value.type() != DType::f32 || value.arg(0).op() != Op::Load) return false;
    const DType narrow = value.arg(0).type();
    const ValueId v = g_.nodes()[i].outputs[0];
    if (!target_.has_products_of(narrow) || is_output_[v.index] || !is_static(g_.type(v).shape)) return false;
    return std::ranges::all_of(users_[v.index], [&](uint32_t u) { return facts_[u].folds && !reduces_rows(u); });
  }
  void join_all_readers(uint32_t i) {
    Cluster& own = clusters_[static_cast<size_t>(owner_[i])];
    for (uint32_t u : users_[g_.nodes()[i].outputs[0].index]) {
      Cluster& to = clusters_[static_cast<size_t>(owner_[u])];
      to.nodes.insert(std::ranges::lower_bound(to.nodes, NodeId{i}), NodeId{i});
      owner_[i] = owner_[u];
    }
    own.nodes.clear();
  }

  /// How often the reader evaluates a Load of `v`: its points times the extents of the folds around the Load.
  double reads_of(uint32_t node, ValueId v) {
    const Node& n = g_.nodes()[node];
    if (!is_static(g_.type(n.outputs[0]).shape)) return INFINITY;
    const double points = static_cast<double>(product(g_.type(n.outputs[0]).shape).value());
    double reads = 0;
    for (const auto& [e, times] : evaluations(facts_[node].out->value, points))
      if (e.op() == Op::Load && n.inputs[e.operand()] == v) reads += times;
    return reads;
  }

  void absorb_into_reader(size_t c) {
    Cluster& from = clusters_[c];
    if (from.outputs.size() != 1 || is_output_[from.outputs[0].index]) return;
    ValueId v = from.outputs[0];
    if (users_[v.index].size() != 1 || !is_static(g_.type(v).shape)) return;
    for (NodeId n : from.nodes)
      if (!facts_[n.index].out || facts_[n.index].folds) return;
    uint32_t reader = users_[v.index][0];
    Cluster& to = clusters_[static_cast<size_t>(owner_[reader])];
    if (!facts_[reader].out || !fit_together(sizes_[c], sizes_[static_cast<size_t>(owner_[reader])])) return;
    if (widens_[reader] && (!moves_constant(from) || users_[g_.nodes()[reader].outputs[0].index].size() != 1)) return;
    bool checked = false;  // a Load that checks its index is never replaced by what it reads
    std::vector<Expr> roots{facts_[reader].out->value};
    visit(roots,
          [&](Expr e) { checked |= e.op() == Op::Load && e.checked() && g_.nodes()[reader].inputs[e.operand()] == v; });
    if (checked) return;
    if (moves_constant(from) || reads_of(reader, v) <= static_cast<double>(product(g_.type(v).shape).value()))
      join(from, to, owner_[reader]);
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
  /// Whoever reads a constant that was moved or widened may as well read the constant.
  bool moves_constant(const Cluster& c) const {
    if (c.nodes.size() != 1) return false;
    Expr value = facts_[c.nodes[0].index].out->value;
    if (value.op() == Op::Cast) value = value.arg(0);
    return value.op() == Op::Load && !value.checked() && g_[g_[c.nodes[0]].inputs[value.operand()]].constant;
  }

  const Graph& g_;
  const Target& target_;
  std::vector<Meaning> meanings_;
  std::vector<NodeFacts> facts_;
  std::vector<int> owner_;
  std::vector<std::vector<uint32_t>> users_;
  std::vector<bool> is_output_;
  std::vector<bool> widens_;  // by node: casts that join their readers
  std::vector<Cluster> clusters_;
  std::vector<Size> sizes_;  // by cluster
};

}  // namespace

std::vector<Cluster> form_clusters(const Graph& g, const Target& target) { return Clusterer(g, target).run(); }

}  // namespace cameo
