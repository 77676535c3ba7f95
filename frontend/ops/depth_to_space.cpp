// DepthToSpace: channels become blocks of pixels.
#include "frontend/ops/blocks.h"

namespace cameo::ops {
namespace {

void infer_depth_to_space(Infer& n) {
  int64_t size = blocks::block_size(n);
  const Shape& x = n.shape();
  n.output(0, n.dtype(), {x[0], blocks::divided(n, x[1], size * size), x[2] * Dim(size), x[3] * Dim(size)});
}

Meaning depth_to_space_meaning(const MeaningView& n) {
  OutputExpr out{n.index(), {}};
  const std::vector<Expr>& i = out.index;
  Expr size = integer(n.attr_int("blocksize"));
  Expr depth = blocks::depth_channel(n, i[1], mod(i[2], size), mod(i[3], size), n.out_shape()[1].extent());
  out.value = n.load(0, {i[0], depth, floor_div(i[2], size), floor_div(i[3], size)});
  return Compute{{out}};
}

}  // namespace

Operator declare_depth_to_space() {
  return blocks::declare("DepthToSpace", {1, 11, 13, 28}, 11, infer_depth_to_space, depth_to_space_meaning);
}

}  // namespace cameo::ops
