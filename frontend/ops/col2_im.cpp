// Col2Im as a gather: a pixel sums the taps of those blocks that cover it, where the block's position divides by the
// stride.
#include "frontend/ops/flat.h"
#include "frontend/ops/window.h"

namespace cameo::ops {
namespace {

Window blocks(const NodeView& n) {
  auto image = elements(n, 1);
  auto block = n.ints(2);
  size_t axes = image.size();
  if (n.rank() != 3 || block.size() != axes)
    n.fail(Code::E0302, fmt::format("`input` is {}, `image_shape` has {} entries and `block_shape` {}",
                                    to_string(n.type(0)), axes, block.size()));
  auto strides = per_axis(n, "strides", axes, 1, 1), dilations = per_axis(n, "dilations", axes, 1, 1);
  auto pads = per_axis(n, "pads", 2 * axes, 0, 0);
  check_kernel(n, block);
  Window w;
  for (size_t a = 0; a < axes; ++a) {
    WindowAxis x{block[a], strides[a], dilations[a], integer(pads[a]), integer(pads[axes + a]), dim_of(image[a]), {}};
    x.out = window_count(x, false);
    w.push_back(x);
  }
  return w;
}

Dim taps_in(const Window& w) {
  Dim count = 1;
  for (const WindowAxis& a : w) count = count * Dim(a.kernel);
  return count;
}

void infer_col2_im(Infer& n) {
  Window w = blocks(n);
  Shape s{n.shape()[0], n.shape()[1] / taps_in(w)};
  Dim count = 1;
  for (const WindowAxis& a : w) {
    s.push_back(a.in);
    count = count * a.out;
  }
  same_dim(n, n.shape()[2], count, "the blocks of `input` and those of the image");
  n.output(0, n.dtype(), s);
}

Meaning col2_im(const MeaningView& n) {
  Window w = blocks(n);
  DType t = accumulator(n.dtype());
  auto out = n.index(), taps = taps_of(w);
  Expr row = out[1], column = integer(0), covers = boolean(true);
  for (size_t a = 0; a < w.size(); ++a) {
    Expr at = out[2 + a] + w[a].begin - taps[a] * integer(w[a].dilation), stride = integer(w[a].stride);
    Expr position = floor_div(at, stride);
    covers = logical_and(covers, logical_and(eq(mod(at, stride), integer(0)), inside(position, w[a].out)));
    row = row * integer(w[a].kernel) + taps[a];
    column = column * w[a].out.extent() + position;
  }
  Expr x = cast(n.load(0, {out[0], row, select(covers, column, integer(-1))}), t);
  return Compute{{{out, cast(fold_all(FoldKind::Sum, taps, x), n.dtype())}}};
}

}  // namespace

Operator declare_col2_im() {
  return {.name = "Col2Im",
          .since = {18},
          .inputs = {{"input", kNumbers}, {"image_shape", kInt64}, {"block_shape", kInt64}},
          .outputs = {{"output"}},
          .attributes = {{"dilations", AttrKind::Ints}, {"pads", AttrKind::Ints}, {"strides", AttrKind::Ints}},
          .infer = infer_col2_im,
          .meaning = col2_im};
}

}  // namespace cameo::ops
