// Products of 8-bit matrices, dequantised: the sum of integers times the scales of both, and a bias.
#pragma once
#include "frontend/ops/microsoft/quantized.h"

namespace cameo::ops {

struct QuantizedMatrix {
  ValueId x, scale, zero;  // no zero point: 0
};

/// a * b * (scale of a * scale of b) + bias, in the type of the scales; the bias may be absent.
inline ValueId scaled_product(Build& b, const QuantizedMatrix& left, const QuantizedMatrix& right, ValueId bias) {
  const ValueId sum = b.op("MatMulInteger", {left.x, right.x, left.zero, right.zero});
  ValueId y = b.mul(b.cast(sum, b.type(left.scale).dtype), b.mul(left.scale, right.scale));
  return bias ? b.add(y, bias) : y;
}

/// Rows that are quantised by what they hold.
inline QuantizedMatrix quantized_rows(Build& b, ValueId x) {
  const std::vector<ValueId> q = b.ops("DynamicQuantizeLinear", {x}, {}, 3);
  return {q[0], q[1], q[2]};
}

}  // namespace cameo::ops
