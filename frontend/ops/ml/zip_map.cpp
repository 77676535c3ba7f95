// ZipMap: for each row of scores the map from the classes' labels to them.
#include "frontend/ops/list.h"
#include "frontend/ops/ml/labels.h"

namespace cameo::ops {
namespace {

ClassLabels map_labels(const NodeView& n) {
  ClassLabels labels(n, "classlabels_int64s", "classlabels_strings");
  if (labels.count() == 0) n.fail(Code::E0204, "`ZipMap` has no class labels");
  return labels;
}

void infer_zip_map(Infer& n) {
  const ClassLabels labels = map_labels(n);
  if (n.rank() < 1 || n.rank() > 2)
    n.fail(Code::E0302, fmt::format("X is {}, it must be a row or rows", to_string(n.type(0))));
  same_dim(n, n.shape().back(), labels.count(), "scores of a row and class labels");
  n.output(0, Type::list(Kind::Sequence, Type::list(Kind::Map, Type(n.dtype(), {labels.count()}), labels.dtype())));
}

Meaning zip_map(const MeaningView& n) {
  Build b(n);
  const ClassLabels labels = map_labels(n);
  const ValueId rows = n.rank() == 1 ? b.unsqueeze(b.in(0), {0}) : b.in(0);
  return b.outputs({b.graph().add(get_operator("ZipKeys", "cameo"), {rows, labels.all(b)})[0]});
}

}  // namespace

Operator declare_ml_zip_map() {
  return {.name = "ZipMap",
          .domain = "ai.onnx.ml",
          .since = {1},
          .inputs = {{"X", DTypes(DType::f32)}},
          .outputs = {{"Z"}},
          .attributes = {{"classlabels_int64s", AttrKind::Ints}, {"classlabels_strings", AttrKind::Strings}},
          .infer = infer_zip_map,
          .meaning = zip_map,
          .foldable = false};
}

}  // namespace cameo::ops
