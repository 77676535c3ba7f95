// LogSoftmax: x - max - log(sum(exp(x - max))). 16-bit floats go through f32.
#include "frontend/ops/softmax.h"

namespace cameo::ops {
namespace {

Meaning log_softmax(const MeaningView& n) {
  Build b(n);
  auto axes = softmax_axes(n);
  ValueId x = b.cast(b.in(0), accumulator(n.dtype()));
  if (axes.empty()) return b.outputs({b.sub(b.in(0), b.in(0))});
  ValueId d = b.sub(x, b.reduce("ReduceMax", x, axes));
  ValueId sum = b.reduce("ReduceSum", b.op("Exp", {d}), axes);
  return b.outputs({b.cast(b.sub(d, b.op("Log", {sum})), n.dtype())});
}

}  // namespace

Operator declare_log_softmax() {
  return {.name = "LogSoftmax",
          .since = {1, 11, 13},
          .inputs = {{"input", kFloats}},
          .outputs = {{"output"}},
          .attributes = {{"axis", AttrKind::Int}},
          .infer = infer_softmax,
          .meaning = log_softmax};
}

}  // namespace cameo::ops
