// A forest: decision trees as the operators of ai.onnx.ml have them, and what becomes of them. Every test of a node
// becomes `x <= threshold` (equality and membership are several nodes in a row), and trees are packed for the operator
// Trees: breadth first, the two children of a node side by side, eight bytes a node where everything fits.
#pragma once
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>

#include "frontend/ir/build.h"
#include "frontend/ops/operands.h"
#include "runtime/kernels/trees_shape.h"

namespace cameo::ops {

enum class TreeTest { Leq, Lt, Gte, Gt, Eq, Neq };

struct Forest {
  struct Node {
    int64_t feature = 0;
    double threshold = 0;
    bool nan_goes_right = false;
    int32_t left = -1, right = -1;  // where x <= threshold, and where not
    int32_t leaf = -1;              // else its number
  };
  struct Says {
    int64_t target;
    double value;
  };
  std::vector<Node> nodes;
  std::vector<int32_t> roots;
  std::vector<std::vector<Says>> leaves;
  int64_t width = 1;  // targets
  int combine = 0;    // of Trees

  int32_t add(Node node) {
    nodes.push_back(node);
    return static_cast<int32_t>(nodes.size() - 1);
  }
  /// Makes `at` a node that goes to `yes` where the test holds; NaN holds if `nan_holds`.
  void set_test(int32_t at, TreeTest test, int64_t feature, double value, bool nan_holds, int32_t yes, int32_t no);

 private:
  void set_equality(int32_t at, int64_t feature, double value, bool nan_is_equal, int32_t equal, int32_t other);
};

inline void Forest::set_equality(int32_t at, int64_t feature, double value, bool nan_is_equal, int32_t equal,
                                 int32_t other) {
  const double less = std::nextafter(value, -INFINITY);
  const int32_t not_greater = less == value ? equal : add({feature, less, nan_is_equal, other, equal, -1});
  nodes[at] = {feature, value, !nan_is_equal, not_greater, other, -1};
}

inline void Forest::set_test(int32_t at, TreeTest test, int64_t feature, double value, bool nan_holds, int32_t yes,
                             int32_t no) {
  const bool turned = test == TreeTest::Gte || test == TreeTest::Gt || test == TreeTest::Neq;
  if (turned) std::swap(yes, no), nan_holds = !nan_holds;  // now Lt, Leq or Eq
  const bool strict = test == TreeTest::Lt || test == TreeTest::Gte;
  if (std::isnan(value) || (strict && value == -INFINITY)) {  // no number holds; of a turned test with NaN, none either
    const bool holds = std::isnan(value) && (test == TreeTest::Gte || test == TreeTest::Gt);
    if (holds) std::swap(yes, no), nan_holds = !nan_holds;
    nodes[at] = {feature, INFINITY, nan_holds, no, yes, -1};
    return;
  }
  if (test == TreeTest::Eq || test == TreeTest::Neq) return set_equality(at, feature, value, nan_holds, yes, no);
  if (strict) value = std::nextafter(value, -INFINITY);
  nodes[at] = {feature, value, !nan_holds, yes, no, -1};
}

/// The inputs of Trees but X.
struct PackedForest {
  Tensor nodes, roots, values, targets;
};

class ForestPacker {
 public:
  ForestPacker(Forest forest, DType x) : f_(std::move(forest)), x_is_f64_(x == DType::f64) {}

  PackedForest pack() {
    add_leaf_that_says_nothing();
    place();
    PackedForest p{x_is_f64_ || !fits_short() ? long_nodes() : short_nodes(), roots(), {}, {}};
    pack_leaves(p);
    return p;
  }

 private:
  struct Slot {
    int32_t node;
    int64_t next = 0;  // how far to its left child
  };

  /// The last trees of a group are no trees but this leaf.
  void add_leaf_that_says_nothing() {
    none_ = static_cast<int32_t>(f_.leaves.size());
    f_.leaves.emplace_back();
    while (f_.roots.size() % rt::kTreesAtOnce) f_.roots.push_back(f_.add({.leaf = none_}));
  }

  /// A node of several parents has a slot for each, which go on to the same children.
  void place() {
    std::vector<int64_t> children(f_.nodes.size(), -1);
    for (int32_t root : f_.roots) {
      const size_t first_of_tree = slots_.size();
      root_slots_.push_back(static_cast<int64_t>(first_of_tree));
      slots_.push_back({root});
      for (size_t at = first_of_tree; at < slots_.size(); ++at) {
        const int32_t node = slots_[at].node;
        if (f_.nodes[node].leaf >= 0) continue;
        if (children[node] < 0) {
          children[node] = static_cast<int64_t>(slots_.size());
          slots_.push_back({f_.nodes[node].left}), slots_.push_back({f_.nodes[node].right});
        }
        slots_[at].next = children[node] - static_cast<int64_t>(at);
      }
    }
  }
  bool fits_short() const {
    return f_.leaves.size() < static_cast<size_t>(rt::kShortLeaves) &&
           std::ranges::all_of(
               slots_,
               [&](const Slot& s) {
                 return std::abs(s.next) < rt::kShortDistance && f_.nodes[s.node].feature < rt::kShortFeatures;
               });
  }

  Tensor short_nodes() const {
    Tensor t(DType::i64, {static_cast<int64_t>(slots_.size())});
    for (size_t i = 0; i < slots_.size(); ++i) {
      const Forest::Node& n = f_.nodes[slots_[i].node];
      auto threshold = static_cast<float>(n.threshold);
      if (threshold > n.threshold) threshold = std::nextafterf(threshold, -INFINITY);  // the last one that is not more
      const uint32_t low =
          n.leaf >= 0 ? 0x7FC00000u | static_cast<uint32_t>(n.leaf) : std::bit_cast<uint32_t>(threshold);
      const auto word = static_cast<uint64_t>(n.nan_goes_right) << 32 |
                        static_cast<uint64_t>(n.feature) << rt::kShortFeatureAt |
                        static_cast<uint64_t>(slots_[i].next) << rt::kShortNextAt;
      t.set_int(static_cast<int64_t>(i), static_cast<int64_t>(word | low));
    }
    return t;
  }
  Tensor long_nodes() const {
    Tensor t(DType::i64, {static_cast<int64_t>(slots_.size()), 2});
    for (size_t i = 0; i < slots_.size(); ++i) {
      const Forest::Node& n = f_.nodes[slots_[i].node];
      const uint64_t low =
          n.leaf >= 0 ? 0x7FF8000000000000u | static_cast<uint64_t>(n.leaf) : std::bit_cast<uint64_t>(n.threshold);
      const uint64_t word = static_cast<uint64_t>(n.nan_goes_right) | static_cast<uint64_t>(n.feature) << 1 |
                            static_cast<uint64_t>(slots_[i].next) << 32;
      t.set_int(static_cast<int64_t>(2 * i), static_cast<int64_t>(low));
      t.set_int(static_cast<int64_t>(2 * i + 1), static_cast<int64_t>(word));
    }
    return t;
  }

  /// How many steps it takes from each tree's root to come to a leaf at most.
  std::vector<int64_t> depths() const {
    std::vector<int64_t> steps(f_.nodes.size(), -1), depths;
    for (int32_t root : f_.roots) {
      std::vector<int32_t> open{root};
      while (!open.empty()) {
        const int32_t at = open.back();
        const Forest::Node& n = f_.nodes[at];
        if (n.leaf < 0 && steps[n.left] < 0) {
          open.push_back(n.left);
        } else if (n.leaf < 0 && steps[n.right] < 0) {
          open.push_back(n.right);
        } else {
          steps[at] = n.leaf >= 0 ? 0 : 1 + std::max(steps[n.left], steps[n.right]);
          open.pop_back();
        }
      }
      depths.push_back(steps[root]);
    }
    return depths;
  }
  /// The deepest trees first: those of a group are about as deep.
  Tensor roots() const {
    const std::vector<int64_t> depth = depths();
    std::vector<size_t> order(f_.roots.size());
    std::iota(order.begin(), order.end(), size_t{0});
    std::ranges::stable_sort(order, [&](size_t a, size_t b) { return depth[a] > depth[b]; });
    const auto groups = static_cast<int64_t>(order.size()) / rt::kTreesAtOnce;
    Tensor t(DType::i32, {groups, rt::kTreesAtOnce + 1});
    for (int64_t g = 0, at = 0; g < groups; ++g) {
      for (int i = 0; i < rt::kTreesAtOnce; ++i) t.set_int(at++, root_slots_[order[g * rt::kTreesAtOnce + i]]);
      t.set_int(at++, depth[order[g * rt::kTreesAtOnce]]);
    }
    return t;
  }

  /// All leaves have as many entries: what is missing changes nothing of the first target.
  void pack_leaves(PackedForest& p) const {
    size_t each = 1;
    for (const auto& says : f_.leaves) each = std::max(each, says.size());
    const auto count = static_cast<int64_t>(f_.leaves.size());
    p.values = Tensor(x_is_f64_ ? DType::f64 : DType::f32, {count, static_cast<int64_t>(each)});
    p.targets = Tensor(DType::i32, {count, static_cast<int64_t>(each)});
    const double neutral = f_.combine == 0 ? 0 : f_.combine == 1 ? INFINITY : -INFINITY;
    int64_t at = 0;
    for (const auto& says : f_.leaves)
      for (size_t k = 0; k < each; ++k, ++at) {
        p.values.set(at, k < says.size() ? says[k].value : neutral);
        p.targets.set_int(at, k < says.size() ? says[k].target : 0);
      }
  }
  Forest f_;
  bool x_is_f64_;
  int32_t none_ = 0;
  std::vector<Slot> slots_;
  std::vector<int64_t> root_slots_;
};

/// What the leaves say of each row of X [rows, features], [rows, forest.width], in f32, or f64 where X is not f32.
inline ValueId join_trees(Build& b, ValueId x, Forest forest) {
  const DType t = b.type(x).dtype == DType::f32 ? DType::f32 : DType::f64;
  const Attrs attrs{{"combine", static_cast<int64_t>(forest.combine)}, {"width", forest.width}};
  PackedForest p = ForestPacker(std::move(forest), t).pack();
  const auto constant = [&](Tensor& tensor) { return b.graph().constant(std::move(tensor)); };
  return b.graph().add(get_operator("Trees", "cameo"),
                       {b.cast(x, t), constant(p.nodes), constant(p.roots), constant(p.values), constant(p.targets)},
                       attrs)[0];
}

/// X of a model of rows: [features] is one row.
inline Dim features_of(const NodeView& n) {
  if (n.rank() != 1 && n.rank() != 2) n.fail(Code::E0302, "X is " + to_string(n.type(0)) + ", not one row or rows");
  return n.shape().back();
}
inline Dim rows_of(const NodeView& n) { return n.rank() == 2 ? n.shape()[0] : Dim(1); }
inline ValueId as_rows(Build& b, ValueId x) { return b.type(x).rank() == 2 ? x : b.unsqueeze(x, {0}); }

/// The elements of X that nodes ask for must be there.
inline void check_features(const NodeView& n, const Forest& f) {
  int64_t least = 0, most = -1;
  for (const Forest::Node& node : f.nodes)
    if (node.leaf < 0) least = std::min(least, node.feature), most = std::max(most, node.feature);
  if (least < 0 || most >= kMaxStep || !n.fits(Dim(most + 1), features_of(n)))
    n.fail(Code::E0304, fmt::format("a tree asks for element {} of rows of {}", least < 0 ? least : most,
                                    to_string(features_of(n))));
}

/// The children of each node as a model has them: nodes, or leaves, which are negative. Each node but a root must be
/// the child of one at most: else there would be no end to the trees.
struct TreeLinks {
  std::vector<int64_t> yes, no;
};
inline void check_trees(const NodeView& n, const TreeLinks& links, std::span<const int64_t> roots) {
  std::vector<bool> seen(links.yes.size());
  std::vector<int64_t> open(roots.begin(), roots.end());
  for (size_t i = 0; i < open.size(); ++i) {
    if (open[i] < 0) continue;
    if (seen[open[i]]) n.fail(Code::E0204, fmt::format("the nodes form no trees: node {} has two parents", open[i]));
    seen[open[i]] = true;
    open.push_back(links.yes[open[i]]), open.push_back(links.no[open[i]]);
  }
}

}  // namespace cameo::ops
