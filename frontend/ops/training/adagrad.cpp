// Adagrad: a rate of its own for each element, by the sum of its squared gradients.
#include "frontend/ops/training/optimiser.h"

namespace cameo::ops {
namespace {

std::vector<ValueId> adagrad_step(const MeaningView& n, OptimiserStep s) {
  Build& b = s.b;
  const ValueId decay = b.scalar(DType::f64, n.attr_float("decay_factor")), one = b.scalar(DType::f64, 1);
  const ValueId rate = s.own(b.div(s.rate(), b.add(one, b.mul(s.steps(), decay)))), gradient = s.gradient();
  const ValueId squares = b.add(s.state(0), b.mul(gradient, gradient));
  const ValueId divisor = b.add(b.op("Sqrt", {squares}), s.attr("epsilon"));
  return {b.sub(s.tensor(), b.div(b.mul(rate, gradient), divisor)), squares};
}

}  // namespace

Operator declare_training_adagrad() {
  return {.name = "Adagrad",
          .domain = "ai.onnx.preview.training",
          .since = {1},
          .inputs = optimiser_inputs(),
          .outputs = {{"outputs", OutputSpec::Variadic}},
          .attributes = {{"decay_factor", 0.f}, {"epsilon", 1e-6f}, {"norm_coefficient", 0.f}},
          .infer = infer_optimiser<1>,
          .meaning = optimiser_meaning<1, adagrad_step>};
}

}  // namespace cameo::ops
