// Elements of 4 and 2 bits that share bytes.
#pragma once
#include "frontend/ir/expr.h"

namespace cameo::ops {

/// The element that stands `place` elements above the lowest bits of a byte: an integer, or, as u8, the code of a
/// float.
inline Expr unpacked_element(Expr byte, Expr place, DType t) {
  const Expr bits = apply(Op::Shr, {byte, cast(place * integer(row(t).bits), DType::u8)});
  return is_float(t) ? apply(Op::BitAnd, {bits, integer((1 << row(t).bits) - 1, DType::u8)}) : cast(bits, t);
}

}  // namespace cameo::ops
