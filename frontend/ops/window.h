// Sliding windows: the geometry that convolution and pooling share (kernel, strides, dilations, pads, auto_pad,
// ceil_mode). Output o and tap k of an axis read the input at o * stride + k * dilation - begin; what lies outside is
// padding.
#pragma once
#include <fmt/format.h>

#include <algorithm>

#include "frontend/ops/operands.h"

namespace cameo::ops {

struct WindowAxis {
  int64_t kernel = 1, stride = 1, dilation = 1;
  Expr begin, end;  // padding on both sides
  Dim in, out;
  Expr at(Expr o, Expr k) const { return o * integer(stride) + k * integer(dilation) - begin; }
  int64_t reach() const { return (kernel - 1) * dilation + 1; }
};
using Window = std::vector<WindowAxis>;

/// A list attribute with one entry an axis; `fallback` for each when it is absent.
inline std::vector<int64_t> per_axis(const NodeView& n, std::string_view attr, size_t count, int64_t fallback,
                                     int64_t least) {
  if (!n.has_attr(attr)) return std::vector<int64_t>(count, fallback);
  std::vector<int64_t> v = n.attr_ints(attr);
  if (v.size() != count)
    n.fail(Code::E0204, fmt::format("`{}` has {} entries, the spatial axes need {}", attr, v.size(), count));
  for (int64_t x : v)
    if (x < least || x > kMaxStep)
      n.fail(Code::E0204, fmt::format("`{}` holds {}, not {} to {}", attr, x, least, kMaxStep));
  return v;
}

inline void check_kernel(const NodeView& n, std::span<const int64_t> kernel) {
  for (int64_t taps : kernel)
    if (taps < 1 || taps > kMaxStep)
      n.fail(Code::E0204, fmt::format("a kernel of {} taps along an axis, not 1 to {}", taps, kMaxStep));
}

/// `otherwise` says what negative ones can mean.
inline void check_pads(const NodeView& n, const char* otherwise) {
  if (!n.has_attr("pads")) return;
  for (int64_t pad : n.attr_ints("pads"))
    if (pad < 0) n.fail(Code::E0204, fmt::format("`pads` holds {}, not 0 to {}", pad, kMaxStep), otherwise);
}

/// An interpolation writes out what it reads: `taps` neighbours along each axis, those of one axis for each of the
/// next.
inline void check_neighbours(const NodeView& n, int64_t taps, size_t axes) {
  constexpr int64_t kMost = 256;
  int64_t neighbours = 1;
  for (size_t a = 0; a < axes && neighbours <= kMost; ++a) neighbours *= taps;
  if (neighbours > kMost)
    n.fail(Code::E0402, fmt::format("`{}` over {} axes with {} taps along each: more than {} neighbours an element",
                                    n.node().op->name, axes, taps, kMost));
}

inline Expr ceil_div(Expr a, int64_t b) { return floor_div(a + integer(b - 1), integer(b)); }

/// Where auto_pad is SAME: the padding that `out` windows need, the odd one at the end (upper) or at the beginning
/// (lower).
inline void pad_same(WindowAxis& w, bool upper) {
  Expr total = max((w.out.extent() - integer(1)) * integer(w.stride) + integer(w.reach()) - w.in.extent(), integer(0));
  Expr half = floor_div(total, integer(2));
  w.begin = upper ? half : total - half;
  w.end = total - w.begin;
}

/// The window count of explicit padding; with `ceil` also those that overhang, as long as they start before the right
/// padding.
inline Dim window_count(const WindowAxis& w, bool ceil) {
  Expr room = w.in.extent() + w.begin + w.end - integer(w.reach());
  Expr count = (ceil ? ceil_div(room, w.stride) : floor_div(room, integer(w.stride))) + integer(1);
  if (ceil) count = min(count, floor_div(w.in.extent() + w.begin - integer(1), integer(w.stride)) + integer(1));
  count = simplify_index(count);
  if (count.is_const() && count.int_value() < 0) count = integer(0);  // left alone where it has symbols: H stays H
  return Dim(count);
}

/// The window over the axes of input 0 from axis 2 on.
inline Window window_of(const NodeView& n, std::span<const int64_t> kernel, bool ceil = false) {
  size_t axes = static_cast<size_t>(n.rank(0)) - 2;
  if (n.rank(0) < 2 || kernel.size() != axes)
    n.fail(Code::E0302, fmt::format("a kernel of {} axes over an input of rank {}", kernel.size(), n.rank(0)),
           "the input is N x C x one axis a kernel axis");
  check_kernel(n, kernel);
  auto strides = per_axis(n, "strides", axes, 1, 1), dilations = per_axis(n, "dilations", axes, 1, 1);
  check_pads(n, "with --lenient negative pads of convolutions and of pools without indices take elements away");
  auto pads = per_axis(n, "pads", 2 * axes, 0, 0);
  std::string mode = n.attr_string("auto_pad");
  if (mode != "NOTSET" && mode != "VALID" && mode != "SAME_UPPER" && mode != "SAME_LOWER" && !mode.empty())
    n.fail(Code::E0204, fmt::format("`auto_pad` is `{}`", printable(mode)));
  Window window;
  for (size_t a = 0; a < axes; ++a) {
    WindowAxis w{kernel[a], strides[a], dilations[a], integer(0), integer(0), n.shape(0)[2 + a], {}};
    if (mode.starts_with("SAME")) {
      w.out = Dim(ceil_div(w.in.extent(), w.stride));
      pad_same(w, mode == "SAME_UPPER");
    } else {
      if (mode != "VALID") w.begin = integer(pads[a]), w.end = integer(pads[axes + a]);
      w.out = window_count(w, ceil && mode != "VALID");
    }
    if (!n.may_hold(logical_or(le(integer(1), w.out.extent()), eq(w.in.extent(), integer(0)))))
      n.fail(Code::E0302, fmt::format("a kernel that reaches over {} elements does not fit axis {} of {}", w.reach(),
                                      2 + a, to_string(n.type(0))));
    window.push_back(w);
  }
  return window;
}

/// The window of a pooling operator.
inline Window pool_window(const NodeView& n) {
  return window_of(n, n.attr_ints("kernel_shape"), n.attr_int("ceil_mode"));
}

/// Fresh variables over the taps, one an axis.
inline std::vector<Expr> taps_of(const Window& window) {
  std::vector<Expr> taps;
  for (const WindowAxis& w : window) taps.push_back(var(integer(w.kernel)));
  return taps;
}

/// The input index that `taps` read for the output index `out`: its first two entries, then the spatial ones.
inline std::vector<Expr> window_index(const Window& window, std::span<const Expr> out, std::span<const Expr> taps) {
  std::vector<Expr> at(out.begin(), out.begin() + 2);
  for (size_t a = 0; a < window.size(); ++a) at.push_back(window[a].at(out[2 + a], taps[a]));
  return at;
}

/// Folds over all of `vars`, the first one outermost.
inline Expr fold_all(FoldKind kind, std::span<const Expr> vars, Expr body) {
  for (size_t i = vars.size(); i-- > 0;) body = fold(kind, vars[i], body);
  return body;
}

inline Expr inside(Expr index, const Dim& extent) {
  return logical_and(le(integer(0), index), lt(index, extent.extent()));
}

inline Shape pooled_shape(const NodeView& n, const Window& window) {
  Shape s{n.shape(0)[0], n.shape(0)[1]};
  for (const WindowAxis& w : window) s.push_back(w.out);
  return s;
}

}  // namespace cameo::ops
