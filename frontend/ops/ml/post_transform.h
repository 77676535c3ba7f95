// What ai.onnx.ml does to scores, the last axis of a value, in the end: `post_transform`.
#pragma once
#include <fmt/format.h>

#include <numbers>

#include "frontend/ir/build.h"
#include "frontend/ops/operands.h"

namespace cameo::ops {

inline std::string post_transform(const NodeView& n) {
  const std::string name = n.attr_string("post_transform");
  if (name != "NONE" && name != "LOGISTIC" && name != "SOFTMAX" && name != "SOFTMAX_ZERO" && name != "PROBIT")
    n.fail(Code::E0204, fmt::format("`post_transform` is `{}`", printable(name)),
           "NONE, LOGISTIC, SOFTMAX, SOFTMAX_ZERO or PROBIT");
  return name;
}

/// SOFTMAX in which scores of zero stay next to zero; halves where all are.
inline ValueId softmax_zero(Build& b, ValueId x) {
  const ValueId most = b.reduce("ReduceMax", x, {-1}), none = b.like(x, 0), size = b.op("Abs", {x});
  const ValueId counts = b.op("Less", {b.like(x, 1e-7f), size});
  const ValueId e =
      b.op("Where", {counts, b.op("Exp", {b.sub(x, most)}), b.mul(x, b.op("Exp", {b.op("Neg", {most})}))});
  const ValueId sum = b.reduce("ReduceSum", e, {-1});
  return b.op("Where", {b.op("Equal", {sum, none}), b.like(x, 0.5), b.div(e, sum)});
}

/// sqrt(2) times the inverse of erf at 2 x - 1, by the formula that all implementations have.
inline ValueId probit(Build& b, ValueId x) {
  const auto number = [&](double v) { return b.like(x, v); };
  const ValueId y = b.sub(b.mul(x, number(2)), number(1));
  const ValueId product = b.mul(b.sub(number(1), y), b.add(number(1), y)), log = b.op("Log", {product});
  const ValueId half = b.add(b.mul(log, number(0.5)), number(2 / (std::numbers::pi * 0.147)));
  const ValueId inner = b.sub(b.op("Sqrt", {b.sub(b.mul(half, half), b.mul(log, number(1 / 0.147)))}), half);
  return b.mul(b.mul(b.op("Sign", {y}), b.op("Sqrt", {inner})), number(1.41421356));
}

inline ValueId transformed(Build& b, ValueId scores, std::string_view name) {
  if (name == "LOGISTIC") return b.op("Sigmoid", {scores});
  if (name == "SOFTMAX") return b.op("Softmax", {scores}, {{"axis", int64_t{-1}}});
  if (name == "SOFTMAX_ZERO") return softmax_zero(b, scores);
  return name == "PROBIT" ? probit(b, scores) : scores;
}

}  // namespace cameo::ops
