// BatchNormalization: (X - mean) / sqrt(var + epsilon) * scale + B, a channel's four numbers at a time. In inference
// mean and variance are inputs; in training mode they are the batch's, and running averages come out too.
#include "frontend/ops/normalize.h"

namespace cameo::ops {
namespace {

constexpr int kNow = 14;  // the version from which on an attribute says whether it trains

/// Before, statistics are asked for as outputs where it does.
bool training(const NodeView& n, size_t outputs) {
  return n.version() >= kNow ? n.attr_int("training_mode") != 0 : outputs > 1 && !n.attr_int("is_test");
}
/// Statistics of each element of a batch, as versions before 9 may have them, instead of each channel.
bool of_elements(const NodeView& n) { return !n.attr_int("spatial"); }

/// What the four numbers stand along: channels, or all axes but the batch.
Shape places(const NodeView& n, int input) {
  if (of_elements(n) && n.rank(input) != 1) return {n.shape().begin() + 1, n.shape().end()};
  return {n.rank() > 1 ? n.shape()[1] : Dim(1)};
}

void infer_batch_normalization(Infer& n) {
  if (n.rank() < 1) n.fail(Code::E0302, "X is a scalar");
  if (!training(n, n.types.size()) && n.types.size() > 1)
    n.fail(Code::E0402, "`BatchNormalization` with the statistics of training as outputs",
           "export the model for inference");
  if (n.version() >= kNow && n.types.size() > 3)
    n.fail(Code::E0203,
           fmt::format("`BatchNormalization` has {} outputs, from opset 14 on it gives at most 3", n.types.size()));
  for (int i = 1; i < 5; ++i) {
    const Shape wanted = places(n, i);
    bool fits = n.rank(i) == static_cast<int>(wanted.size());
    for (size_t d = 0; fits && d < wanted.size(); ++d) fits = n.agree(n.shape(i)[d], wanted[d]);
    if (!fits)
      n.fail(Code::E0302, fmt::format("X is {}, but `{}` is {}", to_string(n.type(0)), n.node().op->inputs[i].name,
                                      to_string(n.type(i))));
  }
  n.output(0, n.type(0));
  for (int i = 1; i < 5; ++i) n.output(i, n.type(i % 2 ? 3 : 4));
}

DType compute_type(const NodeView& n) {
  for (int i = 0; i < 5; ++i)
    if (n.dtype(i) == DType::f64) return DType::f64;
  return accumulator(n.dtype()) == n.dtype() ? n.dtype() : DType::f32;
}

Meaning by_statistics(const MeaningView& n) {
  Build b(n);
  DType t = compute_type(n);
  std::vector<int64_t> axes = of_elements(n) ? std::vector<int64_t>() : axes_from(2, n.rank());
  axes.insert(axes.begin(), 0);
  Standardized s = standardize(b, b.cast(b.in(0), t), axes, n.attr_float("epsilon"));
  auto of_channel = [&](int input) {
    const ValueId v = b.cast(b.in(input), t);
    return n.rank(input) == 1 ? per_channel(b, v, n.rank()) : v;
  };
  ValueId y = b.add(b.mul(s.y, of_channel(1)), of_channel(2));
  double momentum = n.attr_float("momentum");
  auto own = [&](ValueId now) { return b.op("Squeeze", {now, b.ints(axes)}); };
  auto running = [&](int input, ValueId now) {
    ValueId old = b.cast(b.in(input), t);
    return b.cast(b.add(b.mul(old, b.like(old, momentum)), b.mul(own(now), b.like(now, 1 - momentum))), n.dtype(input));
  };
  std::vector<ValueId> outputs{b.cast(y, n.dtype()), running(3, s.mean), running(4, s.variance)};
  if (n.version() < kNow)
    outputs.insert(outputs.end(), {b.cast(own(s.mean), n.dtype(3)), b.cast(own(s.variance), n.dtype(4))});
  return b.outputs(outputs);
}

Meaning by_inputs(const MeaningView& n) {
  auto out = n.index();
  DType t = compute_type(n);
  const std::vector<Expr> channel{n.rank() > 1 ? out[1] : integer(0)}, element(out.begin() + 1, out.end());
  auto of_channel = [&](int input) {
    return cast(n.load(input, of_elements(n) && n.rank(input) != 1 ? element : channel), t);
  };
  Expr x = cast(n.load(0, out), t);
  Expr y = (x - of_channel(3)) / sqrt(of_channel(4) + n.attr_float("epsilon")) * of_channel(1) + of_channel(2);
  return Compute{{{out, cast(y, n.dtype())}}};
}

Meaning batch_normalization(const MeaningView& n) {
  return training(n, n.node().outputs.size()) ? by_statistics(n) : by_inputs(n);
}

}  // namespace

Operator declare_batch_normalization() {
  return {
      .name = "BatchNormalization",
      .since = {1, 6, 7, 9, 14, 15},
      .inputs = {{"X", kFloats}, {"scale", kFloats}, {"B", kFloats}, {"input_mean", kFloats}, {"input_var", kFloats}},
      .outputs = {{"Y"},
                  {"running_mean", OutputSpec::Optional},
                  {"running_var", OutputSpec::Optional},
                  {"saved_mean", OutputSpec::Optional},
                  {"saved_var", OutputSpec::Optional}},
      .attributes = {{"epsilon", 1e-5f}, {"is_test", 0}, {"momentum", 0.9f}, {"spatial", 1}, {"training_mode", 0, 14}},
      .infer = infer_batch_normalization,
      .meaning = batch_normalization};
}

}  // namespace cameo::ops
