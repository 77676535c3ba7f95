// SpaceToDepth: blocks of pixels become channels.
#include "frontend/ops/blocks.h"

namespace cameo::ops {
namespace {

void infer_space_to_depth(Infer& n) {
  int64_t size = blocks::block_size(n);
  const Shape& x = n.shape();
  n.output(0, n.dtype(),
           {x[0], x[1] * Dim(size * size), blocks::divided(n, x[2], size), blocks::divided(n, x[3], size)});
}

Meaning space_to_depth_meaning(const MeaningView& n) {
  OutputExpr out{n.index(), {}};
  const std::vector<Expr>& i = out.index;
  bool channel_first = n.attr_string("mode") == "CRD";
  Expr size = integer(n.attr_int("blocksize")), channels = n.shape()[1].extent(), area = size * size;
  Expr channel = channel_first ? floor_div(i[1], area) : mod(i[1], channels);
  Expr place = channel_first ? mod(i[1], area) : floor_div(i[1], channels);
  out.value = n.load(0, {i[0], channel, i[2] * size + floor_div(place, size), i[3] * size + mod(place, size)});
  return Compute{{out}};
}

}  // namespace

Operator declare_space_to_depth() {
  return blocks::declare("SpaceToDepth", {1, 13, 28}, 28, infer_space_to_depth, space_to_depth_meaning);
}

}  // namespace cameo::ops
