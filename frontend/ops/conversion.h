// Casting as ONNX means it: true is what differs from zero, floats truncate toward zero, integers of 4 and 2 bits wrap;
// floats of 8 bits have tables of their own, by `saturate` and, of powers of two, by `round_mode`.
#pragma once
#include <cmath>

#include "frontend/ir/build.h"
#include "frontend/ir/minifloat.h"

namespace cameo::ops {

/// By the attribute `to`.
inline DType target_type(const NodeView& n) {
  const int64_t to = n.attr_int("to");
  if (to <= 0 || to >= kDTypeCount) n.fail(Code::E0204, "`to` is " + std::to_string(to) + ", which is no element type");
  return static_cast<DType>(to);
}

inline void check_conversion(const NodeView& n, DType to) {
  if (is_complex(to))
    n.fail(Code::E0403, "`" + std::string(n.node().op->name) + "` from " + std::string(row(n.dtype()).onnx) + " to " +
                            std::string(row(to).onnx));
}
inline void check_round_mode(const NodeView& n) {
  const std::string mode = n.attr_string("round_mode");
  if (mode != "up" && mode != "down" && mode != "nearest")
    n.fail(Code::E0204, "`round_mode` is `" + printable(mode) + "`, which is none of up, down and nearest");
}

inline Expr clamped(Expr x, double low, double high) { return min(max(x, like(x, low)), like(x, high)); }

/// To a float of 8 or 4 bits. A Cast alone gives infinity or NaN, where the type has one, beyond the largest number.
inline Expr to_minifloat(Expr x, DType to, bool saturate) {
  const double largest = minifloat_largest(to);
  if (!is_float(x.type())) x = cast(x, byte_size(x.type()) < 4 ? DType::f32 : DType::f64);
  return cast(saturate ? clamped(x, -largest, largest) : x, to);
}

/// To a power of two, of the magnitude. A Cast alone gives the one below.
inline Expr to_power_of_two(Expr x, DType to, bool saturate, std::string_view mode) {
  constexpr double kLeast = 0x1p-127;
  Expr a = abs(cast(x, DType::f32));
  a = saturate ? clamped(a, kLeast, minifloat_largest(to)) : select(lt(a, like(a, kLeast)), like(a, NAN), a);
  const Expr below = cast(cast(a, to), DType::f32);
  if (mode == "up") return cast(select(lt(below, a), below * 2, below), to);
  if (mode == "nearest") return cast(select(le(below * 1.5, a), below * 2, below), to);
  return cast(below, to);
}

inline Expr convert(Expr x, DType to, bool saturate = true, std::string_view round_mode = "up") {
  if (x.type() == to) return x;
  if (to == DType::b1) return ne(x, zero(x.type()));
  if (to == DType::f8e8m0) return to_power_of_two(x, to, saturate, round_mode);
  if (is_minifloat(to)) return to_minifloat(x, to, saturate);
  if (is_packed(to) && is_float(x.type())) x = cast(x, DType::i64);
  return cast(x, to);
}
/// As `saturate` and `round_mode` of a node ask for.
inline Expr convert(const MeaningView& n, Expr x, DType to) {
  return convert(x, to, n.attr_int("saturate") != 0, n.attr_string("round_mode"));
}

/// Of numbers to texts or back: by way of the types that have texts.
inline Meaning convert_texts(const MeaningView& n) {
  Build b(n);
  const DType from = n.dtype(), to = n.out_dtype(), number = from == DType::str ? to : from;
  const DType wide = number == DType::f64 || number == DType::u64 ? number : is_float(number) ? DType::f32 : DType::i64;
  const auto own = [&](std::string_view name, ValueId x, Attrs attrs = {}) {
    return b.graph().add(get_operator(name, "cameo"), {x}, std::move(attrs))[0];
  };
  if (to == DType::str) return b.outputs({own("FormatNumbers", b.cast(b.in(0), wide))});
  const ValueId parsed = own("ParseNumbers", b.in(0), {{"to", static_cast<int64_t>(wide)}});
  if (wide == to) return b.outputs({parsed});
  return b.outputs({b.op("Cast", {parsed},
                         {{"to", static_cast<int64_t>(to)},
                          {"saturate", n.attr_int("saturate")},
                          {"round_mode", n.attr_string("round_mode")}})});
}
inline bool converts_texts(const MeaningView& n) {
  return n.dtype() != n.out_dtype() && (n.dtype() == DType::str || n.out_dtype() == DType::str);
}

}  // namespace cameo::ops
