// LayerNormalization (before opset 17 ONNX Runtime's own): the axes from `axis` on to mean 0 and variance 1 in the
// stash type, then scaled and shifted in X's.
#include "frontend/ops/normalize.h"

namespace cameo::ops {
namespace {

void infer_layer_normalization(Infer& n) {
  int axis = NodeView::axis(n.attr_int("axis"), n.rank());
  check_broadcasts(n, 1);
  check_broadcasts(n, 2);
  n.output(0, n.type(0));
  Shape kept = n.shape();
  std::fill(kept.begin() + axis, kept.end(), Dim(1));
  n.output(1, stash_type(n), kept);
  n.output(2, stash_type(n), kept);
}

Meaning layer_normalization(const MeaningView& n) {
  Build b(n);
  int axis = NodeView::axis(n.attr_int("axis"), n.rank());
  Standardized s = standardize(b, b.cast(b.in(0), stash_type(n)), axes_from(axis, n.rank()), n.attr_float("epsilon"));
  ValueId y = b.mul(b.cast(s.y, n.dtype()), b.in(1));
  if (b.in(2)) y = b.add(y, b.in(2));
  return b.outputs({y, s.mean, s.inverse});
}

}  // namespace

Operator declare_layer_normalization() {
  return {
      .name = "LayerNormalization",
      .since = {1, 17},
      .inputs = {{"X", kFloats}, {"Scale", kFloats, InputSpec::Required, 0}, {"B", kFloats, InputSpec::Optional, 0}},
      .outputs = {{"Y"}, {"Mean", OutputSpec::Optional}, {"InvStdDev", OutputSpec::Optional}},
      .attributes = {{"axis", -1}, {"epsilon", 1e-5f}, {"stash_type", 1}},
      .infer = infer_layer_normalization,
      .meaning = layer_normalization};
}

}  // namespace cameo::ops
