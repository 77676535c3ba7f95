// TreeEnsembleClassifier: scores of classes that leaves of decision trees add to, and the class with the greatest.
// Where leaves say something of the first of two classes alone, that is the second one's score s, and the first has 1 -
// s, or -s if a leaf may say less than nothing.
#include "frontend/ops/ml/labels.h"
#include "frontend/ops/ml/post_transform.h"
#include "frontend/ops/ml/tree_lists.h"

namespace cameo::ops {
namespace {

ClassLabels tree_labels(const NodeView& n) {
  ClassLabels labels(n, "classlabels_int64s", "classlabels_strings");
  if (labels.count() == 0) n.fail(Code::E0204, "`TreeEnsembleClassifier` has no class labels");
  return labels;
}

void infer_tree_classifier(Infer& n) {
  features_of(n);
  post_transform(n);
  const ClassLabels labels = tree_labels(n);
  TreeLists(n, "class", labels.count()).forest();
  n.output(0, labels.dtype(), {rows_of(n)});
  n.output(1, DType::f32, {rows_of(n), labels.count()});
}

/// Two classes of which leaves speak of one.
struct BinaryTrees {
  bool of_first = false, of_second = false, all_positive = true;
};
BinaryTrees binary_trees(const NodeView& n, int64_t classes) {
  BinaryTrees binary;
  const std::vector<int64_t> ids = n.attr_ints("class_ids");
  const auto only = [&](int64_t id) {
    return classes == 2 && !ids.empty() && std::ranges::count(ids, id) == std::ssize(ids);
  };
  binary.of_first = only(0), binary.of_second = only(1);
  for (double w : floats_or_tensor(n, "class_weights")) binary.all_positive &= w >= 0;
  return binary;
}

/// [rows, 2] from the second one's, [rows, 1].
ValueId binary_scores(Build& b, ValueId s, bool all_positive, const std::string& transform) {
  const bool complement = transform == "PROBIT" || (transform == "NONE" && all_positive);
  const ValueId first = complement ? b.sub(b.like(s, 1), s) : b.op("Neg", {s});
  return transformed(b, b.concat({first, s}, 1), transform);
}

Meaning tree_classifier(const MeaningView& n) {
  Build b(n);
  const ClassLabels labels = tree_labels(n);
  const BinaryTrees binary = binary_trees(n, labels.count());
  ValueId scores = join_trees(b, as_rows(b, b.in(0)), TreeLists(n, "class", labels.count()).forest());
  if (ValueId base = base_values(n, b, labels.count(), b.type(scores).dtype)) scores = b.add(scores, base);
  const std::string transform = post_transform(n);
  const auto exceeds = [&](ValueId s, double least) { return b.squeeze(b.op("Less", {b.like(s, least), s}), {1}); };
  ValueId label, y;
  if (labels.count() == 1) {  // whether it is the class
    label = labels.of_single(b, exceeds(scores, 0), 1);
    y = transform == "PROBIT" ? transformed(b, scores, transform) : scores;
  } else if (binary.of_first || binary.of_second) {
    const ValueId s = b.slice(scores, 1, binary.of_second, binary.of_second + 1);
    label = labels.of_condition(b, exceeds(s, binary.all_positive ? 0.5 : 0));
    y = binary.of_first ? binary_scores(b, s, binary.all_positive, transform) : transformed(b, scores, transform);
  } else {
    label = labels.of_greatest(b, scores);
    y = transformed(b, scores, transform);
  }
  return b.outputs({label, b.cast(y, DType::f32)});
}

}  // namespace

Operator declare_ml_tree_ensemble_classifier() {
  return {.name = "TreeEnsembleClassifier",
          .domain = "ai.onnx.ml",
          .since = {1, 3, 5},
          .inputs = {{"X", DTypes(DType::f32, DType::f64, DType::i32, DType::i64)}},
          .outputs = {{"Y"}, {"Z"}},
          .attributes = tree_attributes({{"class_ids", AttrKind::Ints},
                                         {"class_nodeids", AttrKind::Ints},
                                         {"class_treeids", AttrKind::Ints},
                                         {"class_weights", AttrKind::Floats},
                                         {"class_weights_as_tensor", AttrKind::Tensor, 3},
                                         {"classlabels_int64s", AttrKind::Ints},
                                         {"classlabels_strings", AttrKind::Strings}}),
          .infer = infer_tree_classifier,
          .meaning = tree_classifier};
}

}  // namespace cameo::ops
