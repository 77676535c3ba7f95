// TreeEnsemble: numbers of which the leaves of decision trees say something, a leaf of one each: their sum, mean, least
// or greatest. Interior nodes and leaves are lists of their own; a node may ask whether an element is one of a set.
#include "frontend/ops/ml/forest.h"
#include "frontend/ops/ml/post_transform.h"

namespace cameo::ops {
namespace {

enum Aggregate { MeanOfLeaves, SumOfLeaves, LeastOfLeaves, GreatestOfLeaves };
constexpr int64_t kMember = 6;  // of nodes_modes: those before are TreeTests

std::string_view transform_of_ensemble(const NodeView& n) {
  constexpr std::string_view kNames[] = {"NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO", "PROBIT"};
  const int64_t number = n.attr_int("post_transform");
  if (number < 0 || number >= std::ssize(kNames)) n.fail(Code::E0204, fmt::format("`post_transform` is {}", number));
  return kNames[number];
}

class NodesAndLeaves {
 public:
  explicit NodesAndLeaves(const NodeView& n)
      : n_(n), modes_(n.attr_tensor("nodes_modes")), values_(n.attr_tensor("nodes_splits")) {
    count_ = modes_.size();
    yes_ = of_nodes("nodes_truenodeids"), no_ = of_nodes("nodes_falsenodeids");
    yes_is_leaf_ = of_nodes("nodes_trueleafs"), no_is_leaf_ = of_nodes("nodes_falseleafs");
    features_ = of_nodes("nodes_featureids");
    nan_holds_ = n.has_attr("nodes_missing_value_tracks_true") ? of_nodes("nodes_missing_value_tracks_true")
                                                               : std::vector<int64_t>(count_);
    if (values_.size() != count_) n.fail(Code::E0204, fmt::format("{} nodes have {} splits", count_, values_.size()));
  }

  Forest forest(int64_t width) {
    forest_.width = width;
    read_leaves();
    link();
    read_sets();
    auto set = sets_.begin();
    for (int64_t i = 0; i < count_; ++i) {
      const int64_t mode = modes_.get_int(i);
      if (mode < 0 || mode > kMember) n_.fail(Code::E0204, fmt::format("a node's mode is {}", mode));
      const auto at = static_cast<int32_t>(i), yes = child(links_.yes[i]), no = child(links_.no[i]);
      if (mode == kMember)
        set_membership(at, *set++, yes, no);
      else
        forest_.set_test(at, static_cast<TreeTest>(mode), features_[i], values_.get(i), nan_holds_[i] != 0, yes, no);
    }
    check_features(n_, forest_);
    return std::move(forest_);
  }

 private:
  std::vector<int64_t> of_nodes(std::string_view name) const {
    std::vector<int64_t> v = n_.attr_ints(name);
    if (std::ssize(v) != count_)
      n_.fail(Code::E0204, fmt::format("`{}` has {} entries for {} nodes", name, v.size(), count_));
    return v;
  }
  void read_leaves() {
    const std::vector<int64_t> targets = n_.attr_ints("leaf_targetids");
    const Tensor& weights = n_.attr_tensor("leaf_weights");
    if (std::ssize(targets) != weights.size())
      n_.fail(Code::E0204, fmt::format("{} leaves have {} weights", targets.size(), weights.size()));
    for (size_t i = 0; i < targets.size(); ++i) {
      if (targets[i] < 0 || targets[i] >= forest_.width)
        n_.fail(Code::E0204, fmt::format("a leaf says something of target {} of {}", targets[i], forest_.width));
      forest_.leaves.push_back({{targets[i], weights.get(static_cast<int64_t>(i))}});
    }
  }

  /// Leaves as links are negative: -1 is leaf 0.
  int64_t link_of(int64_t id, int64_t is_leaf) const {
    const int64_t most = is_leaf ? std::ssize(forest_.leaves) : count_;
    if (id < 0 || id >= most)
      n_.fail(Code::E0204, fmt::format("a node goes on to {} {} of {}", is_leaf ? "leaf" : "node", id, most));
    return is_leaf ? -1 - id : id;
  }
  void link() {
    for (int64_t i = 0; i < count_; ++i)
      links_.yes.push_back(link_of(yes_[i], yes_is_leaf_[i])), links_.no.push_back(link_of(no_[i], no_is_leaf_[i]));
    const std::vector<int64_t> roots = n_.attr_ints("tree_roots");
    for (int64_t root : roots) link_of(root, 0);
    check_trees(n_, links_, roots);
    forest_.roots.assign(roots.begin(), roots.end());
    forest_.nodes.resize(count_);
  }
  int32_t child(int64_t link) {
    return link >= 0 ? static_cast<int32_t>(link) : forest_.add({.leaf = static_cast<int32_t>(-1 - link)});
  }

  /// Of each node that asks for membership, in order; NaN ends one.
  void read_sets() {
    if (n_.has_attr("membership_values")) {
      const Tensor& members = n_.attr_tensor("membership_values");
      bool begins = true;
      for (int64_t i = 0; i < members.size(); ++i) {
        if (begins) sets_.emplace_back();
        begins = std::isnan(members.get(i));
        if (!begins) sets_.back().push_back(members.get(i));
      }
    }
    int64_t asked = 0;
    for (int64_t i = 0; i < count_; ++i) asked += modes_.get_int(i) == kMember;
    if (std::ssize(sets_) != asked)
      n_.fail(Code::E0204, fmt::format("`membership_values` has {} sets, {} nodes ask for one", sets_.size(), asked));
  }
  /// One member after the other.
  void set_membership(int32_t at, const std::vector<double>& members, int32_t yes, int32_t no) {
    const int64_t feature = features_[at];
    const bool nan_holds = nan_holds_[at] != 0;
    if (members.empty()) return forest_.set_test(at, TreeTest::Eq, feature, NAN, nan_holds, yes, no);
    for (size_t i = members.size(); i-- > 0;) {
      const int32_t here = i ? forest_.add({}) : at;
      forest_.set_test(here, TreeTest::Eq, feature, members[i], nan_holds, yes, no);
      no = here;
    }
  }

  const NodeView& n_;
  const Tensor &modes_, &values_;
  int64_t count_;
  std::vector<int64_t> yes_, no_, yes_is_leaf_, no_is_leaf_, features_, nan_holds_;
  std::vector<std::vector<double>> sets_;
  TreeLinks links_;
  Forest forest_;
};

void infer_tree_ensemble(Infer& n) {
  if (n.rank() != 2) n.fail(Code::E0302, "X is " + to_string(n.type(0)) + ", not rows");
  transform_of_ensemble(n);
  const int64_t width = count_attr(n, "n_targets"), aggregate = n.attr_int("aggregate_function");
  if (aggregate < MeanOfLeaves || aggregate > GreatestOfLeaves)
    n.fail(Code::E0204, fmt::format("`aggregate_function` is {}", aggregate));
  NodesAndLeaves(n).forest(width);
  n.output(0, n.dtype(), {n.shape()[0], width});
}

Meaning tree_ensemble(const MeaningView& n) {
  Build b(n);
  const int64_t aggregate = n.attr_int("aggregate_function");
  Forest forest = NodesAndLeaves(n).forest(n.attr_int("n_targets"));
  const auto trees = static_cast<double>(forest.roots.size());
  forest.combine = aggregate == LeastOfLeaves ? 1 : aggregate == GreatestOfLeaves ? 2 : 0;
  ValueId y = join_trees(b, b.cast(b.in(0), accumulator(n.dtype())), std::move(forest));
  if (aggregate == MeanOfLeaves) y = b.div(y, b.like(y, trees));
  return b.outputs({b.cast(transformed(b, y, transform_of_ensemble(n)), n.dtype())});
}

}  // namespace

Operator declare_ml_tree_ensemble() {
  return {.name = "TreeEnsemble",
          .domain = "ai.onnx.ml",
          .since = {5},
          .inputs = {{"X", DTypes(DType::f16, DType::f32, DType::f64)}},
          .attributes = {{"aggregate_function", SumOfLeaves},
                         {"leaf_targetids", AttrKind::Ints},
                         {"leaf_weights", AttrKind::Tensor},
                         {"membership_values", AttrKind::Tensor},
                         {"n_targets", 1},
                         {"nodes_falseleafs", AttrKind::Ints},
                         {"nodes_falsenodeids", AttrKind::Ints},
                         {"nodes_featureids", AttrKind::Ints},
                         {"nodes_hitrates", AttrKind::Tensor},
                         {"nodes_missing_value_tracks_true", AttrKind::Ints},
                         {"nodes_modes", AttrKind::Tensor},
                         {"nodes_splits", AttrKind::Tensor},
                         {"nodes_trueleafs", AttrKind::Ints},
                         {"nodes_truenodeids", AttrKind::Ints},
                         {"post_transform", 0},
                         {"tree_roots", AttrKind::Ints}},
          .infer = infer_tree_ensemble,
          .meaning = tree_ensemble};
}

}  // namespace cameo::ops
