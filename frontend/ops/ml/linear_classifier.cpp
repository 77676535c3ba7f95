// LinearClassifier: a score for each class, and the class with the greatest. One score s of two classes is that of the
// second one, the first has -s; one of one class says whether it is the class, which 0 stands for if not.
#include "frontend/ops/ml/labels.h"
#include "frontend/ops/ml/linear.h"

namespace cameo::ops {
namespace {

struct LinearClasses {
  ClassLabels labels;
  int64_t scores, classes;
};
LinearClasses linear_classes(const NodeView& n) {
  LinearClasses c{ClassLabels(n, "classlabels_ints", "classlabels_strings"), linear_scores(n), 0};
  c.classes = c.scores == 1 && c.labels.count() == 2 ? 2 : c.scores;
  if (c.labels.count() && c.labels.count() != c.classes)
    n.fail(Code::E0204, fmt::format("coefficients of {} classes, which have {} labels", c.classes, c.labels.count()));
  return c;
}

void infer_linear_classifier(Infer& n) {
  post_transform(n);
  const LinearClasses c = linear_classes(n);
  n.output(0, c.labels.dtype(), {linear_rows(n)});
  n.output(1, DType::f32, {linear_rows(n), c.classes});
}

Meaning linear_classifier(const MeaningView& n) {
  Build b(n);
  const LinearClasses c = linear_classes(n);
  const std::string transform = post_transform(n);
  ValueId scores = linear(n, b);
  if (c.classes > c.scores) scores = b.concat({b.op("Neg", {scores}), scores}, 1);
  const ValueId y = transformed(b, scores, transform);
  if (c.classes > 1) return b.outputs({c.labels.of_greatest(b, scores), b.cast(y, DType::f32)});
  const ValueId is_it = b.squeeze(b.op("GreaterOrEqual", {y, b.like(y, transform == "NONE" ? 0 : 0.5)}), {1});
  const int64_t one = c.labels.count() && c.labels.dtype() == DType::i64 ? c.labels[0] : 1;
  return b.outputs({c.labels.of_single(b, is_it, one), b.cast(y, DType::f32)});
}

}  // namespace

Operator declare_ml_linear_classifier() {
  return {.name = "LinearClassifier",
          .domain = "ai.onnx.ml",
          .since = {1},
          .inputs = {{"X", kOfRows}},
          .outputs = {{"Y"}, {"Z"}},
          .attributes = {{"classlabels_ints", AttrKind::Ints},
                         {"classlabels_strings", AttrKind::Strings},
                         {"coefficients", AttrKind::Floats},
                         {"intercepts", AttrKind::Floats},
                         {"multi_class", 0},
                         {"post_transform", "NONE"}},
          .infer = infer_linear_classifier,
          .meaning = linear_classifier};
}

}  // namespace cameo::ops
