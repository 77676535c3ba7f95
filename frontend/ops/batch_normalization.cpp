// BatchNormalization of inference: (X - mean) / sqrt(var + epsilon) * scale + B, a channel's four numbers at a time.
#include "frontend/ops/window.h"

namespace cameo::ops {
namespace {

void infer_batch_normalization(Infer& n) {
  if (n.rank() < 1) n.fail(Code::E0302, "X is a scalar");
  bool training = n.has_attr("training_mode") && n.attr_int("training_mode");
  if (training || n.types.size() > 1)
    n.fail(Code::E0402, "`BatchNormalization` in training mode", "export the model for inference (model.eval())");
  if (n.has_attr("spatial") && !n.attr_int("spatial")) n.fail(Code::E0402, "`BatchNormalization` with `spatial` 0");
  Dim c = n.rank() > 1 ? n.shape()[1] : Dim(1);
  for (int i = 1; i < 5; ++i)
    if (n.rank(i) != 1 || (n.shape(i)[0].is_static() && c.is_static() && !(n.shape(i)[0] == c)))
      n.fail(Code::E0302, fmt::format("X is {}, but `{}` is {}", to_string(n.type(0)), n.node().op->inputs[i].name,
                                      to_string(n.type(i))));
  n.output(0, n.type(0));
}

Meaning batch_normalization(const MeaningView& n) {
  auto out = n.index();
  DType t = sum_type(n.dtype());
  for (int i = 1; i < 5; ++i)
    if (n.dtype(i) == DType::f64) t = DType::f64;
  auto of_channel = [&](int input) { return cast(n.load(input, {n.rank() > 1 ? out[1] : integer(0)}), t); };
  Expr x = cast(n.load(0, out), t);
  Expr y = (x - of_channel(3)) / sqrt(of_channel(4) + n.attr_float("epsilon")) * of_channel(1) + of_channel(2);
  return Compute{{{out, cast(y, n.dtype())}}};
}

}  // namespace

Operator declare_batch_normalization() {
  return {
      .name = "BatchNormalization",
      .since = {7, 9, 14, 15},
      .inputs = {{"X", kFloats}, {"scale", kFloats}, {"B", kFloats}, {"input_mean", kFloats}, {"input_var", kFloats}},
      .outputs = {{"Y"},
                  {"running_mean", OutputSpec::Optional},
                  {"running_var", OutputSpec::Optional},
                  {"saved_mean", OutputSpec::Optional},
                  {"saved_var", OutputSpec::Optional}},
      .attributes = {{"epsilon", 1e-5f}, {"momentum", 0.9f}, {"spatial", 1}, {"training_mode", 0}},
      .infer = infer_batch_normalization,
      .meaning = batch_normalization};
}

}  // namespace cameo::ops
