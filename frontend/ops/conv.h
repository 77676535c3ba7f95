// What the convolutions share: checking X, W and B against each other, and the sum over a group's channels and the
// taps.
#pragma once
#include "frontend/ops/window.h"

namespace cameo::ops {

inline std::vector<AttrSpec> convolution_attributes(std::vector<AttrSpec> own = {}) {
  std::vector<AttrSpec> a{{"auto_pad", "NOTSET"},           {"dilations", AttrKind::Ints}, {"group", 1},
                          {"kernel_shape", AttrKind::Ints}, {"pads", AttrKind::Ints},      {"strides", AttrKind::Ints}};
  a.insert(a.end(), own.begin(), own.end());
  return a;
}

struct Convolution {
  Window window;
  int64_t group = 1;
  Dim maps;      // output channels
  Dim channels;  // input channels of one group
};

/// `weights` is the number of the input W, [maps, channels / group, taps..].
inline Convolution convolution(const NodeView& n, int weights) {
  const Shape& w = n.shape(weights);
  const Shape& x = n.shape(0);
  if (x.size() < 2 || w.size() != x.size())
    n.fail(Code::E0302, fmt::format("X is {} and W is {}: they must have one rank", to_string(n.type(0)),
                                    to_string(n.type(weights))));
  std::vector<int64_t> kernel;
  for (size_t a = 2; a < w.size(); ++a) {
    if (!w[a].is_static())
      n.fail(Code::E0404, fmt::format("W is {}: its taps must be known when compiling", to_string(n.type(weights))));
    kernel.push_back(w[a].value());
  }
  if (n.has_attr("kernel_shape") && n.attr_ints("kernel_shape") != kernel)
    n.fail(Code::E0302, fmt::format("`kernel_shape` is not that of W, {}", to_string(n.type(weights))));
  Convolution c{window_of(n, kernel), count_attr(n, "group"), w[0], w[1]};
  Dim expected = c.channels * Dim(c.group);
  if (!n.agree(x[1], expected))
    n.fail(Code::E0302, fmt::format("X is {} and W is {} with `group` {}: W asks for {} channels", to_string(n.type(0)),
                                    to_string(n.type(weights)), c.group, to_string(expected)));
  if (!n.divides(c.group, c.maps))
    n.fail(Code::E0302, fmt::format("{} output channels do not divide into {} groups", to_string(c.maps), c.group));
  return c;
}

inline Shape convolved_shape(const NodeView& n, const Convolution& c, int bias = -1) {
  if (bias >= 0) check_shape(n, bias, {c.maps}, "one an output channel");
  Shape s = pooled_shape(n, c.window);
  s[1] = c.maps;
  return s;
}

/// The sum over the channels of the group and the taps of x(index of X) * w(index of W), both of the type to sum in.
template <class X, class W>
Expr convolve(const Convolution& c, std::span<const Expr> out, X x, W w) {
  Expr channel = var(c.channels.extent());
  Expr of_group = floor_div(out[1], (c.maps / Dim(c.group)).extent());
  std::vector<Expr> taps = taps_of(c.window);
  std::vector<Expr> from = window_index(c.window, out, taps);
  from[1] = c.group == 1 ? channel : of_group * c.channels.extent() + channel;
  std::vector<Expr> at{out[1], channel};
  at.insert(at.end(), taps.begin(), taps.end());
  return fold(FoldKind::Sum, channel, fold_all(FoldKind::Sum, taps, x(from) * w(at)));
}

}  // namespace cameo::ops
