// The convolution of 8-bit tensors in i32, their zero points taken off; padding counts as the zero point of x.
#pragma once
#include "frontend/ops/conv.h"
#include "frontend/ops/quantize.h"

namespace cameo::ops {

/// A parameter of the weights: one for all, or one an output channel.
inline std::vector<Expr> channel_parameter(const NodeView& n, int input, Expr channel) {
  if (n.rank(input) == 0) return {};
  return {n.shape(input)[0].is_static(1) ? integer(0) : channel};
}

/// Scales and zero points: one for all, those of the weights may be one an output channel.
inline void check_parameters(const NodeView& n, const Convolution& c, std::initializer_list<int> of_weights,
                             std::initializer_list<int> of_tensors) {
  for (int input : of_weights) check_parameter(n, input, c.maps, "one for all, or one an output channel");
  for (int input : of_tensors) check_parameter(n, input, Dim(1), "one for the whole tensor");
}

inline Expr integer_convolution(const MeaningView& n, int w, int x_zero, int w_zero, std::span<const Expr> out) {
  Convolution c = convolution(n, w);
  Expr zero_x = zero_point(n, x_zero, DType::i32,
                           n.has(x_zero) ? std::vector<Expr>(n.rank(x_zero), integer(0)) : std::vector<Expr>{});
  Expr zero_w =
      zero_point(n, w_zero, DType::i32, n.has(w_zero) ? channel_parameter(n, w_zero, out[1]) : std::vector<Expr>{});
  return convolve(
      c, out, [&](auto& at) { return cast(n.load(0, at, cast(zero_x, n.dtype(0))), DType::i32) - zero_x; },
      [&](auto& at) { return cast(n.load(w, at), DType::i32) - zero_w; });
}

}  // namespace cameo::ops
