// What TreeEnsembleClassifier and TreeEnsembleRegressor share: trees as lists with an entry a node, in which nodes have
// numbers within their tree, and a list of what leaves say.
#pragma once
#include <map>

#include "frontend/ops/ml/forest.h"

namespace cameo::ops {

inline std::vector<AttrSpec> tree_attributes(std::vector<AttrSpec> own) {
  own.insert(own.end(), {{"base_values", AttrKind::Floats},
                         {"base_values_as_tensor", AttrKind::Tensor, 3},
                         {"nodes_falsenodeids", AttrKind::Ints},
                         {"nodes_featureids", AttrKind::Ints},
                         {"nodes_hitrates", AttrKind::Floats},
                         {"nodes_hitrates_as_tensor", AttrKind::Tensor, 3},
                         {"nodes_missing_value_tracks_true", AttrKind::Ints},
                         {"nodes_modes", AttrKind::Strings},
                         {"nodes_nodeids", AttrKind::Ints},
                         {"nodes_treeids", AttrKind::Ints},
                         {"nodes_truenodeids", AttrKind::Ints},
                         {"nodes_values", AttrKind::Floats},
                         {"nodes_values_as_tensor", AttrKind::Tensor, 3},
                         {"post_transform", "NONE"}});
  return own;
}

/// A list of floats, or the tensor that version 3 has in its place; empty where there is neither.
inline std::vector<double> floats_or_tensor(const NodeView& n, const std::string& name) {
  if (n.has_attr(name)) return n.attr_floats(name);
  std::vector<double> v;
  if (!n.has_attr(name + "_as_tensor")) return v;
  const Tensor& t = n.attr_tensor(name + "_as_tensor");
  for (int64_t i = 0; i < t.size(); ++i) v.push_back(t.get(i));
  return v;
}

/// `says`: the prefix of the lists of what leaves say, class or target; `width`: how many of them there are.
class TreeLists {
 public:
  TreeLists(const NodeView& n, std::string_view says, int64_t width) : n_(n), says_(says) {
    forest_.width = width;
    trees_ = n.attr_ints("nodes_treeids");
    ids_ = of_nodes("nodes_nodeids"), yes_ = of_nodes("nodes_truenodeids"), no_ = of_nodes("nodes_falsenodeids");
    features_ = of_nodes("nodes_featureids");
    modes_ = n.attr_strings("nodes_modes"), values_ = floats_or_tensor(n, "nodes_values");
    nan_holds_ = n.has_attr("nodes_missing_value_tracks_true") ? of_nodes("nodes_missing_value_tracks_true")
                                                               : std::vector<int64_t>(trees_.size());
    if (modes_.size() != trees_.size() || values_.size() != trees_.size())
      n.fail(Code::E0204,
             fmt::format("{} nodes have {} modes and {} values", trees_.size(), modes_.size(), values_.size()));
    for (size_t i = 0; i < trees_.size(); ++i)
      if (!place_.emplace(std::pair(trees_[i], ids_[i]), static_cast<int64_t>(i)).second)
        n.fail(Code::E0204, fmt::format("tree {} has two nodes {}", trees_[i], ids_[i]));
  }

  Forest forest() {
    link();
    forest_.nodes.resize(trees_.size());
    for (size_t i = 0; i < trees_.size(); ++i) {
      if (is_leaf(i)) {
        forest_.nodes[i].leaf = static_cast<int32_t>(forest_.leaves.size());
        forest_.leaves.emplace_back();
        continue;
      }
      forest_.set_test(static_cast<int32_t>(i), test_of(modes_[i]), features_[i], values_[i], nan_holds_[i] != 0,
                       static_cast<int32_t>(links_.yes[i]), static_cast<int32_t>(links_.no[i]));
    }
    check_features(n_, forest_);
    read_leaves();
    return std::move(forest_);
  }

 private:
  bool is_leaf(size_t i) const { return modes_[i] == "LEAF"; }
  std::vector<int64_t> of_nodes(std::string_view name) const {
    std::vector<int64_t> v = n_.attr_ints(name);
    if (v.size() != trees_.size())
      n_.fail(Code::E0204, fmt::format("`{}` has {} entries for {} nodes", name, v.size(), trees_.size()));
    return v;
  }
  int64_t node_of(int64_t tree, int64_t id) const {
    auto at = place_.find({tree, id});
    if (at == place_.end()) n_.fail(Code::E0204, fmt::format("tree {} has no node {}", tree, id));
    return at->second;
  }
  TreeTest test_of(const std::string& mode) const {
    constexpr std::string_view kNames[] = {"BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE",
                                           "BRANCH_GT",  "BRANCH_EQ", "BRANCH_NEQ"};
    const auto found = std::ranges::find(kNames, std::string_view(mode));
    if (found == std::end(kNames)) n_.fail(Code::E0204, fmt::format("a node's mode is `{}`", printable(mode)));
    return static_cast<TreeTest>(found - kNames);
  }

  /// The first node of a tree is its root.
  void link() {
    links_.yes.assign(trees_.size(), -1), links_.no = links_.yes;
    std::vector<int64_t> roots;
    std::map<int64_t, int64_t> seen;
    for (size_t i = 0; i < trees_.size(); ++i) {
      if (seen.emplace(trees_[i], 0).second) roots.push_back(static_cast<int64_t>(i));
      if (is_leaf(i)) continue;
      links_.yes[i] = node_of(trees_[i], yes_[i]), links_.no[i] = node_of(trees_[i], no_[i]);
    }
    check_trees(n_, links_, roots);
    forest_.roots.assign(roots.begin(), roots.end());
  }

  void read_leaves() {
    const auto of_says = [&](std::string_view part) { return n_.attr_ints(says_ + std::string(part)); };
    const std::vector<int64_t> trees = of_says("_treeids"), nodes = of_says("_nodeids"), targets = of_says("_ids");
    const std::vector<double> weights = floats_or_tensor(n_, says_ + "_weights");
    if (nodes.size() != trees.size() || targets.size() != trees.size() || weights.size() != trees.size())
      n_.fail(Code::E0204, fmt::format("{} leaves say something of {} targets, with {} weights", trees.size(),
                                       targets.size(), weights.size()));
    for (size_t i = 0; i < trees.size(); ++i) {
      const int64_t node = node_of(trees[i], nodes[i]);
      if (!is_leaf(node)) continue;  // what no row comes to
      if (targets[i] < 0 || targets[i] >= forest_.width)
        n_.fail(Code::E0204, fmt::format("a leaf says something of target {} of {}", targets[i], forest_.width));
      forest_.leaves[forest_.nodes[node].leaf].push_back({targets[i], weights[i]});
    }
  }

  const NodeView& n_;
  std::string says_;
  std::vector<int64_t> trees_, ids_, yes_, no_, features_, nan_holds_;
  std::vector<std::string> modes_;
  std::vector<double> values_;
  std::map<std::pair<int64_t, int64_t>, int64_t> place_;  // of tree and node
  TreeLinks links_;
  Forest forest_;
};

/// Numbers for each target, or one for all, that are added in the end; null where there are none.
inline ValueId base_values(const NodeView& n, Build& b, int64_t width, DType t) {
  const std::vector<double> base = floats_or_tensor(n, "base_values");
  if (base.empty()) return {};
  if (base.size() != 1 && static_cast<int64_t>(base.size()) != width)
    n.fail(Code::E0204, fmt::format("{} `base_values` for {} targets", base.size(), width));
  Tensor values(t, {static_cast<int64_t>(base.size())});
  for (size_t i = 0; i < base.size(); ++i) values.set(static_cast<int64_t>(i), base[i]);
  return b.graph().constant(std::move(values));
}

}  // namespace cameo::ops
