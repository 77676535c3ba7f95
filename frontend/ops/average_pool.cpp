// AveragePool: the sum over the taps by the number of those that count, inside of X or, with count_include_pad, of its
// padding.
#include "frontend/ops/window.h"

namespace cameo::ops {
namespace {

void infer_average_pool(Infer& n) { n.output(0, n.dtype(0), pooled_shape(n, pool_window(n))); }

/// How many taps of output `o` read from [low, high); the kernel's extent where no window overhangs.
Expr taps_within(const WindowAxis& w, Expr o, Expr low, Expr high) {
  Expr start = w.at(o, integer(0));
  Interval first = range_of(start - low), last = range_of(high - start);
  if (first.low >= 0 && last.low >= w.reach()) return integer(w.kernel);
  Expr from = max(ceil_div(low - start, w.dilation), integer(0));
  Expr to = min(ceil_div(high - start, w.dilation), integer(w.kernel));
  return max(to - from, integer(0));
}

Meaning average_pool(const MeaningView& n) {
  Window window_axes = pool_window(n);
  auto out = n.index(), taps = taps_of(window_axes);
  DType t = accumulator(n.dtype(0));
  bool padding = n.attr_int("count_include_pad");
  Expr count = integer(1);
  for (size_t a = 0; a < window_axes.size(); ++a) {
    const WindowAxis& w = window_axes[a];
    count = count * taps_within(w, out[2 + a], padding ? -w.begin : integer(0),
                                padding ? w.in.extent() + w.end : w.in.extent());
  }
  Expr sum = fold_all(FoldKind::Sum, taps, cast(n.load(0, window_index(window_axes, out, taps)), t));
  return Compute{{{out, cast(sum / cast(count, t), n.out_dtype())}}};
}

}  // namespace

Operator declare_average_pool() {
  return {.name = "AveragePool",
          .since = {1, 7, 10, 11, 19, 22},
          .inputs = {{"X", kFloats}},
          .attributes = {{"auto_pad", "NOTSET"},
                         {"ceil_mode", 0, 10},
                         {"count_include_pad", 0, 7},
                         {"dilations", AttrKind::Ints, 19},
                         {"kernel_shape", AttrKind::Ints},
                         {"pads", AttrKind::Ints},
                         {"strides", AttrKind::Ints}},
          .infer = infer_average_pool,
          .meaning = average_pool};
}

}  // namespace cameo::ops
