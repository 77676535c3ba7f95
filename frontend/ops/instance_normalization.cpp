// InstanceNormalization: each channel of each sample to mean 0 and variance 1, then scaled and shifted.
#include "frontend/ops/normalize.h"

namespace cameo::ops {
namespace {

void infer_instance_normalization(Infer& n) {
  if (n.rank() < 3)
    n.fail(Code::E0302, fmt::format("`input` is {}, it needs N, C and spatial axes", to_string(n.type(0))));
  for (int i = 1; i < 3; ++i)
    if (n.rank(i) != 1 || !n.agree(n.shape(i)[0], n.shape()[1]))
      n.fail(Code::E0302, fmt::format("`input` is {}, but `{}` is {}", to_string(n.type(0)),
                                      n.node().op->inputs[i].name, to_string(n.type(i))));
  n.output(0, n.type(0));
}

Meaning instance_normalization(const MeaningView& n) {
  Build b(n);
  DType t = accumulator(n.dtype());
  ValueId y = standardize(b, b.cast(b.in(0), t), axes_from(2, n.rank()), n.attr_float("epsilon")).y;
  ValueId scale = per_channel(b, b.cast(b.in(1), t), n.rank()), shift = per_channel(b, b.cast(b.in(2), t), n.rank());
  return b.outputs({b.cast(b.add(b.mul(y, scale), shift), n.dtype())});
}

}  // namespace

Operator declare_instance_normalization() {
  return {.name = "InstanceNormalization",
          .since = {1, 6, 22},
          .inputs = {{"input", kFloats},
                     {"scale", kFloats, InputSpec::Required, 0},
                     {"B", kFloats, InputSpec::Required, 0}},
          .outputs = {{"output"}},
          .attributes = {{"consumed_inputs", AttrKind::Ints}, {"epsilon", 1e-5f}},
          .infer = infer_instance_normalization,
          .meaning = instance_normalization};
}

}  // namespace cameo::ops
