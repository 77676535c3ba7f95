// Casting as ONNX means it: true is what differs from zero, floats truncate toward zero, and kernels know both types.
#pragma once
#include "frontend/operator.h"

namespace cameo::ops {

/// A cast to the same type moves bytes and needs no arithmetic.
inline void check_conversion(const NodeView& n, DType from, DType to) {
  for (DType t : {from, to})
    if (from != to && !runs(t))
      n.fail(Code::E0403, "`" + std::string(n.node().op->name) + "` from " + std::string(row(from).onnx) + " to " +
                              std::string(row(to).onnx));
}

inline Expr convert(Expr x, DType to) {
  return to == DType::b1 && x.type() != DType::b1 ? ne(x, zero(x.type())) : cast(x, to);
}

}  // namespace cameo::ops
