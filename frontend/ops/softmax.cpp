// Softmax: exp(x - max) over its sum. 16-bit floats go through f32.
#include "frontend/ops/softmax.h"

namespace cameo::ops {
namespace {

Meaning softmax(const MeaningView& n) {
  Build b(n);
  auto axes = softmax_axes(n);
  ValueId x = b.cast(b.in(0), accumulator(n.dtype()));
  if (axes.empty()) return b.outputs({b.op("Exp", {b.sub(b.in(0), b.in(0))})});
  ValueId e = b.op("Exp", {b.sub(x, b.reduce("ReduceMax", x, axes))});
  return b.outputs({b.cast(b.div(e, b.reduce("ReduceSum", e, axes)), n.dtype())});
}

}  // namespace

Operator declare_softmax() {
  return {.name = "Softmax",
          .since = {1, 11, 13},
          .inputs = {{"input", kFloats}},
          .outputs = {{"output"}},
          .attributes = {{"axis", AttrKind::Int}},
          .infer = infer_softmax,
          .meaning = softmax};
}

}  // namespace cameo::ops
