// RMSNormalization: x / sqrt(mean(x^2) + epsilon) over the axes from `axis` on in the stash type, then scaled.
#include "frontend/ops/normalize.h"

namespace cameo::ops {
namespace {

void infer_rms_normalization(Infer& n) {
  NodeView::axis(n.attr_int("axis"), n.rank());
  check_broadcasts(n, 1);
  n.output(0, n.dtype(1), n.shape());
}

Meaning rms_normalization(const MeaningView& n) {
  Build b(n);
  auto axes = axes_from(NodeView::axis(n.attr_int("axis"), n.rank()), n.rank());
  ValueId x = b.cast(b.in(0), stash_type(n));
  ValueId mean = b.reduce("ReduceMean", b.mul(x, x), axes);
  ValueId y = b.div(x, b.op("Sqrt", {b.add(mean, b.like(x, n.attr_float("epsilon")))}));
  return b.outputs({b.mul(b.cast(y, n.dtype(1)), b.in(1))});
}

}  // namespace

Operator declare_rms_normalization() {
  return {.name = "RMSNormalization",
          .since = {23},
          .inputs = {{"X", kFloats}, {"scale", kFloats}},
          .attributes = {{"axis", -1}, {"epsilon", 1e-5f}, {"stash_type", 1}},
          .infer = infer_rms_normalization,
          .meaning = rms_normalization};
}

}  // namespace cameo::ops
