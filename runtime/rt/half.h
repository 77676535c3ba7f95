// Storage types rt::half (IEEE binary16) and rt::bfloat: 16 bits in memory, float in arithmetic. Conversions are our
// own bit tricks (after F. Giesen), exact one way and round-to-nearest-even the other, on scalars and vectors alike: no
// libgcc call on machines without F16C. NaN stays NaN (quiet), denormals are kept.
#pragma once
#include "arch.h"

namespace rt {

struct half {
  u16 bits;
};
struct bfloat {
  u16 bits;
};

template <class T>
inline constexpr bool kIsHalf = kSame<T, half> || kSame<T, bfloat>;

// Where the target converts in hardware, clang's own type says so; everywhere else it would call libgcc.
#if defined(__clang__) && __clang_major__ >= 15 && (defined(__F16C__) || defined(__NVPTX__))
#define RT_HAS_F16 1
template <>
struct Traits<_Float16> : ScalarTraits<_Float16> {};
#else
#define RT_HAS_F16 0
#endif

namespace detail {

// clang compares what was a half as such, and where there is no instruction for that, lane by lane. What went through
// here is nothing but a float to it.
template <class F>
RT_FN F plain_float(F x) {
#if defined(__F16C__)
  if constexpr (kLanes<F> == 0) {
    asm("" : "+v"(x));
  } else if constexpr (sizeof(F) >= 16) {
    constexpr int kBytes = sizeof(F) < kVectorBytes ? int(sizeof(F)) : kVectorBytes;
    return by_parts<vec<f32, kBytes / 4>>(
        [](auto part) {
          asm("" : "+v"(part));
          return part;
        },
        x);
  }
#endif
  return x;
}

template <class V>
RT_FN like<f32, V> half_to_float(V h) {  // V: u16 or a vector of it
#if RT_HAS_F16
  return plain_float(convert<f32>(bits<like<_Float16, V>>(h)));
#else
  using F = like<f32, V>;
  using U = like<u32, V>;
  const U x = convert<u32>(h), magnitude = (x & 0x7fffu) << 13;
  const U normal = magnitude + (112u << 23);
  const F tiny = bits<F>(U(magnitude + (113u << 23))) - splat<F>(0x1p-14f);  // renormalises the denormals
  const U special = magnitude + (224u << 23);                                // infinity and NaN
  const U r = magnitude < splat<U>(1u << 23) ? bits<U>(tiny) : magnitude < splat<U>(31u << 23) ? normal : special;
  const U quiet = magnitude > splat<U>(31u << 23) ? splat<U>(1u << 22) : U{};
  return bits<F>(U(r | quiet | (x & 0x8000u) << 16));
#endif
}

template <class V>
RT_FN like<u16, V> float_to_half(V f) {  // V: f32 or a vector of it
#if RT_HAS_F16
  return bits<like<u16, V>>(convert<_Float16>(f));
#else
  using U = like<u32, V>;
  const U x = bits<U>(f), magnitude = x & 0x7fffffffu;
  const U normal = (magnitude - (112u << 23) + 0xfffu + (magnitude >> 13 & 1u)) >> 13;
  const U tiny = bits<U>(V(bits<V>(magnitude) + splat<V>(0.5f))) - bits<u32>(0.5f);  // the addition rounds
  const U special = magnitude > splat<U>(255u << 23) ? splat<U>(0x7e00u) : splat<U>(0x7c00u);
  const U r = magnitude < splat<U>(113u << 23) ? tiny : magnitude < splat<U>(143u << 23) ? normal : special;
  return convert<u16>(U(r | (x >> 16 & 0x8000u)));
#endif
}

template <class V>
RT_FN like<f32, V> bfloat_to_float(V h) {
  return bits<like<f32, V>>(like<u32, V>(convert<u32>(h) << 16));
}

template <class V>
RT_FN like<u16, V> float_to_bfloat(V f) {
  using U = like<u32, V>;
  const U x = bits<U>(f), rounded = x + 0x7fffu + (x >> 16 & 1u);
  const U r = (x & 0x7fffffffu) > splat<U>(255u << 23) ? U(x | 1u << 22) : rounded;
  return convert<u16>(U(r >> 16));
}

// f64 to f32, inexact results made odd: a second rounding to 16 bits then rounds as if from the double.
template <class V>
RT_FN like<f32, V> narrow_to_odd(V x) {
  using F = like<f32, V>;
  using U = like<u32, V>;
  const F f = convert<f32>(x);
  const V back = convert<f64>(f);
  const auto magnitude = [](V v) RT_INLINE { return bits<V>(like<u64, V>(bits<like<u64, V>>(v) & ~0ull >> 1)); };
  const U even = bits<U>(f);
  const auto too_big = native<U>(condition(magnitude(back) > magnitude(x)));
  const auto inexact = native<U>(condition((back != x) & (x == x)));
  const U below = too_big ? U(even - 1u) : even;
  return bits<F>(inexact ? U(below | 1u) : even);
}

}  // namespace detail

// The 16-bit value of a float, and back.
RT_FN half to_half(f32 x) { return {detail::float_to_half(x)}; }
RT_FN bfloat to_bfloat(f32 x) { return {detail::float_to_bfloat(x)}; }
RT_FN f32 to_float(half x) { return detail::half_to_float(x.bits); }
RT_FN f32 to_float(bfloat x) { return detail::bfloat_to_float(x.bits); }

}  // namespace rt
