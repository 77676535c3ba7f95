// GridSample: ai.onnx's of images, under the names of its first version.
#include "frontend/ops/defined.h"

namespace cameo::ops {
namespace {

Composite define_grid_sample(const NodeView& n) {
  Build b(n);
  Attrs attrs = n.node().attrs;
  const std::string mode = n.attr_string("mode");
  attrs.insert_or_assign("mode", mode == "bilinear" ? "linear" : mode == "bicubic" ? "cubic" : mode);
  check_rank(n, 0, {4}, "an image");
  return b.outputs({b.op("GridSample", {b.in(0), b.in(1)}, std::move(attrs))});
}

}  // namespace

Operator declare_microsoft_grid_sample() {
  return {.name = "GridSample",
          .domain = "com.microsoft",
          .since = {1},
          .inputs = {{"X", kNumbers | kBool}, {"Grid", kFloats}},
          .attributes = {{"align_corners", 0}, {"mode", "bilinear"}, {"padding_mode", "zeros"}},
          .infer = infer_defined<define_grid_sample>,
          .meaning = defined<define_grid_sample>};
}

}  // namespace cameo::ops
