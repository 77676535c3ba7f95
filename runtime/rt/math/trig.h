// sin, cos, tan. The argument is reduced in f64, for f32 too: three parts of pi/2 (Cody and Waite, as in fdlibm) up to
// 2^20 pi/2; beyond that, rarely and lane by lane, with the needed 192 bits of 2/pi (Payne and Hanek). f64 keeps the
// remainder as a pair, so that results near multiples of pi/2 stay accurate.
#pragma once
#include "core.h"

namespace rt {
namespace detail {

template <class V>
struct Angle {
  V hi, lo;
  like<u64, V> quadrant;
};  // x = quadrant pi/2 + hi + lo, the quadrant's low two bits count

inline constexpr f64 kAngleLimit = 0x1.921fb54442d18p20;
inline constexpr u64 kTwoOverPi[] = {0,
                                     0xa2f9836e4e441529,
                                     0xfc2757d1f534ddc0,
                                     0xdb6295993c439041,
                                     0xfe5163abdebbc561,
                                     0xb7246e3a424dd2e0,
                                     0x06492eea09d1921c,
                                     0xfe1deb1cb129a73e,
                                     0xe88235f52ebb4484,
                                     0xe99c7026b45f7e41,
                                     0x3991d639835339f4,
                                     0x9c845f8bbdf9283b,
                                     0x1ff897ffde05980f,
                                     0xef2f118b5a0a6d1f,
                                     0x6d367ecf27cb09b7,
                                     0x4f463f669e5fea2d,
                                     0x7527bac7ebe5f17b,
                                     0x3d0739f78a5292ea,
                                     0x6bfb5fb11f8d5d08,
                                     0x56033046fc7b6bab};

RT_FN u64 high_product(u64 a, u64 b) { return u64((unsigned __int128)(a)*b >> 64); }

RT_COLD Angle<f64> huge_angle(f64 x) {  // finite, |x| >= 2^20
  const u64 u = bits<u64>(x), m = (u & 0xfffffffffffffull) | 1ull << 52;
  const int e = int(u >> 52 & 0x7ff) - 1023 - 52;  // |x| = m 2^e
  // Of 2/pi only the bits matter that m 2^e does not lift to multiples of 4: 192 of them, the first weighing 2 / 2^e.
  const int at = e - 2 + 64, word = at >> 6, shift = at & 63;
  u64 w[3];
  for (int i = 0; i < 3; ++i) {
    w[i] = kTwoOverPi[word + i] << shift | (shift ? kTwoOverPi[word + i + 1] >> (64 - shift) : 0);
  }
  const u64 low = m * w[2], carry = high_product(m, w[2]), middle = m * w[1] + carry;
  const u64 top = m * w[0] + high_product(m, w[1]) + (middle < carry ? 1 : 0);
  // top:middle:low / 2^190 is x 2/pi modulo 4. Round to the nearest quadrant, keep the signed rest.
  u64 quadrant = top >> 62, a = top << 2 | middle >> 62, b = middle << 2 | low >> 62, c = low << 2;
  const bool up = a >> 63;
  if (up) {
    ++quadrant;
    a = ~a, b = ~b, c = ~c;  // one unit in 2^190 does not matter
  }
  int scaled = 0;
  for (; scaled < 128 && !(a >> 63); ++scaled) a = a << 1 | b >> 63, b = b << 1 | c >> 63, c <<= 1;
  const f64 unit = bits<f64>(u64(1023 - 64 - scaled) << 52), hi = f64(a & ~0x7ffull);
  const f64 lo = f64(a & 0x7ffull) + f64(b) * 0x1p-64;
  const auto p = exact_product(hi, 0x1.921fb54442d18p0);
  const f64 rest = p.lo + (hi * 0x1.1a62633145c07p-54 + lo * 0x1.921fb54442d18p0);
  const auto r = fast_sum(p.hi, rest);
  const bool negative = up != bool(u >> 63);
  const f64 sign = negative ? -unit : unit;
  return {r.hi * sign, r.lo * sign, u >> 63 ? 0 - quadrant : quadrant};
}

template <bool Precise, class V>
RT_FN Angle<V> reduce(V x) {
  using U = like<u64, V>;
  const V t = x * lit<V>(0x1.45f306dc9c883p-1) + lit<V>(0x1.8p52), n = t - lit<V>(0x1.8p52);
  Angle<V> r;
  r.quadrant = bits<U>(t);
  const V first = x - n * lit<V>(0x1.921fb544p0);  // both exact: 33 bits times 20
  if constexpr (Precise) {
    const auto second = exact_sum(first, V(n * lit<V>(-0x1.0b4611a6p-34)));
    const auto third = exact_sum(second.hi, V(n * lit<V>(-0x1.3198a2ep-69)));
    const V rest = second.lo + third.lo - n * lit<V>(0x1.b839a252049c1p-104);
    const auto sum = fast_sum(third.hi, rest);
    r.hi = sum.hi, r.lo = sum.lo;
  } else {
    r.hi = first - n * lit<V>(0x1.0b4611a626331p-34), r.lo = V{};
  }
  const V magnitude = absolute(x);
  const auto huge = condition(both(magnitude >= lit<V>(kAngleLimit), magnitude < infinity<V>()));
  if (any(huge)) [[unlikely]] {
    if constexpr (kLanes<V> == 0) {
      r = huge_angle(x);
    } else {
      RT_ROLLED
      for (int i = 0; i < kLanes<V>; ++i) {
        if (!huge.lanes[i]) continue;
        const auto one = huge_angle(x[i]);
        r.hi[i] = one.hi, r.lo[i] = one.lo, r.quadrant[i] = one.quadrant;
      }
    }
  }
  return r;
}

// Kernels on [-pi/4, pi/4]. Single: enough for f32. Each comes as a pair that is summed last.
template <bool Precise, class V>
RT_FN Pair<V> sin_near(V x, V low) {
  const V z = x * x, v = z * x;
  if constexpr (Precise) {
    const V r = poly(z, 0x1.5e1160a26f33bp-33, -0x1.ae60208765ed6p-26, 0x1.71de37b15adbbp-19, -0x1.a01a019ea0e33p-13,
                     0x1.1111111110c82p-7);
    return {x, low - z * (lit<V>(0.5) * low - v * r) + v * lit<V>(-0x1.5555555555555p-3)};
  } else {
    return {x, v * poly(z, 0x1.6dbdc46d0e87dp-19, -0x1.a013a6ebb25bbp-13, 0x1.11110deedf612p-7, -0x1.555555545e09bp-3)};
  }
}
template <bool Precise, class V>
RT_FN Pair<V> cos_near(V x, V low) {
  const V z = x * x, half = z * lit<V>(0.5), w = lit<V>(1) - half;
  if constexpr (Precise) {
    const V r = z * poly(z, -0x1.90739a4174b25p-37, 0x1.1eeb57fe6ff9p-29, -0x1.27e4fa031c92bp-22, 0x1.a01a019f38706p-16,
                         -0x1.6c16c16c168cbp-10, 0x1.5555555555555p-5);
    return {w, ((lit<V>(1) - w) - half) + (z * r - x * low)};
  } else {
    return {
        w,
        z * z * poly(z, -0x1.25241a7fabe12p-22, 0x1.a015c3f5c7defp-16, -0x1.6c16bf549cbafp-10, 0x1.5555555502c8fp-5)};
  }
}

template <bool Precise, class V>
RT_FN V sin_turned(V x, u64 quarters) {  // sin(x + quarters pi/2)
  using U = like<u64, V>;
  const auto a = reduce<Precise>(x);
  const auto s = sin_near<Precise>(a.hi, a.lo), c = cos_near<Precise>(a.hi, a.lo);
  const U quadrant = a.quadrant + quarters;
  const V r = (quadrant & 1ull) != U{} ? V(c.hi + c.lo) : V(s.hi + s.lo);
  return bits<V>(U(bits<U>(r) ^ ((quadrant & 2ull) << 62)));
}

template <bool Precise, class V>
RT_FN V tan_turned(V x) {
  using U = like<u64, V>;
  const auto a = reduce<Precise>(x);
  const auto s = sin_near<Precise>(a.hi, a.lo), c = cos_near<Precise>(a.hi, a.lo);
  const auto odd = (a.quadrant & 1ull) != U{};
  const auto p = fast_sum(odd ? V(-c.hi) : s.hi, odd ? V(-c.lo) : s.lo);
  const auto q = fast_sum(odd ? s.hi : c.hi, odd ? s.lo : c.lo);
  const V ratio = p.hi / q.hi;
  if constexpr (Precise) {
    const auto back = exact_product(ratio, q.hi);
    return ratio + ((p.hi - back.hi) - back.lo + (p.lo - ratio * q.lo)) / q.hi;
  } else {
    return ratio;
  }
}

}  // namespace detail

template <Floats V>
RT_FN V sin(V x) {
  using namespace detail;
  V r;
  if constexpr (kSingle<V>) {
    r = through_f64([](auto d) RT_INLINE { return sin_turned<false>(d, 0); }, x);
  } else {
    r = sin_turned<true>(x, 0);
  }
  return x == V{} ? x : r;  // -0
}

template <Floats V>
RT_FN V cos(V x) {
  using namespace detail;
  if constexpr (kSingle<V>) {
    return through_f64([](auto d) RT_INLINE { return sin_turned<false>(d, 1); }, x);
  } else {
    return sin_turned<true>(x, 1);
  }
}

template <Floats V>
RT_FN V tan(V x) {
  using namespace detail;
  V r;
  if constexpr (kSingle<V>) {
    r = through_f64([](auto d) RT_INLINE { return tan_turned<false>(d); }, x);
  } else {
    r = tan_turned<true>(x);
  }
  return x == V{} ? x : r;
}

}  // namespace rt
