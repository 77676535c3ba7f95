// asin, acos, atan, atan2, after fdlibm's reductions: atan turns its argument towards the nearest of 0, 1/2, 1, 3/2 and
// infinity; asin near 1 works on sqrt((1 - x) / 2), kept as a pair. f32 is turned towards 0, 1 and infinity, as Cephes
// (Moshier) does, and has polynomials of its own; atan2 of f32 goes through f64.
#pragma once
#include "core.h"

namespace rt {
namespace detail {

template <class V>
RT_FN Pair<V> quarter_turn() {  // pi / 2, and what that is rounded by
  return {lit<V>(kSingle<V> ? 0x1.921fb6p0 : 0x1.921fb54442d18p0),
          lit<V>(kSingle<V> ? -0x1.777a5cp-25 : 0x1.1a62633145c07p-54)};
}

template <class V>
RT_FN V atan_pair(V x, V low) {  // f64: atan(x + low)
  const V a = absolute(x);
  const auto pick = [&](f64 zero, f64 half, f64 one, f64 more, f64 far) RT_INLINE {
    const V small = a < lit<V>(0.4375) ? lit<V>(zero) : V(a < lit<V>(0.6875) ? lit<V>(half) : lit<V>(one));
    return a < lit<V>(1.1875) ? small : V(a < lit<V>(2.4375) ? lit<V>(more) : lit<V>(far));
  };
  const V from = pick(0, 0.5, 1, 1.5, 0);
  const auto far = a >= lit<V>(2.4375);
  const V up = far ? lit<V>(-1) : V(a - from), down = far ? a : V(lit<V>(1) + from * a);
  const V t = up / down, z = t * t;
  const V r = t * z *
              poly(z, 0x1.de6c96edfac61p-7, -0x1.0dd0463d290e3p-5, 0x1.6f3f00b35793ap-5, -0x1.ab240e44481f6p-5,
                   0x1.e16732241983ap-5, -0x1.110c1604bc42bp-4, 0x1.3b136bc5ea83ep-4, -0x1.745d14d18f543p-4,
                   0x1.c71c71b9907e5p-4, -0x1.249249247dc55p-3, 0x1.99999999997dbp-3, -0x1.5555555555555p-2);
  const V hi = pick(0, 0x1.dac670561bb4fp-2, 0x1.921fb54442d18p-1, 0x1.f730bd281f69bp-1, 0x1.921fb54442d18p0);
  const V lo = pick(0, 0x1.a2b7f222f65e2p-56, 0x1.1a62633145c07p-55, 0x1.007887af0cbbdp-56, 0x1.1a62633145c07p-54);
  const V slope = low / (lit<V>(1) + a * a);
  const V sum = hi + (t + (r + (lo + slope)));
  return copy_sign(sum, x);
}

template <class V>
struct ArcParts {
  V s, low, r;
};  // asin(|x|) or asin(sqrt((1-|x|)/2)) is s + low + r
template <class V>
RT_FN ArcParts<V> arc_parts(V a) {
  const auto near = a < lit<V>(0.5);
  const V z = near ? V(a * a) : V((lit<V>(1) - a) * lit<V>(0.5));
  const V s = near ? a : root(z);
  const auto square = exact_product(s, s);
  const V rest = ((z - square.hi) - square.lo) / (s + s);
  const V p = z * poly(z, 0x1.dc1ed2d47ec25p-6, -0x1.f59f4217446a4p-7, 0x1.220b0e51a6c25p-6, 0x1.5e20fa904ad6p-8,
                       0x1.532b7505dfe55p-7, 0x1.7800e18da605bp-7, 0x1.c9d30dd029b0cp-7, 0x1.1c4d1115982f4p-6,
                       0x1.6e8bb375f8ee1p-6, 0x1.f1c71c11dac72p-6, 0x1.6db6db6e48643p-5, 0x1.3333333332da2p-4,
                       0x1.5555555555556p-3);
  const V low = near ? V{} : V(s == V{} ? V{} : rest);
  return {s, low, s * p};
}
template <class V>
RT_FN V asin_f64(V x) {
  const V a = absolute(x);
  const auto p = arc_parts(a);
  const auto turn = quarter_turn<V>();
  const auto head = exact_sum(turn.hi, V(p.s * lit<V>(-2)));
  const V far = head.hi + (head.lo + (turn.lo - lit<V>(2) * (p.low + p.r)));
  return copy_sign(a < lit<V>(0.5) ? V(a + p.r) : far, x);
}
template <class V>
RT_FN V acos_f64(V x) {
  const V a = absolute(x);
  const auto p = arc_parts(a);
  const auto turn = quarter_turn<V>();
  const auto near = exact_sum(turn.hi, V(-x));
  const V middle = near.hi + (near.lo + (turn.lo - copy_sign(p.r, x)));
  const V right = lit<V>(2) * (p.s + (p.low + p.r));
  const auto head = exact_sum(turn.hi, V(-p.s));
  const V left = lit<V>(2) * (head.hi + (head.lo + (turn.lo - (p.low + p.r))));
  return a < lit<V>(0.5) ? middle : V(x > V{} ? right : left);
}
template <class V>
RT_FN V atan2_f64(V y, V x) {
  const V a = absolute(y), b = absolute(x);
  const V ratio = a / b;
  const auto back = exact_product(ratio, b);
  const V rest = ((a - back.hi) - back.lo) / b;  // what the quotient lost
  const auto middling = both(ratio > lit<V>(0x1p-960), ratio < lit<V>(0x1p960));
  const auto plain = both(both(middling, a > lit<V>(0x1p-960)), absolute(rest) < ratio);  // else `rest` may be noise
  const auto both_infinite = both(a == infinity<V>(), b == infinity<V>());
  const V q = both_infinite ? lit<V>(1) : V(both(a == V{}, b == V{}) ? V{} : ratio);
  const V angle = atan_pair(q, V(plain ? rest : V{}));
  const auto left = copy_sign(lit<V>(1), x) < V{};
  const V turned = lit<V>(0x1.921fb54442d18p1) - (angle - lit<V>(0x1.1a62633145c07p-53));
  return either(x != x, y != y) ? V(x + y) : copy_sign(left ? turned : angle, y);
}

template <class V>
RT_FN V atan_f32(V x) {  // t is a, (a - 1) / (a + 1) or -1 / a
  const V a = absolute(x);
  const auto far = a > lit<V>(2.4), middle = a > lit<V>(0.5);
  const V up = far ? lit<V>(-1) : V(middle ? V(a - lit<V>(1)) : a);
  const V down = far ? a : V(middle ? V(a + lit<V>(1)) : lit<V>(1));
  const V t = up / down, z = t * t;
  const auto turn = quarter_turn<V>();
  const V hi = far ? turn.hi : V(middle ? V(lit<V>(0.5) * turn.hi) : V{});
  const V lo = far ? turn.lo : V(middle ? V(lit<V>(0.5) * turn.lo) : V{});
  const V p = poly(z, -0x1.a44924p-5, 0x1.a01b18p-4, -0x1.224cbap-3, 0x1.997b4p-3, -0x1.555512p-2);
  const auto sum = fast_sum(hi, t);
  return copy_sign(V(sum.hi + (sum.lo + fma(V(t * z), p, lo))), x);
}
template <class V>
RT_FN ArcParts<V> arc_parts_f32(V a) {  // `low` is 0
  const auto near = a < lit<V>(0.5);
  const V z = near ? V(a * a) : V((lit<V>(1) - a) * lit<V>(0.5)), s = near ? a : root(z);
  const V p = poly(z, 0x1.599f3p-5, 0x1.8bf124p-6, 0x1.748376p-5, 0x1.3301b4p-4, 0x1.5555cap-3);
  return {s, V{}, V(s * z) * p};
}
template <class V>
RT_FN V asin_f32(V x) {
  const V a = absolute(x);
  const auto p = arc_parts_f32(a);
  const auto turn = quarter_turn<V>();
  const auto head = fast_sum(turn.hi, V(p.s * lit<V>(-2)));
  const V far = head.hi + (head.lo + fma(lit<V>(-2), p.r, turn.lo));
  return copy_sign(a < lit<V>(0.5) ? V(a + p.r) : far, x);
}
template <class V>
RT_FN V acos_f32(V x) {
  const V a = absolute(x);
  const auto p = arc_parts_f32(a);
  const auto turn = quarter_turn<V>();
  const V middle = turn.hi - (x + (copy_sign(p.r, x) - turn.lo));
  const V right = lit<V>(2) * (p.s + p.r);
  const V left = fma(lit<V>(-2), p.s, V(lit<V>(2) * turn.hi)) - lit<V>(2) * (p.r - turn.lo);
  return a < lit<V>(0.5) ? middle : V(x > V{} ? right : left);
}

}  // namespace detail

template <Floats V>
RT_FN V asin(V x) {
  using namespace detail;
  if constexpr (kSingle<V>) {
    return asin_f32(x);
  } else {
    return asin_f64(x);
  }
}

template <Floats V>
RT_FN V acos(V x) {
  using namespace detail;
  if constexpr (kSingle<V>) {
    return acos_f32(x);
  } else {
    return acos_f64(x);
  }
}

template <Floats V>
RT_FN V atan(V x) {
  using namespace detail;
  if constexpr (kSingle<V>) {
    return atan_f32(x);
  } else {
    return atan_pair(x, V{});
  }
}

template <class A, class B>
RT_FN auto atan2(A a, B b) {
  using namespace detail;
  using V = meet<A, B>;
  const V y = widen<V>(a), x = widen<V>(b);
  if constexpr (kSingle<V>) {
    return through_f64([](auto p, auto q) RT_INLINE { return atan2_f64(p, q); }, y, x);
  } else {
    return atan2_f64(y, x);
  }
}

}  // namespace rt
