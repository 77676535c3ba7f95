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
// ---- index arithmetic by a scalar divisor: one scalar division for W indices ----
template <int W>
struct Divided {
  vec<i64, W> quotient, remainder;
};
enum Rounding { TowardsZero, Down };
template <Rounding R, int W>
RT_COLD Divided<W> divide_slowly(i64 base, i64 stride, i64 by) {
  Divided<W> r{};
  for (int i = 0; i < W; ++i) {
    const i64 index = wrap_add(base, wrap_mul(stride, i));
    r.quotient[i] = R == Down ? floor_div(index, by) : div(index, by);
    r.remainder[i] = R == Down ? mod(index, by) : remainder(index, by);
  }
  return r;
}
template <Rounding R, int W>
RT_FN Divided<W> divide(Lanes<W> index, i64 by) {
  const i64 base = index.base;
  if (!(base >= 0 && base <= Limits<i64>::highest - W && by > 0)) [[unlikely]]
    return divide_slowly<R, W>(base, 1, by);
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
// The quotients inside the vector are those of numbers below 2^24, which f32 holds: by a reciprocal of 1 it is exact,
// by smaller ones off by less than 1, which the remainder shows.
template <Rounding R, int W>
RT_FN Divided<W> divide(Strided<W> index, i64 by) {
  constexpr i64 kMostStride = (1 << 23) / W, kMostDivisor = 1 << 23;
  const i64 base = index.base;
  const bool is_small = index.stride >= 0 && index.stride < kMostStride && by > 0 && by < kMostDivisor;
  if (!(is_small && base >= 0 && base <= Limits<i64>::highest - W * kMostStride)) [[unlikely]]
    return divide_slowly<R, W>(base, index.stride, by);
  const i64 q = i64(u64(base) / u64(by)), r = i64(u64(base) % u64(by));
  const vec<i32, W> at = i32(r) + i32(index.stride) * iota<vec<i32, W>>();
  vec<i32, W> steps = convert<i32>(vec<f32, W>(convert<f32>(at) * (1.0f / f32(by))));
  vec<i32, W> rest = at - steps * i32(by);
  const auto over = rest >= splat<vec<i32, W>>(i32(by)), under = rest < vec<i32, W>{};
  steps = steps - over + under;
  rest = rest - (over & i32(by)) + (under & i32(by));
  return {q + convert<i64>(steps), convert<i64>(rest)};
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
