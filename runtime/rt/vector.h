// Values that are W wide: vec<T, W> (a plain vector type of clang and g++), mask<W> (a condition a lane), and the two
// index forms that stay cheap: Lanes<W> (consecutive) and Strided<W> (equally spaced). Everything a kernel's lambda
// says works on scalars and on these; `Meet` finds the common width and element of two operands, `widen` brings them
// there.
#pragma once
#include "types.h"

namespace rt {

template <class T, int W>
struct VecOf {
  typedef T type __attribute__((vector_size(sizeof(T) * W)));
};
template <class T, int W>
using vec = typename VecOf<T, W>::type;

// One byte a lane, 0 or -1, whatever was compared: clang sees through the narrowing and keeps it in a mask register.
template <int W>
struct mask {
  vec<i8, W> lanes;
};

// A register's bytes.
#if defined(__AVX512F__)
inline constexpr int kVectorBytes = 64;
#elif defined(__AVX__)
inline constexpr int kVectorBytes = 32;
#else
inline constexpr int kVectorBytes = 16;
#endif

// How many of W lanes a loop takes at once. clang splits a vector that is wider than a register by itself; g++ keeps it
// in memory wherever a loop carries it, so there a loop takes what one register has of 32-bit lanes.
#if defined(__clang__)
template <int W>
inline constexpr int kAtOnce = W;
#else
template <int W>
inline constexpr int kAtOnce = W * 4 < kVectorBytes ? W : kVectorBytes / 4;
#endif

template <int W>
struct Strided {
  i64 base, stride;
};  // base, base + stride, ...
template <int W>
struct Lanes {
  i64 base;
};  // base, base + 1, ...

// ---- what a value is: its element and how many lanes (0: a scalar) ----
template <class X>
X& ref();
template <class X>
struct Traits {  // a native vector
  using Element = bare<decltype(ref<X>()[0])>;
  static constexpr int lanes = sizeof(X) / sizeof(Element);
};
template <class T>
struct ScalarTraits {
  using Element = T;
  static constexpr int lanes = 0;
};
template <>
struct Traits<bool> : ScalarTraits<bool> {};
template <>
struct Traits<float> : ScalarTraits<float> {};
template <>
struct Traits<double> : ScalarTraits<double> {};
template <>
struct Traits<char> : ScalarTraits<IntOf<1, kIsSigned<char>>::type> {};
template <>
struct Traits<signed char> : ScalarTraits<i8> {};
template <>
struct Traits<unsigned char> : ScalarTraits<u8> {};
template <>
struct Traits<short> : ScalarTraits<i16> {};
template <>
struct Traits<unsigned short> : ScalarTraits<u16> {};
template <>
struct Traits<int> : ScalarTraits<i32> {};
template <>
struct Traits<unsigned> : ScalarTraits<u32> {};
template <>
struct Traits<long> : ScalarTraits<signed_of<long>> {};
template <>
struct Traits<unsigned long> : ScalarTraits<unsigned_of<long>> {};
template <>
struct Traits<long long> : ScalarTraits<i64> {};
template <>
struct Traits<unsigned long long> : ScalarTraits<u64> {};
template <int W>
struct Traits<mask<W>> {
  using Element = bool;
  static constexpr int lanes = W;
};
template <int W>
struct Traits<Lanes<W>> {
  using Element = i64;
  static constexpr int lanes = W;
};
template <int W>
struct Traits<Strided<W>> : Traits<Lanes<W>> {};

template <class X>
using element_of = typename Traits<bare<X>>::Element;
template <class X>
inline constexpr int kLanes = Traits<bare<X>>::lanes;

template <class X>
inline constexpr bool kIsLanes = false;
template <int W>
inline constexpr bool kIsLanes<Lanes<W>> = true;
template <class X>
inline constexpr bool kIsStrided = false;
template <int W>
inline constexpr bool kIsStrided<Strided<W>> = true;
template <class X>
inline constexpr bool kIsIndex = kIsLanes<X> || kIsStrided<X>;
template <class X>
inline constexpr bool kIsBool = kSame<element_of<X>, bool>;

template <class T, int W>
struct ValueOf {
  using type = vec<T, W>;
};
template <class T>
struct ValueOf<T, 0> {
  using type = T;
};
template <int W>
struct ValueOf<bool, W> {
  using type = mask<W>;
};
template <>
struct ValueOf<bool, 0> {
  using type = bool;
};
template <class T, int W>
using value_of = typename ValueOf<T, W>::type;  // T in W lanes; 0 lanes: T itself
template <class T, class X>
using like = value_of<T, kLanes<X>>;  // T, as wide as X

// ---- moving between forms ----
template <class To, class X>
RT_FN To bits(X x) {  // the same bytes
  if constexpr (kLanes<To> == 0) {
    return __builtin_bit_cast(To, x);
  } else {
    return (To)x;
  }
}
template <class T, class X>
RT_FN like<T, X> convert(X x) {  // C's conversion of each lane; the caller keeps it defined
  if constexpr (kLanes<X> == 0) {
    return static_cast<T>(x);
  } else if constexpr (kSame<element_of<X>, T>) {
    return x;
  } else {
    return __builtin_convertvector(x, like<T, X>);
  }
}
template <class V>
RT_FN V splat(element_of<V> x) {
  if constexpr (kLanes<V> == 0) {
    return x;
  } else if constexpr (kIsBool<V>) {
    return {i8(-i8(x)) - decltype(V::lanes){}};
  } else {
    return x - V{};  // one broadcast; `V{} + x` would add under strict floating point
  }
}
template <class V>
RT_FN V iota() {  // 0, 1, 2, ...
  V v{};
  for (int i = 0; i < kLanes<V>; ++i) v[i] = element_of<V>(i);
  return v;
}
template <int W>
RT_FN vec<i64, W> general(Lanes<W> x) {
  return x.base + iota<vec<i64, W>>();
}
template <int W>
RT_FN vec<i64, W> general(Strided<W> x) {
  return bits<vec<i64, W>>(u64(x.base) + u64(x.stride) * iota<vec<u64, W>>());
}
template <class V>
RT_FN V general(V x) {
  return x;
}

template <class R, class X>
RT_FN R widen(X x) {
  if constexpr (kSame<R, X>) {
    return x;
  } else if constexpr (kLanes<X> == 0) {
    return splat<R>(static_cast<element_of<R>>(x));
  } else {
    return convert<element_of<R>>(general(x));
  }
}

// ---- the common type of two operands: as in C, but small integers stay small and nothing mixes silently ----
template <class A, class B>
struct CommonElement {
  static_assert(!kSame<A, bool> && !kSame<B, bool>, "a condition mixed with a number: cast it first");
  static_assert(!(kIsFloat<A> && kIsFloat<B>), "f32 mixed with f64: cast one first");
  static constexpr bool first =
      kIsFloat<A> || (!kIsFloat<B> && (sizeof(A) > sizeof(B) || (sizeof(A) == sizeof(B) && !kIsSigned<A>)));
  using type = if_t<first, A, B>;
};
template <class A>
struct CommonElement<A, A> {
  using type = A;
};
template <class A, class B>
struct Meet {
  static_assert(kLanes<A> == 0 || kLanes<B> == 0 || kLanes<A> == kLanes<B>, "operands of different widths");
  static constexpr int lanes = kLanes<A> ? kLanes<A> : kLanes<B>;
  using type = value_of<typename CommonElement<element_of<A>, element_of<B>>::type, lanes>;
};
template <class A>
struct Meet<A, A> {
  using type = like<element_of<A>, A>;
};
template <class A, class B>
using meet = typename Meet<A, B>::type;

// ---- conditions ----
template <class C>
RT_FN auto condition(C c) {  // bool or mask<W> from a bool, a mask, or what a native comparison gave
  if constexpr (kLanes<C> == 0) {
    return static_cast<bool>(c);
  } else if constexpr (kIsBool<C>) {
    return c;
  } else {
    return mask<kLanes<C>>{__builtin_convertvector(c != C{}, vec<i8, kLanes<C>>)};
  }
}
template <class V, int W>
RT_FN auto native(mask<W> m) {  // the mask as V's own comparisons would give it
  return __builtin_convertvector(m.lanes, like<signed_of<element_of<V>>, V>);
}
template <class V>
RT_FN bool native(bool m) {
  return m;
}

RT_FN bool all(bool c) { return c; }
RT_FN bool any(bool c) { return c; }
template <int W>
RT_FN bool all(mask<W> m) {
#if defined(__clang__)
  return __builtin_reduce_and(m.lanes) != 0;
#else
  i8 r = -1;
  for (int i = 0; i < W; ++i) r &= m.lanes[i];
  return r != 0;
#endif
}
template <int W>
RT_FN bool any(mask<W> m) {
#if defined(__clang__)
  return __builtin_reduce_or(m.lanes) != 0;
#else
  i8 r = 0;
  for (int i = 0; i < W; ++i) r |= m.lanes[i];
  return r != 0;
#endif
}

// One lane of anything: a scalar is the same in every lane.
template <class X>
RT_FN element_of<X> lane(X x, int i) {
  if constexpr (kLanes<X> == 0) {
    return x;
  } else if constexpr (kIsLanes<X>) {
    return x.base + i;
  } else if constexpr (kIsStrided<X>) {
    return i64(u64(x.base) + u64(x.stride) * u64(i));
  } else if constexpr (kIsBool<X>) {
    return x.lanes[i] != 0;
  } else {
    return x[i];
  }
}

}  // namespace rt
