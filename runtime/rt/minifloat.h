// Storage types of floats of 8 and 4 bits, a byte each in memory, float in arithmetic: the formats of ONNX's tables.
// Conversions are bit tricks as those of half.h, exact one way and round-to-nearest-even the other. Beyond the largest
// number is infinity, or NaN where there is none, or the largest number where there is neither.
#pragma once
#include "half.h"

namespace rt {

enum class Special : u8 { Ieee, LastIsNan, MinusZeroIsNan, None };

template <int Exponent, int Mantissa, int Bias, Special Has>
struct minifloat {
  static constexpr int mantissa = Mantissa, width = Exponent + Mantissa;  // bits, without the sign
  static constexpr u32 scale = 127 - Bias, sign = 1u << width;
  static constexpr Special special = Has;
  /// The code of the largest number; codes of positive numbers have their order.
  static constexpr u32 largest = Has == Special::Ieee        ? sign - (1u << Mantissa) - 1
                                 : Has == Special::LastIsNan ? sign - 2
                                                             : sign - 1;
  u8 bits;
};
using f8e4m3fn = minifloat<4, 3, 7, Special::LastIsNan>;
using f8e4m3fnuz = minifloat<4, 3, 8, Special::MinusZeroIsNan>;
using f8e5m2 = minifloat<5, 2, 15, Special::Ieee>;
using f8e5m2fnuz = minifloat<5, 2, 16, Special::MinusZeroIsNan>;
using f4e2m1 = minifloat<2, 1, 1, Special::None>;
struct f8e8m0 {  // powers of two from 2^-127 on, and NaN; a float becomes the power below its magnitude
  u8 bits;
};

template <class T>
inline constexpr bool kIsMinifloat = kSame<T, f8e8m0>;
template <int E, int M, int B, Special S>
inline constexpr bool kIsMinifloat<minifloat<E, M, B, S>> = true;
/// Types whose bits stand for a float.
template <class T>
inline constexpr bool kIsCode = kIsHalf<T> || kIsMinifloat<T>;

namespace detail {

template <class V>
RT_FN like<f32, V> power_of_two(V code) {
  using U = like<u32, V>;
  const U x = convert<u32>(code);
  const U r = x == U{} ? splat<U>(1u << 22) : U(x << 23);
  return bits<like<f32, V>>(x == splat<U>(255u) ? splat<U>(0x7fc00000u) : r);
}
template <class V>
RT_FN like<u8, V> power_below(V f) {
  using U = like<u32, V>;
  return convert<u8>(U((bits<U>(f) & 0x7fffffffu) >> 23));  // that of infinity is NaN's
}

template <class T, class V>
RT_FN like<f32, V> minifloat_to_float(V code) {  // V: u8 or a vector of it
  using F = like<f32, V>;
  using U = like<u32, V>;
  constexpr int kShift = 23 - T::mantissa;
  const U x = convert<u32>(code), c = x & (T::sign - 1u), magnitude = c << kShift;
  const F tiny = bits<F>(U(magnitude + ((T::scale + 1u) << 23))) - splat<F>(bits<f32>(u32((T::scale + 1u) << 23)));
  U r = c < splat<U>(1u << T::mantissa) ? bits<U>(tiny) : U(magnitude + (T::scale << 23));
  if constexpr (T::special == Special::Ieee)
    r = c > splat<U>(T::largest) ? U(c > splat<U>(T::largest + 1) ? splat<U>(0x7fc00000u) : splat<U>(0x7f800000u)) : r;
  if constexpr (T::special == Special::LastIsNan) r = c > splat<U>(T::largest) ? splat<U>(0x7fc00000u) : r;
  if constexpr (T::special == Special::MinusZeroIsNan) r = x == splat<U>(T::sign) ? splat<U>(0x7fc00000u) : r;
  return bits<F>(U(r | (x & T::sign) << (31 - T::width)));
}

template <class T, class V>
RT_FN like<u8, V> float_to_minifloat(V f) {  // V: f32 or a vector of it
  using U = like<u32, V>;
  constexpr int kShift = 23 - T::mantissa;
  constexpr u32 kUnit = (T::scale + 1u + u32(kShift)) << 23;  // a float whose last bit is worth the least number
  const U x = bits<U>(f), magnitude = x & 0x7fffffffu, sign = x >> (31 - T::width) & T::sign;
  const U normal = (magnitude - (T::scale << 23) + ((1u << (kShift - 1)) - 1u) + (magnitude >> kShift & 1u)) >> kShift;
  const U tiny = bits<U>(V(bits<V>(magnitude) + splat<V>(bits<f32>(kUnit)))) - kUnit;  // the addition rounds
  const U c = magnitude < splat<U>((T::scale + 1u) << 23) ? tiny : normal;
  const auto is_nan = magnitude > splat<U>(255u << 23);
  if constexpr (T::special == Special::MinusZeroIsNan) {
    const U finite = c == U{} ? c : U(c | sign);
    return convert<u8>(U(c > splat<U>(T::largest) ? splat<U>(T::sign) : finite));
  } else if constexpr (T::special == Special::None) {  // of NaN a zero
    const U r = c > splat<U>(T::largest) ? splat<U>(T::largest) : c;
    return convert<u8>(U(is_nan ? U(sign ^ T::sign) : U(r | sign)));
  } else {
    const U over = c > splat<U>(T::largest) ? splat<U>(T::largest + 1) : c;
    return convert<u8>(
        U((is_nan ? splat<U>(T::special == Special::Ieee ? T::largest + 3 : T::largest + 1) : over) | sign));
  }
}

// The float that a code of T stands for, and back.
template <class T, class V>
RT_FN like<f32, V> from_code(V code) {
  if constexpr (kSame<T, half>) {
    return half_to_float(code);
  } else if constexpr (kSame<T, bfloat>) {
    return bfloat_to_float(code);
  } else if constexpr (kSame<T, f8e8m0>) {
    return power_of_two(code);
  } else {
    return minifloat_to_float<T>(code);
  }
}
template <class T, class V>
RT_FN auto to_code(V f) {
  if constexpr (kSame<T, half>) {
    return float_to_half(f);
  } else if constexpr (kSame<T, bfloat>) {
    return float_to_bfloat(f);
  } else if constexpr (kSame<T, f8e8m0>) {
    return power_below(f);
  } else {
    return float_to_minifloat<T>(f);
  }
}

}  // namespace detail

template <class T>
  requires kIsMinifloat<T>
RT_FN f32 to_float(T x) {
  return detail::from_code<T>(x.bits);
}

}  // namespace rt
