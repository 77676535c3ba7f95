// Col2Im as a gather: a pixel sums the taps of those blocks that cover it, where the block's position divides by the
// stride.
#include "frontend/ops/window.h"

namespace cameo::ops {
namespace {

struct BlockAxis {
  Dim taps, image, positions;
  int64_t stride, dilation, begin;
};
using Blocks = std::vector<BlockAxis>;

/// The taps of a block along an axis; all of them divide the channels.
Dim taps_along(const NodeView& n, Expr taps) {
  if (taps.is_const()) {
    check_kernel(n, std::vector{taps.int_value()});
    return Dim(taps);
  }
  const Expr most = max(n.shape()[1].extent(), integer(1));
  n.require(logical_and(le(integer(1), taps), le(taps, most)));
  return dim_of(max(min(taps, most), integer(1)));
}

Blocks blocks(const NodeView& n) {
  const std::vector<Expr> image = elements(n, 1), block = elements(n, 2);
  size_t axes = image.size();
  if (n.rank() != 3 || block.size() != axes)
    n.fail(Code::E0302, fmt::format("`input` is {}, `image_shape` has {} entries and `block_shape` {}",
                                    to_string(n.type(0)), axes, block.size()));
  auto strides = per_axis(n, "strides", axes, 1, 1), dilations = per_axis(n, "dilations", axes, 1, 1);
  auto pads = per_axis(n, "pads", 2 * axes, 0, 0);
  Blocks all;
  for (size_t a = 0; a < axes; ++a) {
    BlockAxis x{
        taps_along(n, block[a]), given_dim(n, image[a], axes, "image_shape"), {}, strides[a], dilations[a], pads[a]};
    const Dim reach = (x.taps - 1) * Dim(x.dilation) + 1;
    const Expr room = (x.image + Dim(x.begin + pads[axes + a]) - reach).extent();
    x.positions = dim_of(max(floor_div(room, integer(x.stride)) + integer(1), integer(0)));
    all.push_back(x);
  }
  return all;
}

Dim taps_in(const Blocks& all) {
  Dim count = 1;
  for (const BlockAxis& a : all) count = count * a.taps;
  return count;
}

void infer_col2_im(Infer& n) {
  const Blocks all = blocks(n);
  const Dim taps = taps_in(all);
  if (!n.may_hold(eq(mod(n.shape()[1].extent(), taps.extent()), integer(0))))
    n.fail(Code::E0302, fmt::format("`input` is {} for blocks of {} elements", to_string(n.type(0)), to_string(taps)));
  Shape s{n.shape()[0], n.shape()[1] / taps};
  Dim count = 1;
  for (const BlockAxis& a : all) {
    s.push_back(a.image);
    count = count * a.positions;
  }
  same_dim(n, n.shape()[2], count, "the blocks of `input` and those of the image");
  n.output(0, n.dtype(), s);
}

Meaning col2_im(const MeaningView& n) {
  const Blocks all = blocks(n);
  DType t = accumulator(n.dtype());
  const std::vector<Expr> out = n.index();
  std::vector<Expr> taps;
  for (const BlockAxis& a : all) taps.push_back(var(a.taps.extent()));
  Expr row = out[1], column = integer(0), covers = boolean(true);
  for (size_t a = 0; a < all.size(); ++a) {
    const BlockAxis& x = all[a];
    Expr at = out[2 + a] + integer(x.begin) - taps[a] * integer(x.dilation), stride = integer(x.stride);
    Expr position = floor_div(at, stride);
    covers = logical_and(covers, logical_and(eq(mod(at, stride), integer(0)), inside(position, x.positions)));
    row = row * x.taps.extent() + taps[a];
    column = column * x.positions.extent() + position;
  }
  Expr x = cast(n.load(0, {out[0], row, select(covers, column, integer(-1))}), t);
  return Compute{{{out, cast(fold_all(FoldKind::Sum, taps, x), n.dtype())}}};
}

}  // namespace

Operator declare_col2_im() {
  return {.name = "Col2Im",
          .since = {18},
          .inputs = {{"input", kNumbers | kComplex}, {"image_shape", kInt64}, {"block_shape", kInt64}},
          .outputs = {{"output"}},
          .attributes = {{"dilations", AttrKind::Ints}, {"pads", AttrKind::Ints}, {"strides", AttrKind::Ints}},
          .infer = infer_col2_im,
          .meaning = col2_im};
}

}  // namespace cameo::ops
