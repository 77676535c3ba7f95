// Momentum: gradients that keep going; in mode `nesterov` a step looks ahead by what keeps going.
#include "frontend/ops/training/optimiser.h"

namespace cameo::ops {
namespace {

std::vector<ValueId> momentum_step(const MeaningView& n, OptimiserStep s) {
  Build& b = s.b;
  const std::string mode = n.attr_string("mode");
  if (mode != "standard" && mode != "nesterov")
    n.fail(Code::E0204, fmt::format("`mode` is `{}`", printable(mode)), "standard or nesterov");
  const ValueId one = b.scalar(DType::f64, 1), beta = b.scalar(DType::f64, n.attr_float("beta"));
  const ValueId weight = b.op("Where", {b.op("Less", {b.scalar(DType::f64, 0), s.steps()}), beta, one});
  const ValueId gradient = s.gradient();
  const ValueId going = b.add(b.mul(s.attr("alpha"), s.state(0)), b.mul(s.own(weight), gradient));
  const ValueId step = mode == "standard" ? going : b.add(gradient, b.mul(s.attr("alpha"), going));
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
          .infer = infer_optimiser<1>,
          .meaning = optimiser_meaning<1, momentum_step>};
}

}  // namespace cameo::ops
