// DepthToSpace and SpaceToDepth are inverse: a depth channel is a channel of the picture and a place in a block, in an
// order that the mode tells.
#pragma once
#include "frontend/ops/operands.h"

namespace cameo::ops::blocks {

inline int64_t block_size(const NodeView& n) {
  int64_t size = count_attr(n, "blocksize");
  if (n.rank() != 4) n.fail(Code::E0302, "the input is " + to_string(n.type(0)) + ", not N x C x H x W");
  return size;
}

/// The channel on the depth side; `channels` are those of the picture.
inline Expr depth_channel(const NodeView& n, Expr channel, Expr row, Expr column, Expr channels) {
  std::string mode = n.attr_string("mode");
  Expr size = integer(n.attr_int("blocksize"));
  if (mode == "DCR") return (row * size + column) * channels + channel;
  if (mode == "CRD") return (channel * size + row) * size + column;
  n.fail(Code::E0204, "`mode` is `" + printable(mode) + "`, neither DCR nor CRD");
}

inline Dim divided(const NodeView& n, Dim d, int64_t by) {
  if (!n.divides(by, d))
    n.fail(Code::E0302, "an extent of " + to_string(d) + ", which " + std::to_string(by) + " does not divide");
  return d / Dim(by);
}

inline Operator declare(std::string_view name, std::vector<int> since, int mode_since, void (*infer)(Infer&),
                        Meaning (*meaning)(const MeaningView&)) {
  return {.name = name,
          .since = std::move(since),
          .inputs = {{"input"}},
          .attributes = {{"blocksize", AttrKind::Int}, {"mode", "DCR", mode_since}},
          .infer = infer,
          .meaning = meaning};
}

}  // namespace cameo::ops::blocks
