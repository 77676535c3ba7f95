// AffineGrid: theta times (x, y, [z,] 1) for positions spread evenly over [-1, 1] along each axis. With align_corners
// the only position of an axis is -1.
#include <fmt/format.h>

#include "frontend/ops/operands.h"

namespace cameo::ops {
namespace {

void infer_affine_grid(Infer& n) {
  auto size = elements(n, 1);
  int r = static_cast<int>(size.size()) - 2;
  bool fits = (r == 2 || r == 3) && n.rank(0) == 3;
  for (int a = 1; fits && a < 3; ++a) fits = n.agree(n.shape()[a], r + a - 1);
  if (!fits)
    n.fail(Code::E0302, fmt::format("`theta` is {} for a `size` of {} entries", to_string(n.type(0)), size.size()));
  Shape s{same_dim(n, dim_of(size[0]), n.shape()[0], "batches of `size` and `theta`")};
  for (int a = 2; a < r + 2; ++a) s.push_back(dim_of(size[a]));
  s.push_back(r);
  n.output(0, n.dtype(), s);
}

Meaning affine_grid(const MeaningView& n) {
  auto out = n.index();
  int r = static_cast<int>(out.size()) - 2;
  DType t = accumulator(n.dtype());
  bool corners = n.attr_int("align_corners");
  auto theta = [&](int column) { return cast(n.load(0, {out[0], out.back(), integer(column)}), t); };
  Expr y = theta(r);
  for (int axis = r; axis >= 1; --axis) {  // x belongs to the last axis
    Expr extent = cast(n.out_shape()[axis].extent(), t), o = cast(out[axis], t);
    Expr at = corners ? o * 2. / max(extent - 1., one(t)) - 1. : (o * 2. + 1.) / extent - 1.;
    y = y + theta(r - axis) * at;
  }
  return Compute{{{out, cast(y, n.dtype())}}};
}

}  // namespace

Operator declare_affine_grid() {
  return {.name = "AffineGrid",
          .since = {20},
          .inputs = {{"theta", kFloats}, {"size", kInt64}},
          .outputs = {{"grid"}},
          .attributes = {{"align_corners", 0}},
          .infer = infer_affine_grid,
          .meaning = affine_grid};
}

}  // namespace cameo::ops
