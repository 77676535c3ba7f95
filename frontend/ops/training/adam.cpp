// Adam: a rate for each element, by running averages of its gradient and of the gradient's square, which are corrected
// for their beginning at zero.
#include "frontend/ops/training/optimiser.h"

namespace cameo::ops {
namespace {

/// The rate, corrected from the first step on.
ValueId corrected_rate(const MeaningView& n, const OptimiserStep& s) {
  Build& b = s.b;
  const auto missing = [&](std::string_view factor) {  // of an average: 1 - factor^steps
    const ValueId power = b.op("Pow", {b.scalar(DType::f64, n.attr_float(factor)), s.steps()});
    return b.sub(b.scalar(DType::f64, 1), power);
  };
  const ValueId corrected = b.div(b.mul(s.rate(), b.op("Sqrt", {missing("beta")})), missing("alpha"));
  return b.op("Where", {b.op("Less", {b.scalar(DType::f64, 0), s.steps()}), corrected, s.rate()});
}

std::vector<ValueId> adam_step(const MeaningView& n, OptimiserStep s) {
  Build& b = s.b;
  const ValueId gradient = s.gradient();
  const auto average = [&](int state, std::string_view factor, ValueId now) {
    return b.add(b.mul(s.attr(factor), s.state(state)), b.mul(s.number(1 - n.attr_float(factor)), now));
  };
  const ValueId mean = average(0, "alpha", gradient), square = average(1, "beta", b.mul(gradient, gradient));
  const ValueId divisor = b.add(b.op("Sqrt", {square}), s.attr("epsilon"));
  const ValueId moved = b.sub(s.tensor(), b.mul(s.own(corrected_rate(n, s)), b.div(mean, divisor)));
  return {b.mul(s.number(1 - n.attr_float("norm_coefficient_post")), moved), mean, square};
}

}  // namespace

Operator declare_training_adam() {
  return {.name = "Adam",
          .domain = "ai.onnx.preview.training",
          .since = {1},
          .inputs = optimiser_inputs(),
          .outputs = {{"outputs", OutputSpec::Variadic}},
          .attributes = {{"alpha", 0.9f},
                         {"beta", 0.999f},
                         {"epsilon", 1e-6f},
                         {"norm_coefficient", 0.f},
                         {"norm_coefficient_post", 0.f}},
          .infer = infer_optimiser<2>,
          .meaning = optimiser_meaning<2, adam_step>};
}

}  // namespace cameo::ops
