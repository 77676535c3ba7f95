// Index arithmetic: Lanes and Strided stay what they are as long as the result is affine, so that a load can see that
// it is contiguous; everything else becomes a general vector of i64. Dividing consecutive indices by a scalar costs one
// scalar division. Total: indices wrap, x/0 = 0.
#pragma once
#include "elementwise.h"

namespace rt {
// ---- index arithmetic: stays Lanes or Strided as long as it is affine ----
namespace detail {
template <int W, class X>
RT_FN Strided<W> affine(X x) {
  if constexpr (kIsLanes<X>) {
    return {x.base, 1};
  } else if constexpr (kIsStrided<X>) {
    return x;
  } else {
    return {i64(x), 0};
  }
}
template <class A, class B>
inline constexpr int kWidth = kLanes<A> ? kLanes<A> : kLanes<B>;
template <class X>
inline constexpr bool kIsAffine = kIsIndex<X> || kLanes<X> == 0;
RT_FN i64 wrap_add(i64 a, i64 b) { return i64(u64(a) + u64(b)); }
RT_FN i64 wrap_sub(i64 a, i64 b) { return i64(u64(a) - u64(b)); }
RT_FN i64 wrap_mul(i64 a, i64 b) { return i64(u64(a) * u64(b)); }
}  // namespace detail

template <class A, class B>
  requires(kIsIndex<A> || kIsIndex<B>)
RT_FN auto operator+(A a, B b) {
  constexpr int W = detail::kWidth<A, B>;
  if constexpr (kIsLanes<A> && kLanes<B> == 0) {
    return Lanes<W>{detail::wrap_add(a.base, b)};
  } else if constexpr (kIsLanes<B> && kLanes<A> == 0) {
    return Lanes<W>{detail::wrap_add(a, b.base)};
  } else if constexpr (detail::kIsAffine<A> && detail::kIsAffine<B>) {
    const auto p = detail::affine<W>(a), q = detail::affine<W>(b);
    return Strided<W>{detail::wrap_add(p.base, q.base), detail::wrap_add(p.stride, q.stride)};
  } else {
    return bits<vec<i64, W>>(widen<vec<u64, W>>(a) + widen<vec<u64, W>>(b));
  }
}
template <class A, class B>
  requires(kIsIndex<A> || kIsIndex<B>)
RT_FN auto operator-(A a, B b) {
  constexpr int W = detail::kWidth<A, B>;
  if constexpr (kIsLanes<A> && kLanes<B> == 0) {
    return Lanes<W>{detail::wrap_sub(a.base, b)};
  } else if constexpr (detail::kIsAffine<A> && detail::kIsAffine<B>) {
    const auto p = detail::affine<W>(a), q = detail::affine<W>(b);
    return Strided<W>{detail::wrap_sub(p.base, q.base), detail::wrap_sub(p.stride, q.stride)};
  } else {
    return bits<vec<i64, W>>(widen<vec<u64, W>>(a) - widen<vec<u64, W>>(b));
  }
}
template <class A, class B>
  requires(kIsIndex<A> || kIsIndex<B>)
RT_FN auto operator*(A a, B b) {
  constexpr int W = detail::kWidth<A, B>;
  if constexpr (kLanes<B> == 0) {
    const auto p = detail::affine<W>(a);
    return Strided<W>{detail::wrap_mul(p.base, b), detail::wrap_mul(p.stride, b)};
  } else if constexpr (kLanes<A> == 0) {
    return b * a;
  } else {
    return bits<vec<i64, W>>(widen<vec<u64, W>>(a) * widen<vec<u64, W>>(b));
  }
}
template <class A>
  requires(kIsIndex<A>)
RT_FN auto operator-(A a) {
  return i64(0) - a;
}

namespace detail {
// ---- index arithmetic by a scalar divisor: one scalar division for W consecutive indices ----
template <int W>
struct Divided {
  vec<i64, W> quotient, remainder;
};
template <int W>
RT_COLD Divided<W> divide_slowly(i64 base, i64 by) {
  Divided<W> r{};
  for (int i = 0; i < W; ++i) {
    r.quotient[i] = div(wrap_add(base, i), by);
    r.remainder[i] = remainder(wrap_add(base, i), by);
  }
  return r;
}
template <int W>
RT_FN bool divides_simply(i64 base, i64 by) {
  return base >= 0 && base <= Limits<i64>::highest - W && by > 0;
}
template <int W>
RT_FN Divided<W> divide(i64 base, i64 by) {  // truncating
  if (!divides_simply<W>(base, by)) [[unlikely]]
    return divide_slowly<W>(base, by);
  const i64 q = i64(u64(base) / u64(by)), r = i64(u64(base) % u64(by));
  const vec<i64, W> at = r + iota<vec<i64, W>>();
  if (by >= W) {  // at most one step inside the vector
    const auto over = at >= splat<vec<i64, W>>(by);
    return {q - over, at - (over & by)};
  }
  const vec<u32, W> small = u32(r) + iota<vec<u32, W>>();  // below 2 W: a 16-bit reciprocal is exact
  const vec<u32, W> steps = small * u32(65536 / by + 1) >> 16;
  return {q + convert<i64>(steps), convert<i64>(vec<u32, W>(small - steps * u32(by)))};
}
template <int W>
RT_COLD Divided<W> divide_down_slowly(i64 base, i64 by) {
  Divided<W> r{};
  for (int i = 0; i < W; ++i) {
    r.quotient[i] = floor_div(wrap_add(base, i), by);
    r.remainder[i] = mod(wrap_add(base, i), by);
  }
  return r;
}
template <int W>
RT_FN Divided<W> divide_down(i64 base, i64 by) {
  if (!divides_simply<W>(base, by)) [[unlikely]]
    return divide_down_slowly<W>(base, by);
  return divide<W>(base, by);
}

// Which of base, base + 1, ... are < bound, or <= bound where `including` is 1: the first so many lanes.
template <int W>
RT_FN mask<W> first_lanes(i64 base, i64 bound, int including) {
  const u64 distance = u64(bound) - u64(base);
  const u64 count = base > bound ? 0 : distance < W ? distance + u64(including) : u64(W);
  return {iota<vec<i8, W>>() < splat<vec<i8, W>>(i8(count))};
}
}  // namespace detail
}  // namespace rt
