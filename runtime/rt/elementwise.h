// What the words of scalar.h do, one implementation each for V a scalar or a native vector (operands already of one
// type). Native `?:` and operators serve both; signed integers go through unsigned ones, so that they wrap.
#pragma once
#include "arch.h"
#include "minifloat.h"

namespace rt::detail {

// The type integer arithmetic runs in: unsigned, so that it wraps, and never the promoted `int` of a short.
template <class T>
using wrapping = typename IntOf<(sizeof(T) < 4 ? 4 : sizeof(T)), false>::type;
template <class V>
using unsigned_like = if_t<kLanes<V> == 0, wrapping<element_of<V>>, like<unsigned_of<element_of<V>>, V>>;
template <class V>
RT_FN unsigned_like<V> to_unsigned(V x) {
  if constexpr (kLanes<V> == 0) {
    return static_cast<unsigned_like<V>>(x);
  } else {
    return bits<unsigned_like<V>>(x);
  }
}
template <class V>
RT_FN V from_unsigned(unsigned_like<V> x) {
  if constexpr (kLanes<V> == 0) {
    return static_cast<V>(x);
  } else {
    return bits<V>(x);
  }
}
template <class V>
inline constexpr bool kFloats = kIsFloat<element_of<V>>;

// ---- one implementation each, for V a scalar or a vector ----
template <class V>
RT_FN V add(V a, V b) {
  if constexpr (kFloats<V>) {
    return a + b;
  } else {
    return from_unsigned<V>(to_unsigned(a) + to_unsigned(b));
  }
}
template <class V>
RT_FN V sub(V a, V b) {
  if constexpr (kFloats<V>) {
    return a - b;
  } else {
    return from_unsigned<V>(to_unsigned(a) - to_unsigned(b));
  }
}
template <class V>
RT_FN V mul(V a, V b) {
  if constexpr (kFloats<V>) {
    return a * b;
  } else {
    return from_unsigned<V>(to_unsigned(a) * to_unsigned(b));
  }
}
template <class V>
RT_FN V div(V a, V b) {
  using T = element_of<V>;
  if constexpr (kFloats<V>) {
    return a / b;
  } else if constexpr (!kIsSigned<T>) {
    return V(b == V{} ? V{} : V(a / V(b == V{} ? splat<V>(1) : b)));
  } else {
    const V one = splat<V>(1), minus = splat<V>(-1);
    const V quotient = a / V(b == V{} ? one : V(b == minus ? one : b));
    return b == V{} ? V{} : V(b == minus ? sub(V{}, a) : quotient);
  }
}
template <class V>
RT_FN V remainder(V a, V b) {  // of the truncating division, 0 where b is 0
  return b == V{} ? V{} : V(sub(a, mul(div(a, b), b)));
}
template <class V>
RT_FN auto crosses(V r, V b) {
  return both(r != V{}, (r ^ b) < V{});
}  // a truncated quotient lies above the floor
template <class V>
RT_FN V floor_div(V a, V b) {
  if constexpr (kFloats<V>) {
    return round_down(V(a / b));
  } else if constexpr (!kIsSigned<element_of<V>>) {
    return div(a, b);
  } else {
    const V q = div(a, b);
    return crosses(remainder(a, b), b) ? sub(q, splat<V>(1)) : q;
  }
}
template <class T>
RT_COLD T float_remainder(T x, T y) {  // exact, by long division on the bits
  using U = unsigned_of<T>;
  constexpr int mantissa = sizeof(T) == 4 ? 23 : 52;
  constexpr U one = U(1) << mantissa, sign = U(1) << (sizeof(T) * 8 - 1), infinity = (sign - 1) ^ (one - 1);
  U a = bits<U>(x) & ~sign, b = bits<U>(y) & ~sign;
  if (b == 0 || b > infinity || a >= infinity) return (x * y) / (x * y);
  if (a < b) return x;
  int ea = int(a >> mantissa), eb = int(b >> mantissa);
  a = ea ? ((a & (one - 1)) | one) : a << 1;  // a denormal's exponent is 1, its leading bit absent
  b = eb ? ((b & (one - 1)) | one) : b << 1;
  for (; a < one; --ea) a <<= 1;
  for (; b < one; --eb) b <<= 1;
  for (; ea > eb; --ea) a = (a >= b ? a - b : a) << 1;
  if (a >= b) a -= b;
  if (a == 0) return bits<T>(U(bits<U>(x) & sign));
  for (; a < one; --eb) a <<= 1;
  const U r = eb > 0 ? (a - one) + (U(eb) << mantissa) : a >> (1 - eb);
  return bits<T>(U(r | (bits<U>(x) & sign)));
}
template <class V>
RT_FN V fmod(V a, V b) {
  if constexpr (!kFloats<V>) {
    return remainder(a, b);
  } else if constexpr (kLanes<V> == 0) {
    return float_remainder(a, b);
  } else {
    V r{};
    for (int i = 0; i < kLanes<V>; ++i) r[i] = float_remainder<element_of<V>>(a[i], b[i]);
    return r;
  }
}
template <class V>
RT_FN V mod(V a, V b) {
  const V r = fmod(a, b);
  if constexpr (kFloats<V>) {
    const V moved = (r < V{}) != (b < V{}) ? V(r + b) : r;
    return r == V{} ? copy_sign(V{}, b) : moved;
  } else if constexpr (kIsSigned<element_of<V>>) {
    return crosses(r, b) ? add(r, b) : r;
  } else {
    return r;
  }
}
template <class V>
RT_FN V min(V a, V b) {  // NaN if either is; ties give `a`
  const V r = b < a ? b : a;
  if constexpr (kFloats<V>) {
    return b != b ? b : r;
  } else {
    return r;
  }
}
template <class V>
RT_FN V max(V a, V b) {
  const V r = b > a ? b : a;
  if constexpr (kFloats<V>) {
    return b != b ? b : r;
  } else {
    return r;
  }
}
template <class V>
RT_FN V shl(V a, V b) {
  using U = like<unsigned_of<element_of<V>>, V>;
  constexpr auto width = element_of<U>(sizeof(element_of<V>) * 8);
  const U count = bits<U>(b), safe = count & element_of<U>(width - 1);
  return count < splat<U>(width) ? from_unsigned<V>(to_unsigned(a) << safe) : V{};
}
template <class V>
RT_FN V shr(V a, V b) {
  using U = like<unsigned_of<element_of<V>>, V>;
  constexpr auto width = element_of<U>(sizeof(element_of<V>) * 8);
  const U count = bits<U>(b), safe = count & element_of<U>(width - 1);
  return count < splat<U>(width) ? V(a >> bits<V>(safe)) : V{};
}
template <class V>
RT_FN V bit_and(V a, V b) {
  return a & b;
}
template <class V>
RT_FN V bit_or(V a, V b) {
  return a | b;
}
template <class V>
RT_FN V bit_xor(V a, V b) {
  return a ^ b;
}

template <class T, class V>
RT_FN like<T, V> saturate(V x) {  // float to integer
  using R = like<T, V>;
  using F = element_of<V>;
  if constexpr (sizeof(T) < 4) {  // its limits are exact floats, and lanes narrow at the end alone
    constexpr F least = F(Limits<T>::lowest), most = F(Limits<T>::highest);
    const V above = x > least ? x : splat<V>(least), within = above < most ? above : splat<V>(most);
    if constexpr (least == 0) return convert<T>(convert<i32>(within));  // a NaN is not above it
    return convert<T>(convert<i32>(V(x == x ? within : V{})));
  }
  constexpr F low = F(Limits<T>::lowest), high = F(Limits<T>::highest / 2 + 1) * 2;
  const auto fits = both(x >= splat<V>(low), x < splat<V>(high));
  const R r = convert<T>(V(fits ? x : V{}));
  const auto above = native<R>(condition(x >= splat<V>(high))), below = native<R>(condition(x < splat<V>(low)));
  return above ? splat<R>(Limits<T>::highest) : R(below ? splat<R>(Limits<T>::lowest) : r);
}
template <class V>
RT_FN V shorten(V x) {  // an integer to one that f64 holds exactly and that rounds to 16 bits the same way
  if constexpr (sizeof(element_of<V>) < 8) {
    return x;
  } else {
    using U = like<u64, V>;
    const U u = bits<U>(x), sticky = (u & 0xffffull) != U{} ? splat<U>(0x10000) : U{};
    const U middle = kIsSigned<element_of<V>> ? U(u + (1ull << 47)) : u;
    return bits<V>(middle < splat<U>(1ull << 48) ? u : U((u & ~0xffffull) | sticky));
  }
}
template <class T, class V>
RT_FN like<f32, V> round_to_code(V x) {  // the float nearest x that T holds
  using E = element_of<V>;
  if constexpr (!kSame<E, f32>) {
    if constexpr (kSame<E, f64>) {
      return round_to_code<T>(narrow_to_odd(x));
    } else {
      return round_to_code<T>(convert<f64>(shorten(x)));
    }
  } else {
    return from_code<T>(to_code<T>(x));
  }
}

}  // namespace rt::detail
