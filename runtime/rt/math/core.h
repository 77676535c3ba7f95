// What all our math functions stand on: the constants of a format, polynomials, exact sums and products, and powers of
// two. V is f32, f64 or a vector of one; everything is branch-free, so lanes and scalars compute the same bits. Written
// without contraction: `fma` is named where it is meant, and each function also holds its accuracy where it is two
// steps. Polynomial coefficients, unless a file says otherwise, are our own minimax fits (Sollya, fpminimax).
#pragma once
#include "../scalar.h"

namespace rt {

template <class V>
concept Floats = kIsFloat<element_of<V>>;

namespace detail {

template <class T>
struct Format;
template <>
struct Format<f32> {
  static constexpr int mantissa = 23, bias = 127;
  static constexpr f32 magic = 0x1.8p23f;  // added, it leaves the nearest integer in the low bits
  static constexpr f32 smallest = 0x1p-126f, infinity = __builtin_huge_valf(), nan = __builtin_nanf("");
  static constexpr u32 half_bits = ~0xfffu;  // a mask: products of two such heads are exact
};
template <>
struct Format<f64> {
  static constexpr int mantissa = 52, bias = 1023;
  static constexpr f64 magic = 0x1.8p52;
  static constexpr f64 smallest = 0x1p-1022, infinity = __builtin_huge_val(), nan = __builtin_nan("");
  static constexpr u64 half_bits = ~0x7ffffffull;
};
template <class V>
using format = Format<element_of<V>>;
template <class V>
inline constexpr bool kSingle = kSame<element_of<V>, f32>;
template <class V>
using words = like<unsigned_of<element_of<V>>, V>;  // V's bits

template <class V>
RT_FN V lit(f64 x) {
  return splat<V>(element_of<V>(x));
}
template <class V>
RT_FN V infinity() {
  return splat<V>(format<V>::infinity);
}

template <class V>
RT_FN V at_most(V x, f64 high) {  // NaN passes
  return x > lit<V>(high) ? lit<V>(high) : x;
}

// 2^k where that is a normal number.
template <class V>
RT_FN V power_of_two(words<V> k) {
  return bits<V>(words<V>((k + element_of<words<V>>(format<V>::bias)) << format<V>::mantissa));
}

// Coefficients from the highest power down. Even and odd powers are two Horner chains: half the latency, one product
// more, and out-of-order cores are limited by the latency of long bodies.
template <class V, class... C>
RT_FN V poly(V x, f64 top, f64 next, C... rest) {
  const V square = x * x;
  V a = lit<V>(top), b = lit<V>(next);
  const auto step = [&](f64 c) RT_INLINE {
    const V r = fma(a, square, lit<V>(c));
    a = b, b = r;
  };
  (step(rest), ...);
  return fma(a, x, b);
}

template <class V>
struct Pair {
  V hi, lo;
};  // hi + lo, |lo| <= ulp(hi) / 2
template <class V>
RT_FN Pair<V> fast_sum(V a, V b) {  // |a| >= |b| or a == 0
  const V s = a + b;
  return {s, b - (s - a)};
}
template <class V>
RT_FN Pair<V> exact_sum(V a, V b) {
  const V s = a + b, t = s - a;
  return {s, (a - (s - t)) + (b - t)};
}
template <class V>
RT_FN V head(V x) {
  return bits<V>(words<V>(bits<words<V>>(x) & format<V>::half_bits));
}
template <class V>
RT_FN Pair<V> exact_product(V a, V b) {
  const V p = a * b;
#if RT_HAS_FMA
  return {p, fma(a, b, V(-p))};
#else
  const V ah = head(a), bh = head(b), al = a - ah, bl = b - bh;
  return {p, ((ah * bh - p) + ah * bl + al * bh) + al * bl};
#endif
}

#if defined(__AVX512F__)
// Of 16 words, 4 bytes each, those that the low four bits of `index` name; one instruction for 16 lanes.
template <class R, class Table>
RT_FN R look_up(Table table, like<u32, R> index) {
  using P = vec<f32, 16>;
  using I = vec<i32, 16>;
  const auto permute = [table](I i) RT_INLINE {
#if defined(__clang__)
    return (Table)__builtin_ia32_permvarsf512((P)table, i);
#else
    return (Table)__builtin_ia32_permvarsf512_mask((P)table, i, P{}, -1);
#endif
  };
  if constexpr (sizeof(R) >= sizeof(I)) {
    return bits<R>(by_parts<I>(permute, bits<like<i32, R>>(index)));
  } else {
    I wide{};
    __builtin_memcpy(&wide, &index, sizeof index);
    const Table found = permute(wide);
    R result;
    __builtin_memcpy(&result, &found, sizeof result);
    return result;
  }
}
#endif

// 2^k p with one rounding, for any k an exponential can ask for; n is k as a float.
template <class V>
RT_FN V scale(V p, [[maybe_unused]] V n, words<V> k) {
  using T = element_of<V>;
#if defined(__AVX512F__)
  if constexpr (sizeof(V) % 64 == 0 && kSingle<V>) {
    using P = vec<f32, 16>;
    return by_parts<P>([](P a, P b) RT_INLINE { return (P)__builtin_ia32_scalefps512_mask(a, b, P{}, -1, 4); }, p, n);
  } else if constexpr (sizeof(V) % 64 == 0) {
    using P = vec<f64, 8>;
    return by_parts<P>([](P a, P b) RT_INLINE { return (P)__builtin_ia32_scalefpd512_mask(a, b, P{}, -1, 4); }, p, n);
  }
#endif
  using U = words<V>;
  using E = element_of<U>;
  constexpr E offset = 4 * Format<T>::bias;
  const U half = ((k + offset) >> 1) - E(offset / 2);
  return p * power_of_two<V>(half) * power_of_two<V>(U(k - half));
}

// An f32 function computed in f64. g++ lowers vectors wider than a register lane by lane, so it gets them in pieces.
template <class F, class... V>
RT_FN auto through_f64(F f, V... x) {
#if !defined(__clang__) && !defined(RT_CUDA)
  if constexpr (((sizeof(V) > kVectorBytes / 2) && ...)) {
    using P = vec<f32, kVectorBytes / 8>;
    return by_parts<P>([&](auto... p) RT_INLINE { return convert<f32>(f(convert<f64>(p)...)); }, x...);
  }
#endif
  return convert<f32>(f(convert<f64>(x)...));
}

}  // namespace detail
}  // namespace rt
