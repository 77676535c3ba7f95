// The few operations that need a builtin: fused multiply-add, square root, rounding to an integer, each on a scalar or
// any vector. clang has one spelling for all; g++ has x86 builtins of fixed sizes, applied piece by piece. None of them
// calls libm. Results are equal everywhere, except `fma` on targets without the instruction (a product and a sum).
#pragma once
#include "vector.h"

namespace rt::detail {

// In the name of each function that files share: the linker takes one copy of it, which must not be of another
// instruction set.
#if defined(__AVX512VBMI__)
inline constexpr int kInstructionSet = 6;
#elif defined(__AVX512VNNI__)
inline constexpr int kInstructionSet = 5;
#elif defined(__AVX512F__)
inline constexpr int kInstructionSet = 4;
#elif defined(__AVX2__)
inline constexpr int kInstructionSet = 3;
#elif defined(__SSE4_2__)
inline constexpr int kInstructionSet = 2;
#else
inline constexpr int kInstructionSet = 1;
#endif

template <class M>
RT_FN M both(M a, M b) {
  return a & b;
}  // of native conditions
template <class M>
RT_FN M either(M a, M b) {
  return a | b;
}

// clang spells one operation for scalars and vectors and never calls libm for it; g++ has x86 builtins of fixed sizes.
template <class Part, int N>
struct Parts {
  Part part[N];
};
template <class Part, class F, class... V>
RT_FN auto by_parts(F f, V... v) {  // applies f to pieces of a vector, each of the type Part
  using First = typename Bare<decltype((v, ...))>::type;
  constexpr int n = sizeof(First) / sizeof(Part);
  if constexpr (n == 1) {
    return f(v...);
  } else {
    Parts<Part, n> r;
    for (int i = 0; i < n; ++i) r.part[i] = f(__builtin_bit_cast(Parts<Part, n>, v).part[i]...);
    return __builtin_bit_cast(First, r);
  }
}
// LLVM 19 makes a sum across lanes of products of u8 by i8 one VPDPBUSD, of whose four lanes it takes the first alone.
// A sum that went through here is added up as it is written.
template <class V>
RT_FN void hide_products([[maybe_unused]] V& sum) {
#if defined(__clang__) && defined(__AVX512VNNI__)
  if constexpr (kSame<element_of<V>, i32> && sizeof(V) >= 16 && sizeof(V) <= 64) asm("" : "+v"(sum));
#endif
}
template <class V, class F, class... A>
RT_FN V by_lanes(F f, A... a) {
  V r{};
  for (int i = 0; i < kLanes<V>; ++i) r[i] = f(a[i]...);
  return r;
}
#if defined(__clang__)
template <class V>
RT_FN V root(V x) {
#if __clang_major__ >= 17
  return __builtin_elementwise_sqrt(x);
#else  // lanes become one instruction again where errno need not be set
  const auto root_one = [](element_of<V> e)
                            RT_INLINE { return sizeof e == 4 ? __builtin_sqrtf(e) : __builtin_sqrt(e); };
  if constexpr (kLanes<V> == 0) {
    return root_one(x);
  } else {
    return by_lanes<V>(root_one, x);
  }
#endif
}
template <class V>
RT_FN V fma(V a, V b, V c) {
#if RT_HAS_FMA && __clang_major__ >= 15
  return __builtin_elementwise_fma(a, b, c);
#else
#if RT_HAS_FMA
#pragma clang fp contract(on)  // this one expression is one instruction
#endif
  return a * b + c;
#endif
}
#else
RT_FN f32 root_one(f32 x) {
#if defined(__SSE2__) && !defined(RT_CUDA)  // the builtin for plain sqrt would call libm to set errno
  return __builtin_ia32_sqrtss(vec<f32, 4>{x})[0];
#else
  return __builtin_sqrtf(x);
#endif
}
RT_FN f64 root_one(f64 x) {
#if defined(__SSE2__) && !defined(RT_CUDA)
  return __builtin_ia32_sqrtsd(vec<f64, 2>{x})[0];
#else
  return __builtin_sqrt(x);
#endif
}
template <class V>
RT_FN V root(V x) {
  using T = element_of<V>;
  if constexpr (kLanes<V> == 0) {
    return root_one(x);
#if defined(__AVX512F__)
  } else if constexpr (sizeof(V) >= 64 && kSame<T, f32>) {
    using P = vec<f32, 16>;
    return by_parts<P>([](P p) RT_INLINE { return __builtin_ia32_sqrtps512_mask(p, P{}, -1, 4); }, x);
  } else if constexpr (sizeof(V) >= 64) {
    using P = vec<f64, 8>;
    return by_parts<P>([](P p) RT_INLINE { return __builtin_ia32_sqrtpd512_mask(p, P{}, -1, 4); }, x);
#endif
#if defined(__AVX__)
  } else if constexpr (sizeof(V) >= 32 && kSame<T, f32>) {
    return by_parts<vec<f32, 8>>([](vec<f32, 8> p) RT_INLINE { return __builtin_ia32_sqrtps256(p); }, x);
  } else if constexpr (sizeof(V) >= 32) {
    return by_parts<vec<f64, 4>>([](vec<f64, 4> p) RT_INLINE { return __builtin_ia32_sqrtpd256(p); }, x);
#endif
#if defined(__SSE2__) && !defined(RT_CUDA)
  } else if constexpr (sizeof(V) >= 16 && kSame<T, f32>) {
    return by_parts<vec<f32, 4>>([](vec<f32, 4> p) RT_INLINE { return __builtin_ia32_sqrtps(p); }, x);
  } else if constexpr (sizeof(V) >= 16) {
    return by_parts<vec<f64, 2>>([](vec<f64, 2> p) RT_INLINE { return __builtin_ia32_sqrtpd(p); }, x);
#endif
  } else {
    return by_lanes<V>([](T e) RT_INLINE { return root_one(e); }, x);
  }
}
RT_FN f32 fma_one(f32 a, f32 b, f32 c) { return __builtin_fmaf(a, b, c); }
RT_FN f64 fma_one(f64 a, f64 b, f64 c) { return __builtin_fma(a, b, c); }
template <class V>
RT_FN V fma(V a, V b, V c) {
#if !RT_HAS_FMA
  return a * b + c;
#else
  using T = element_of<V>;
  if constexpr (kLanes<V> == 0) {
    return fma_one(a, b, c);
#if defined(__AVX512F__)
  } else if constexpr (sizeof(V) >= 64 && kSame<T, f32>) {
    using P = vec<f32, 16>;
    return by_parts<P>([](P p, P q, P r) RT_INLINE { return __builtin_ia32_vfmaddps512_mask(p, q, r, -1, 4); }, a, b,
                       c);
  } else if constexpr (sizeof(V) >= 64) {
    using P = vec<f64, 8>;
    return by_parts<P>([](P p, P q, P r) RT_INLINE { return __builtin_ia32_vfmaddpd512_mask(p, q, r, -1, 4); }, a, b,
                       c);
#endif
#if defined(__FMA__)
  } else if constexpr (sizeof(V) >= 32 && kSame<T, f32>) {
    using P = vec<f32, 8>;
    return by_parts<P>([](P p, P q, P r) RT_INLINE { return __builtin_ia32_vfmaddps256(p, q, r); }, a, b, c);
  } else if constexpr (sizeof(V) >= 32) {
    using P = vec<f64, 4>;
    return by_parts<P>([](P p, P q, P r) RT_INLINE { return __builtin_ia32_vfmaddpd256(p, q, r); }, a, b, c);
  } else if constexpr (sizeof(V) >= 16 && kSame<T, f32>) {
    using P = vec<f32, 4>;
    return by_parts<P>([](P p, P q, P r) RT_INLINE { return __builtin_ia32_vfmaddps(p, q, r); }, a, b, c);
  } else if constexpr (sizeof(V) >= 16) {
    using P = vec<f64, 2>;
    return by_parts<P>([](P p, P q, P r) RT_INLINE { return __builtin_ia32_vfmaddpd(p, q, r); }, a, b, c);
#endif
  } else {
    return by_lanes<V>([](T x, T y, T z) RT_INLINE { return fma_one(x, y, z); }, a, b, c);
  }
#endif
}
#endif

// Rounding without SSE4.1: adding 2^23 (2^52) leaves no fraction bits; the sign is put back for -0.
template <class V>
RT_FN V copy_sign(V x, V from) {
  using U = like<unsigned_of<element_of<V>>, V>;
  constexpr auto sign = element_of<U>(1) << (sizeof(element_of<V>) * 8 - 1);
  return bits<V>(U((bits<U>(x) & element_of<U>(~sign)) | (bits<U>(from) & element_of<U>(sign))));
}
template <class V>
RT_FN V absolute(V x) {
  return copy_sign(x, splat<V>(0));
}

#if defined(__clang__) && (defined(__SSE4_1__) || defined(__NVPTX__) || defined(__aarch64__))
template <class V>
RT_FN V round_even(V x) {
  return __builtin_elementwise_roundeven(x);
}
template <class V>
RT_FN V round_down(V x) {
  return __builtin_elementwise_floor(x);
}
template <class V>
RT_FN V round_up(V x) {
  return __builtin_elementwise_ceil(x);
}
template <class V>
RT_FN V round_in(V x) {
  return __builtin_elementwise_trunc(x);
}
#else
template <class V>
RT_FN V round_even(V x) {
  const V magic = splat<V>(kSame<element_of<V>, f32> ? 0x1p23 : 0x1p52);
  const V magnitude = absolute(x), near = (magnitude + magic) - magic;
  return copy_sign(magnitude < magic ? near : x, x);  // NaN and the large stay
}
template <class V>
RT_FN V round_down(V x) {
  const V near = round_even(x);
  return near > x ? near - splat<V>(1) : near;
}
template <class V>
RT_FN V round_up(V x) {
  const V near = round_even(x);
  return copy_sign(near < x ? near + splat<V>(1) : near, x);
}
template <class V>
RT_FN V round_in(V x) {
  return copy_sign(round_down(absolute(x)), x);
}
#endif

// Floats within an i32 to the nearest ones, half to even.
template <class V>
RT_FN like<i32, V> nearest(V x) {
#if defined(__AVX512F__)
  if constexpr (sizeof(V) >= 64 && kLanes<V> > 0) {
    using P = vec<f32, 16>;
    constexpr int kEven = 8;  // whatever the thread's mode of rounding is
    return (like<i32, V>)by_parts<P>(
        [](P p) RT_INLINE { return (P)__builtin_ia32_cvtps2dq512_mask(p, vec<i32, 16>{}, -1, kEven); }, x);
  }
#endif
  return convert<i32>(round_even(x));
}

// Numbers that T, an integer of 8 bits, holds, as such.
template <class T, class V>
RT_FN like<T, V> narrow(V x) {
#if defined(__AVX512VBMI__)
  // An instruction less for each vector than compilers choose; in assembly, or they choose again.
  using Numbers = vec<i32, 16>;
  using Bytes = vec<i8, 64>;
  using Result = like<T, V>;
  const auto lowest = [](Numbers of_each, auto numbers) RT_INLINE {
    Bytes all;
    asm("vpermb %1, %2, %0" : "=v"(all) : "v"((Bytes)numbers), "v"((Bytes)of_each));
    return __builtin_bit_cast(Parts<Result, sizeof(Bytes) / sizeof(Result)>, all).part[0];
  };
  if constexpr (sizeof(V) == sizeof(Numbers)) return lowest(Numbers{0x0c080400, 0x1c181410, 0x2c282420, 0x3c383430}, x);
#if defined(__clang__)  // g++ has no vectors as wide as two
  if constexpr (sizeof(V) == 2 * sizeof(Numbers)) {
    const auto both = __builtin_bit_cast(Parts<Numbers, 2>, x);
    const auto words = __builtin_ia32_packssdw512(both.part[0], both.part[1]);  // four of one, four of the other
    return lowest(
        Numbers{0x06040200, 0x16141210, 0x26242220, 0x36343230, 0x0e0c0a08, 0x1e1c1a18, 0x2e2c2a28, 0x3e3c3a38}, words);
  }
#endif
#endif
  return convert<T>(x);
}

}  // namespace rt::detail
