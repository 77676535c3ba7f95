// DequantizeLinear of com.microsoft: ai.onnx's, of more types; one scale for all unless `axis` is there.
#include "frontend/ops/microsoft/quantized.h"

namespace cameo::ops {
namespace {
Composite define_dequantize_linear(const NodeView& n) {
  Build b(n);
  return b.outputs({dequantized(b, 0, 1, 2, n.attr_int("axis"))});
}
}  // namespace

Operator declare_microsoft_dequantize_linear() {
  return {.name = "DequantizeLinear",
          .domain = "com.microsoft",
          .since = {1},
          .inputs = {{"x", kQuantized | DTypes(DType::i16, DType::u16, DType::i32, DType::i4, DType::u4)},
                     {"x_scale", DTypes(DType::f32, DType::f16)},
                     {"x_zero_point", kTensors, InputSpec::Optional, 0}},
          .outputs = {{"y"}},
          .attributes = {{"axis", 1}},
          .infer = infer_defined<define_dequantize_linear>,
          .meaning = defined<define_dequantize_linear>};
}

}  // namespace cameo::ops
