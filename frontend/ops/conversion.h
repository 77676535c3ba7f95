// Casting as ONNX means it: true is what differs from zero, floats truncate toward zero.
#pragma once
#include "frontend/operator.h"

namespace cameo::ops {

inline Expr convert(Expr x, DType to) {
  return to == DType::b1 && x.type() != DType::b1 ? ne(x, zero(x.type())) : cast(x, to);
}

}  // namespace cameo::ops
