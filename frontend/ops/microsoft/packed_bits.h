// Numbers of 2, 4 or 8 bits in bytes, the first of a byte in its lowest bits.
#pragma once
#include <fmt/format.h>

#include "frontend/ops/defined.h"

namespace cameo::ops {

/// The attribute `bits`, and how many numbers a byte has.
struct PackedBits {
  int64_t bits, each;
  explicit PackedBits(const NodeView& n) : bits(n.attr_int("bits")), each(bits > 0 ? 8 / bits : 1) {
    if (bits != 2 && bits != 4 && bits != 8) refuse(n, fmt::format("has numbers of {} bits, not of 2, 4 or 8", bits));
  }
  Dim bytes(Dim count) const { return (count + Dim(each - 1)) / Dim(each); }
  /// Number `part` of a byte, as i32.
  Expr number(Expr byte, Expr part) const {
    Expr x = cast(byte, DType::i32);
    if (each == 1) return x;
    return apply(Op::BitAnd, {apply(Op::Shr, {x, cast(part, DType::i32) * static_cast<double>(bits)}),
                              integer((1 << bits) - 1, DType::i32)});
  }
  /// What stands for 0 where nothing else is said.
  Expr middle() const { return integer(int64_t{1} << (bits - 1), DType::i32); }
};

}  // namespace cameo::ops
