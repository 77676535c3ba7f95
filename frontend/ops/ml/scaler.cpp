// Scaler: (X - offset) * scale, of each feature its own.
#include "frontend/ops/ml/rows.h"

namespace cameo::ops {
namespace {

void infer_scaler(Infer& n) {
  for (std::string_view attr : {"offset", "scale"})
    if (n.has_attr(attr)) check_of_features(n, attr, n.attr_floats(attr).size());
  n.output(0, DType::f32, n.shape());
}

Meaning scaler(const MeaningView& n) {
  Build b(n);
  ValueId y = b.cast(b.in(0), type_of_sums(n.dtype()));
  const DType t = b.type(y).dtype;
  if (n.has_attr("offset")) y = b.sub(y, list_of(b, t, n.attr_floats("offset")));
  if (n.has_attr("scale")) y = b.mul(y, list_of(b, t, n.attr_floats("scale")));
  return b.outputs({b.cast(y, DType::f32)});
}

}  // namespace

Operator declare_ml_scaler() {
  return {.name = "Scaler",
          .domain = "ai.onnx.ml",
          .since = {1},
          .inputs = {{"X", kOfRows}},
          .attributes = {{"offset", AttrKind::Floats}, {"scale", AttrKind::Floats}},
          .infer = infer_scaler,
          .meaning = scaler};
}

}  // namespace cameo::ops
