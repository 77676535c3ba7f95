// Momentum: gradients that keep going; in mode `nesterov` a step looks ahead by what keeps going.
#include "frontend/ops/training/optimiser.h"

namespace cameo::ops {
namespace {

bool looks_ahead(const NodeView& n) {
  const std::string mode = n.attr_string("mode");
  if (mode != "standard" && mode != "nesterov")
    n.fail(Code::E0204, fmt::format("`mode` is `{}`", printable(mode)), "standard or nesterov");
  return mode == "nesterov";
}

void infer_momentum(Infer& n) {
  looks_ahead(n);
  infer_optimiser<1>(n);
}

std::vector<ValueId> momentum_step(const MeaningView& n, OptimiserStep s) {
  Build& b = s.b;
  const ValueId one = b.scalar(DType::f64, 1), beta = b.scalar(DType::f64, n.attr_float("beta"));
  const ValueId weight = b.op("Where", {b.op("Less", {b.scalar(DType::f64, 0), s.steps()}), beta, one});
  const ValueId gradient = s.gradient();
  const ValueId going = b.add(b.mul(s.attr("alpha"), s.state(0)), b.mul(s.own(weight), gradient));
  const ValueId step = looks_ahead(n) ? b.add(gradient, b.mul(s.attr("alpha"), going)) : going;
  return {b.sub(s.tensor(), b.mul(s.own(s.rate()), step)), going};
}

}  // namespace

Operator declare_training_momentum() {
  return {.name = "Momentum",
          .domain = "ai.onnx.preview.training",
          .since = {1},
          .inputs = optimiser_inputs(),
          .outputs = {{"outputs", OutputSpec::Variadic}},
          .attributes = {{"alpha", AttrKind::Float},
                         {"beta", AttrKind::Float},
                         {"mode", AttrKind::String},
                         {"norm_coefficient", AttrKind::Float}},
          .infer = infer_momentum,
          .meaning = optimiser_meaning<1, momentum_step>};
}

}  // namespace cameo::ops
