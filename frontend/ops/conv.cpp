// Conv: a product of two Loads summed over the group's channels and the taps; padding is what lies outside of X.
#include "frontend/ops/conv.h"

namespace cameo::ops {
namespace {

void infer_conv(Infer& n) {
  Convolution c = convolution(n, 1);
  n.output(0, n.dtype(0), convolved_shape(n, c, 2));
}

Meaning conv(const MeaningView& n) {
  Convolution c = convolution(n, 1);
  DType t = accumulator(n.dtype(0));
  auto out = n.index();
  Expr y = convolve(
      c, out, [&](auto& at) { return cast(n.load(0, at), t); }, [&](auto& at) { return cast(n.load(1, at), t); });
  if (n.has(2)) y = y + cast(n.load(2, {out[1]}), t);
  return Compute{{{out, cast(y, n.out_dtype())}}};
}

}  // namespace

Operator declare_conv() {
  return {.name = "Conv",
          .since = {1, 11, 22},
          .inputs = {{"X", kFloats}, {"W", kFloats, InputSpec::Required, 0}, {"B", kFloats, InputSpec::Optional, 0}},
          .attributes = convolution_attributes(),
          .infer = infer_conv,
          .meaning = conv};
}

}  // namespace cameo::ops
