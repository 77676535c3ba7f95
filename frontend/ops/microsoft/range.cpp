// Range: ai.onnx's, its step 1 where there is none.
#include "frontend/ops/defined.h"

namespace cameo::ops {
namespace {

Composite define_range(const NodeView& n) {
  Build b(n);
  const auto number = [&](int i) { return b.reshape(b.in(i), {}); };
  return b.outputs({b.op("Range", {number(0), number(1), b.in(2) ? number(2) : b.like(b.in(0), 1)})});
}

}  // namespace

Operator declare_microsoft_range() {
  constexpr DTypes kTypes{DType::f32, DType::f64, DType::i16, DType::i32, DType::i64};
  return {.name = "Range",
          .domain = "com.microsoft",
          .since = {1},
          .inputs = {{"start", kTypes},
                     {"limit", kTypes, InputSpec::Required, 0},
                     {"delta", kTypes, InputSpec::Optional, 0}},
          .infer = infer_defined<define_range>,
          .meaning = defined<define_range>};
}

}  // namespace cameo::ops
