// NhwcMaxPool: MaxPool of an 8-bit image whose channels are its last axis.
#include "frontend/ops/microsoft/quantized.h"

namespace cameo::ops {
namespace {

Composite define_nhwc_max_pool(const NodeView& n) {
  Build b(n);
  const ValueId y = b.op("MaxPool", {channels_first(b, b.in(0))}, n.node().attrs);
  return b.outputs({channels_last(b, y)});
}

}  // namespace

Operator declare_microsoft_nhwc_max_pool() {
  return {.name = "NhwcMaxPool",
          .domain = "com.microsoft",
          .since = {1},
          .inputs = {{"x", kQuantized}},
          .outputs = {{"y"}},
          .attributes = {{"auto_pad", "NOTSET"},
                         {"ceil_mode", 0},
                         {"dilations", AttrKind::Ints},
                         {"kernel_shape", AttrKind::Ints},
                         {"pads", AttrKind::Ints},
                         {"strides", AttrKind::Ints}},
          .infer = infer_defined<define_nhwc_max_pool>,
          .meaning = defined<define_nhwc_max_pool>};
}

}  // namespace cameo::ops
