// QuantizeLinear of com.microsoft: ai.onnx's, of more types; one scale for all unless `axis` is there.
#include "frontend/ops/microsoft/quantized.h"

namespace cameo::ops {
namespace {
Composite define_quantize_linear(const NodeView& n) {
  check_scale(n, 1);
  Build b(n);
  return b.outputs({b.op("QuantizeLinear", {b.in(0), b.in(1), b.in(2)}, {{"axis", n.attr_int("axis")}})});
}
}  // namespace

Operator declare_microsoft_quantize_linear() {
  return {.name = "QuantizeLinear",
          .domain = "com.microsoft",
          .since = {1},
          .inputs = {{"x", DTypes(DType::f32, DType::f16)},
                     {"y_scale", DTypes(DType::f32, DType::f16), InputSpec::Required, 0},
                     {"y_zero_point", kQuantized | DTypes(DType::i16, DType::u16, DType::i4, DType::u4),
                      InputSpec::Optional}},
          .outputs = {{"y"}},
          .attributes = {{"axis", 1}},
          .infer = infer_defined<define_quantize_linear>,
          .meaning = defined<define_quantize_linear>};
}

}  // namespace cameo::ops
