// Adagrad, Adam and Momentum: one step of any number of tensors, each of which has as many inputs as the first: the
// tensor, its gradient, its states. Inputs are the learning rate R, the number of steps T, then all tensors, all
// gradients, all of each state; outputs all new tensors, then all of each new state. Rates are computed in f64.
#pragma once
#include <fmt/format.h>

#include "frontend/ir/build.h"
#include "frontend/ops/operands.h"

namespace cameo::ops {

constexpr int kRate = 0, kSteps = 1, kFirstOfTensors = 2;

/// How many tensors a node has, whose operator keeps so many states of each.
inline int tensors_of(const NodeView& n, int states) {
  const int each = 2 + states, all = n.input_count() - kFirstOfTensors;
  if (all % each)
    n.fail(Code::E0203, fmt::format("`{}` has {} tensors, of which one needs {}", n.node().op->name, all, each));
  return all / each;
}

template <int States>
void infer_optimiser(Infer& n) {
  check_scalar(n, kRate);
  check_scalar(n, kSteps);
  const int count = tensors_of(n, States);
  for (int t = 0; t < count; ++t)
    for (int part = 0; part < 2 + States; ++part) {
      const int input = kFirstOfTensors + part * count + t;
      if (!n.has(input)) n.fail(Code::E0203, fmt::format("input {} is missing", input));
      if (n.dtype(input) != n.dtype(kFirstOfTensors + t) || !is_float(n.dtype(input)))
        n.fail(Code::E0301, fmt::format("input {} is {}", input, to_string(n.type(input))));
      const Shape &own = n.shape(input), &tensor = n.shape(kFirstOfTensors + t);
      bool fits = own.size() == tensor.size();
      for (size_t d = 0; fits && d < own.size(); ++d) fits = n.agree(own[d], tensor[d]);
      if (!fits)
        n.fail(Code::E0302, fmt::format("input {} is {}, its tensor is {}", input, to_string(n.type(input)),
                                        to_string(n.type(kFirstOfTensors + t))));
    }
  for (int o = 0; o < count * (1 + States); ++o) n.output(o, n.type(kFirstOfTensors + (o < count ? o : o + count)));
}

/// What a step computes of one tensor: the new tensor and its new states.
class OptimiserStep {
 public:
  OptimiserStep(const MeaningView& n, Build& b, int tensor, int count, int states) : b(b), n_(n) {
    for (int part = 0; part < 2 + states; ++part) parts_.push_back(b.in(kFirstOfTensors + part * count + tensor));
  }
  ValueId tensor() const { return parts_[0]; }
  ValueId state(int i) const { return parts_[2 + i]; }
  ValueId number(double v) const { return b.like(tensor(), v); }
  ValueId attr(std::string_view name) const { return number(n_.attr_float(name)); }
  /// A scalar of f64 that the tensor is computed with.
  ValueId own(ValueId scalar) const { return b.cast(scalar, b.type(tensor()).dtype); }
  ValueId rate() const { return b.cast(b.reshape(b.in(kRate), {}), DType::f64); }
  ValueId steps() const { return b.cast(b.reshape(b.in(kSteps), {}), DType::f64); }
  /// The gradient, that of the regularization with it.
  ValueId gradient() const { return b.add(b.mul(attr("norm_coefficient"), tensor()), parts_[1]); }

  Build& b;

 private:
  const MeaningView& n_;
  std::vector<ValueId> parts_;
};

/// `step` gives the new tensor, then the new states.
template <int States, std::vector<ValueId> (*Step)(const MeaningView&, OptimiserStep)>
Meaning optimiser_meaning(const MeaningView& n) {
  Build b(n);
  const int count = tensors_of(n, States);
  std::vector<ValueId> outputs(static_cast<size_t>(count) * (1 + States));
  for (int t = 0; t < count; ++t) {
    const std::vector<ValueId> made = Step(n, OptimiserStep(n, b, t, count, States));
    for (int part = 0; part <= States; ++part) outputs[part * count + t] = made[part];
  }
  return b.outputs(outputs);
}

inline std::vector<InputSpec> optimiser_inputs() {
  constexpr DTypes kReal{DType::f32, DType::f64};
  return {{"R", kReal}, {"T", kInt64}, {"inputs", kReal, InputSpec::Variadic}};
}

}  // namespace cameo::ops
