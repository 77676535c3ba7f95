// ImageScaler: an image times a number, plus one of each channel.
#include "frontend/ir/operator.h"

namespace cameo::ops {
namespace {

void infer_image_scaler(Infer& n) {
  const size_t biases = n.has_attr("bias") ? n.attr_floats("bias").size() : 0;
  if (n.rank() != 4) n.fail(Code::E0302, "`input` is " + to_string(n.type(0)) + ", not images");
  if (biases && !n.agree(Dim(static_cast<int64_t>(biases)), n.shape()[1]))
    n.fail(Code::E0204, "`bias` has " + std::to_string(biases) + " entries for " + to_string(n.type(0)));
  n.output(0, n.type(0));
}

Meaning image_scaler(const MeaningView& n) {
  const std::vector<Expr> index = n.index();
  Expr y = n.load(0, index) * n.attr_float("scale"), bias;
  if (!n.has_attr("bias")) return Compute{{{index, y}}};
  const std::vector<double> biases = n.attr_floats("bias");
  for (size_t c = biases.size(); c-- > 0;) {
    const Expr own = constant(n.dtype(), biases[c]);
    bias = bias ? select(eq(index[1], integer(static_cast<int64_t>(c))), own, bias) : own;
  }
  return Compute{{{index, bias ? y + bias : y}}};
}

}  // namespace

Operator declare_removed_image_scaler() {
  return {.name = "ImageScaler",
          .domain = "removed",
          .since = {1},
          .inputs = {{"input", kFloats}},
          .outputs = {{"output"}},
          .attributes = {{"bias", AttrKind::Floats}, {"scale", 1.f}},
          .infer = infer_image_scaler,
          .meaning = image_scaler};
}

}  // namespace cameo::ops
