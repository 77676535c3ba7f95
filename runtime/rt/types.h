// The words every header of rt/ shares: fixed-width types, RT_FN, a few type traits and a small tuple.
// Freestanding: no libc, no STL, no system header, so that a generated file parses in milliseconds and the same text
// compiles for the host (clang, g++) and for NVPTX.
#pragma once

#if defined(__clang__) ? __clang_major__ < 14 : defined(__GNUC__) && !defined(__CUDACC__) && __GNUC__ < 12
#error "this compiler is too old: clang 14, g++ 12 and newer ones compile cameo's sources"
#endif

// No function is left for the linker to choose one copy of: it was compiled for another instruction set in the next
// file.
#if defined(__CUDA__) || defined(__CUDACC__)
#define RT_CUDA
#define RT_FN __attribute__((host)) __attribute__((device)) __attribute__((always_inline)) inline
#define RT_COLD RT_FN  // a call would put what it is given into local memory
#else
#define RT_FN __attribute__((always_inline)) inline
#define RT_COLD __attribute__((noinline, unused)) static
#endif

// For lambdas, after their parameters: g++ and clang would otherwise share one body among several calls.
#define RT_INLINE __attribute__((always_inline))

// In front of a loop that clang would otherwise write out (g++ does not, and warns where a loop is none after all).
#if defined(__clang__)
#define RT_ROLLED _Pragma("clang loop unroll(disable)")
#else
#define RT_ROLLED
#endif

// In front of a loop of a few steps over an array that is to stay in registers.
#if defined(__clang__) || defined(__CUDACC__)
#define RT_UNROLLED _Pragma("unroll")
#else
#define RT_UNROLLED
#endif

// For a function that takes next to no time, and what it is inlined into. (For aarch64 it would have clang outline
// parts of it.)
#if defined(__clang__) && defined(__x86_64__)
#define RT_OPTIMIZE_FOR_SIZE __attribute__((minsize))
#else
#define RT_OPTIMIZE_FOR_SIZE
#endif

// Whether a fused multiply-add is one instruction here. Where it is not, `fma` is a product and a sum: a software fma
// would be a call into libm, which generated kernels do not have.
#if defined(__FMA__) || defined(__NVPTX__) || defined(__CUDA_ARCH__) || defined(__aarch64__)
#define RT_HAS_FMA 1
#else
#define RT_HAS_FMA 0
#endif

// A vector wider than the target's registers has an ABI that depends on flags; all of this is inlined, so none is used.
// (g++ 12 adds a note for 128-byte vectors that only -Wno-psabi silences.)
#pragma GCC diagnostic ignored "-Wpsabi"

namespace rt {

using i8 = __INT8_TYPE__;
using i16 = __INT16_TYPE__;
using i32 = __INT32_TYPE__;
using i64 = __INT64_TYPE__;
using u8 = __UINT8_TYPE__;
using u16 = __UINT16_TYPE__;
using u32 = __UINT32_TYPE__;
using u64 = __UINT64_TYPE__;
using f32 = float;
using f64 = double;
constexpr i64 round_up_div(i64 a, i64 b) { return (a + b - 1) / b; }

struct c64 {  // which is moved alone
  f32 real, imaginary;
};
struct c128 {
  f64 real, imaginary;
};

template <class A, class B>
inline constexpr bool kSame = false;
template <class A>
inline constexpr bool kSame<A, A> = true;

template <bool C, class A, class B>
struct If {
  using type = A;
};
template <class A, class B>
struct If<false, A, B> {
  using type = B;
};
template <bool C, class A, class B>
using if_t = typename If<C, A, B>::type;

template <class T>
struct Bare {
  using type = T;
};
template <class T>
struct Bare<T&> : Bare<T> {};
template <class T>
struct Bare<T&&> : Bare<T> {};
template <class T>
struct Bare<const T> {
  using type = T;
};
template <class T>
using bare = typename Bare<T>::type;

// Integers by size; `long` and `long long` are one type here.
template <int Bytes, bool Signed>
struct IntOf;
template <>
struct IntOf<1, true> {
  using type = i8;
};
template <>
struct IntOf<2, true> {
  using type = i16;
};
template <>
struct IntOf<4, true> {
  using type = i32;
};
template <>
struct IntOf<8, true> {
  using type = i64;
};
template <>
struct IntOf<1, false> {
  using type = u8;
};
template <>
struct IntOf<2, false> {
  using type = u16;
};
template <>
struct IntOf<4, false> {
  using type = u32;
};
template <>
struct IntOf<8, false> {
  using type = u64;
};
template <class T>
using signed_of = typename IntOf<sizeof(T), true>::type;
template <class T>
using unsigned_of = typename IntOf<sizeof(T), false>::type;

template <class T>
inline constexpr bool kIsFloat = kSame<T, f32> || kSame<T, f64>;
template <class T>
inline constexpr bool kIsSigned = T(-1) < T(0);

template <class T>
struct Limits {  // of an integer
  static constexpr T lowest = kIsSigned<T> ? T(unsigned_of<T>(1) << (sizeof(T) * 8 - 1)) : T(0);
  static constexpr T highest = T(~lowest);
  static constexpr T min_identity = highest, max_identity = lowest;  // what Min and Max of nothing are
};
template <>
struct Limits<f32> {
  static constexpr f32 min_identity = __builtin_huge_valf(), max_identity = -__builtin_huge_valf();
};
template <>
struct Limits<f64> {
  static constexpr f64 min_identity = __builtin_huge_val(), max_identity = -__builtin_huge_val();
};
template <>
struct Limits<bool> {
  static constexpr bool min_identity = true, max_identity = false;
};

// What a kernel's lambda returns: one value an output.
template <class... T>
struct Tuple {};
template <class Head, class... Tail>
struct Tuple<Head, Tail...> {
  Head head;
  Tuple<Tail...> tail;
};

RT_FN constexpr Tuple<> tuple() { return {}; }
template <class Head, class... Tail>
RT_FN constexpr Tuple<Head, Tail...> tuple(Head head, Tail... tail) {
  return {head, rt::tuple(tail...)};
}

template <int I, class... T>
RT_FN constexpr auto get(const Tuple<T...>& t) {
  if constexpr (I == 0) {
    return t.head;
  } else {
    return get<I - 1>(t.tail);
  }
}
template <class... T>
RT_FN constexpr int size(const Tuple<T...>&) {
  return sizeof...(T);
}

}  // namespace rt
