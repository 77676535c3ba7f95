// OneHotEncoder: for each element a 1 at the place of its category among zeros; none where it has none, or, with
// `zeros` 0, the end of the run.
#include "frontend/ops/ml/rows.h"
#include "frontend/ops/texts.h"

namespace cameo::ops {
namespace {

Tensor categories(const NodeView& n) {
  if (n.dtype() == DType::str) {
    const auto all = n.attr_strings("cats_strings");
    return Tensor::of_strings({std::ssize(all)}, all);
  }
  const auto all = n.attr_ints("cats_int64s");
  return Tensor::i64({std::ssize(all)}, all);
}

void infer_one_hot_encoder(Infer& n) {
  Shape s = n.shape();
  s.push_back(categories(n).size());
  n.output(0, DType::f32, s);
}

Meaning one_hot_encoder(const MeaningView& n) {
  Build b(n);
  const Tensor all = categories(n);
  const ValueId x = b.unsqueeze(b.cast(b.in(0), all.dtype()), {-1});
  const ValueId hot = b.cast(b.op("Equal", {x, b.graph().constant(all)}), DType::f32);
  if (n.attr_int("zeros") || all.size() == 0) return b.outputs({hot});
  const ValueId row = b.cast(b.op("Less", {b.reduce("ReduceMax", hot, {-1}), b.scalar(DType::f32, 1)}), DType::i64);
  const ValueId none = b.gather(b.cast(b.ints({0}), DType::f32), row);  // it has no row 1
  return b.outputs({b.add(hot, none)});
}

}  // namespace

Operator declare_ml_one_hot_encoder() {
  return {.name = "OneHotEncoder",
          .domain = "ai.onnx.ml",
          .since = {1},
          .inputs = {{"X", kOfRows | kStrings}},
          .attributes = {{"cats_int64s", AttrKind::Ints}, {"cats_strings", AttrKind::Strings}, {"zeros", 1}},
          .infer = infer_one_hot_encoder,
          .meaning = one_hot_encoder};
}

}  // namespace cameo::ops
