// Operators over quantised tensors: what they dequantise, an ai.onnx operator of floats, what they quantise.
#pragma once
#include "frontend/ops/defined.h"
#include "frontend/ops/microsoft/channels.h"
#include "frontend/ops/quantize.h"

namespace cameo::ops {

/// The floats that input `x` stands for; its scale and zero point, which may be absent, are inputs too.
inline ValueId dequantized(Build& b, int x, int scale, int zero, int64_t axis = 0) {
  return b.op("DequantizeLinear", {b.in(x), b.in(scale), b.in(zero)}, {{"axis", axis}});
}
/// `y` in integers of `to`, as an input says its scale, and one that may be absent its zero point.
inline ValueId quantized(const NodeView& n, Build& b, ValueId y, int scale, int zero, DType to) {
  check_scale(n, scale);
  Attrs attrs;
  if (!b.in(zero)) attrs.emplace("output_dtype", static_cast<int64_t>(to));
  return b.op("QuantizeLinear", {y, b.in(scale), b.in(zero)}, std::move(attrs));
}

inline std::vector<InputSpec> with_quantization(std::vector<InputSpec> all, std::string_view name,
                                                std::string_view scale, std::string_view zero,
                                                InputSpec::Presence presence = InputSpec::Optional) {
  if (!name.empty()) all.push_back({name, kQuantized, InputSpec::Required, all.empty() ? -1 : 0});
  all.push_back({scale, DTypes(DType::f32)});
  all.push_back({zero, kQuantized, presence, 0});
  return all;
}
/// X, its scale and zero point, those of Y.
inline std::vector<InputSpec> unary_inputs() {
  return with_quantization(with_quantization({}, "X", "X_scale", "X_zero_point"), "", "Y_scale", "Y_zero_point");
}
/// A and B, each with scale and zero point, those of C.
inline std::vector<InputSpec> binary_inputs() {
  return with_quantization(
      with_quantization(with_quantization({}, "A", "A_scale", "A_zero_point"), "B", "B_scale", "B_zero_point"), "",
      "C_scale", "C_zero_point");
}

inline Composite quantized_unary(const NodeView& n, std::string_view op, Attrs attrs = {}) {
  Build b(n);
  const ValueId y = b.op(op, {dequantized(b, 0, 1, 2)}, std::move(attrs));
  return b.outputs({quantized(n, b, y, 3, 4, n.dtype())});
}
inline Composite quantized_binary(const NodeView& n, std::string_view op) {
  Build b(n);
  const ValueId y = b.op(op, {dequantized(b, 0, 1, 2), dequantized(b, 3, 4, 5)});
  return b.outputs({quantized(n, b, y, 6, 7, n.dtype())});
}

/// A pool of an image of quantised pixels, whose channels may be its last axis.
inline Composite quantized_pool(const NodeView& n, std::string_view op, Attrs attrs = {}) {
  Build b(n);
  const bool last = n.attr_int("channels_last");
  ValueId x = dequantized(b, 0, 1, 2);
  if (last) x = channels_first(b, x);
  ValueId y = b.op(op, {x}, std::move(attrs));
  if (last) y = channels_last(b, y);
  return b.outputs({quantized(n, b, y, 3, 4, n.dtype())});
}

}  // namespace cameo::ops
