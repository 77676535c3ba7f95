// MeanVarianceNormalization: (x - mean) / (standard deviation + 1e-9) over the axes, by default all but the channels.
#include "frontend/ops/normalize.h"

namespace cameo::ops {
namespace {

std::vector<int64_t> axes(const NodeView& n) {
  std::vector<int64_t> a = n.has_attr("axes") ? n.attr_ints("axes") : std::vector<int64_t>{0, 2, 3};
  NodeView::axes(a, n.rank());
  return a;
}

void infer_mean_variance_normalization(Infer& n) {
  axes(n);
  n.output(0, n.type(0));
}

Meaning mean_variance_normalization(const MeaningView& n) {
  Build b(n);
  ValueId x = b.cast(b.in(0), accumulator(n.dtype()));
  ValueId d = b.sub(x, b.reduce("ReduceMean", x, axes(n)));
  ValueId deviation = b.op("Sqrt", {b.reduce("ReduceMean", b.mul(d, d), axes(n))});
  return b.outputs({b.cast(b.div(d, b.add(deviation, b.like(x, 1e-9))), n.dtype())});
}

}  // namespace

Operator declare_mean_variance_normalization() {
  return {.name = "MeanVarianceNormalization",
          .since = {9, 13},
          .inputs = {{"X", kFloats}},
          .attributes = {{"axes", AttrKind::Ints}},
          .infer = infer_mean_variance_normalization,
          .meaning = mean_variance_normalization};
}

}  // namespace cameo::ops
