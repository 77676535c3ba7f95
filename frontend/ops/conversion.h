// Casting as ONNX means it: true is what differs from zero, floats truncate toward zero, integers of 4 and 2 bits wrap.
#pragma once
#include "frontend/ir/operator.h"

namespace cameo::ops {

inline bool is_narrow_integer(DType t) { return is_integer(t) && row(t).bits < 8; }

/// By the attribute `to`.
inline DType target_type(const NodeView& n) {
  const int64_t to = n.attr_int("to");
  if (to <= 0 || to >= kDTypeCount) n.fail(Code::E0204, "`to` is " + std::to_string(to) + ", which is no element type");
  return static_cast<DType>(to);
}

/// Floats of 8 bits and less, strings and complex numbers have no arithmetic; a cast to the same type needs none.
inline void check_conversion(const NodeView& n, DType from, DType to) {
  for (DType t : {from, to})
    if (from != to && !runs(t) && !is_narrow_integer(t))
      n.fail(Code::E0403, "`" + std::string(n.node().op->name) + "` from " + std::string(row(from).onnx) + " to " +
                              std::string(row(to).onnx));
}

inline Expr convert(Expr x, DType to) {
  if (x.type() == to) return x;
  if (to == DType::b1) return ne(x, zero(x.type()));
  if (!is_narrow_integer(to)) return cast(x, to);
  Expr values = integer(1ll << row(to).bits), half = integer(is_signed(to) ? 1ll << (row(to).bits - 1) : 0);
  return cast(mod(cast(x, DType::i64) + half, values) - half, to);
}

}  // namespace cameo::ops
