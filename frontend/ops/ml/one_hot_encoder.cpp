// OneHotEncoder: for each element a 1 at the place of its category among zeros; none where it has none, or, with
// `zeros` 0, the end of the run.
#include "frontend/ops/ml/rows.h"

namespace cameo::ops {
namespace {

std::vector<int64_t> categories(const NodeView& n) {
  if (n.has_attr("cats_strings") && !n.attr_strings("cats_strings").empty())
    n.fail(Code::E0403, "`OneHotEncoder` of strings is not computed yet");
  return n.attr_ints("cats_int64s");
}

void infer_one_hot_encoder(Infer& n) {
  Shape s = n.shape();
  s.push_back(std::ssize(categories(n)));
  n.output(0, DType::f32, s);
}

Meaning one_hot_encoder(const MeaningView& n) {
  Build b(n);
  const std::vector<int64_t> all = categories(n);
  const ValueId x = b.unsqueeze(b.cast(b.in(0), DType::i64), {-1});
  const ValueId hot = b.cast(b.op("Equal", {x, b.ints(all)}), DType::f32);
  if (n.attr_int("zeros") || all.empty()) return b.outputs({hot});
  const ValueId row = b.cast(b.op("Less", {b.reduce("ReduceMax", hot, {-1}), b.scalar(DType::f32, 1)}), DType::i64);
  const ValueId none = b.gather(b.cast(b.ints({0}), DType::f32), row);  // it has no row 1
  return b.outputs({b.add(hot, none)});
}

}  // namespace

Operator declare_ml_one_hot_encoder() {
  return {.name = "OneHotEncoder",
          .domain = "ai.onnx.ml",
          .since = {1},
          .inputs = {{"X", kOfRows}},
          .attributes = {{"cats_int64s", AttrKind::Ints}, {"cats_strings", AttrKind::Strings}, {"zeros", 1}},
          .infer = infer_one_hot_encoder,
          .meaning = one_hot_encoder};
}

}  // namespace cameo::ops
