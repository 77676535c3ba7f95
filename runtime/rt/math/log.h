// log, log2, log1p. x = 2^e m with m around 1, f = m - 1; log(m) = f + tail(f), where f32 uses a polynomial and f64 the
// series in s = f / (2 + f) as fdlibm does; the parts are added from the small to the large. Denormals are scaled
// first.
#pragma once
#include "core.h"

namespace rt {
namespace detail {

template <class V>
struct LogParts {
  V e, f;
};  // x = 2^e (1 + f)

template <bool MayBeTiny = true, class V>
RT_FN LogParts<V> split(V x) {
  using U = words<V>;
  using E = element_of<U>;
  constexpr E one = E(format<V>::bias) << format<V>::mantissa;
  constexpr E start = kSingle<V> ? E(0x3f2aaaab) : E(0x3fe6a09e667f3bcdull);  // m from 2/3 or sqrt(1/2) to twice that
  const auto tiny = x < lit<V>(format<V>::smallest);
  const U u = bits<U>(MayBeTiny ? V(tiny ? V(x * lit<V>(0x1p60)) : x) : x) + E(one - start);
  // The exponent becomes a float by standing in the mantissa of 2^23 or 2^52.
  constexpr f64 base = kSingle<V> ? 0x1p23 : 0x1p52;
  const V e = bits<V>(U((u >> format<V>::mantissa) | bits<E>(element_of<V>(base)))) - lit<V>(base + format<V>::bias);
  const V m = bits<V>(U((u & ((E(1) << format<V>::mantissa) - 1)) + start));
  return {MayBeTiny ? V(tiny ? V(e - lit<V>(60)) : e) : e, m - lit<V>(1)};
}

template <class V>
RT_FN V log_tail(V f) {  // log(1 + f) - f
  if constexpr (kSingle<V>) {
    const V p = poly(f, 0x1.ea92cap-4, -0x1.fd1b86p-4, 0x1.b92aa6p-4, -0x1.f74aaap-4, 0x1.24e842p-3, -0x1.55788ep-3,
                     0x1.999816p-3, -0x1.ffffb4p-3, 0x1.555556p-2);
    const V square = f * f;
    return fma(V(f * square), p, V(square * lit<V>(-0.5)));
  } else {
    const V s = f / (lit<V>(2) + f), z = s * s, half_square = f * f * lit<V>(0.5);
    const V p = z * poly(z, 0x1.2b5d2f49cea7bp-3, 0x1.39fdf803d7801p-3, 0x1.7462b7d8ce97dp-3, 0x1.c71c62dab0edep-3,
                         0x1.2492492df8654p-2, 0x1.99999999952d1p-2, 0x1.5555555555558p-1);
    return s * (half_square + p) - half_square;
  }
}

template <class V>
RT_FN V log_join(V e, V f, V small) {                                       // e ln2 + f + small
  constexpr element_of<V> high = kSingle<V> ? 0x1.63p-1 : 0x1.62e42feep-1;  // e * high is exact
  constexpr element_of<V> low = kSingle<V> ? -0x1.bd0106p-13 : 0x1.a39ef35793c76p-33;
  const V h = e * lit<V>(high);
  const auto sum = fast_sum(h, f);
  return sum.hi + (sum.lo + fma(e, lit<V>(low), small));
}

// The values where the formula does not hold: 0, infinity, negative numbers, NaN.
template <class V>
RT_FN V log_edges(V x, V r) {
  const V outside = x == V{} ? V(-infinity<V>()) : lit<V>(format<V>::nan);
  return x > V{} ? V(x < infinity<V>() ? r : x) : outside;
}

// log(u + lost), |lost| at most a rounding of u, which is positive and not tiny.
template <class V>
RT_FN V log_sum(V u, V lost) {
  using U = words<V>;
  const auto p = split<false>(u);
  // lost / u: 1/u is 2^-e (1 - f), near enough since it only weighs the rest of a rounding.
  const U e = bits<U>(V(p.e + lit<V>(format<V>::magic))) - bits<U>(lit<V>(format<V>::magic));
  const V power = power_of_two<V>(U(-e));
  const V inverse = u < lit<V>(0x1p100) ? V(power * (lit<V>(1) - p.f)) : V{};  // `power` ends where the exponents do
  return log_join(p.e, p.f, V(log_tail(p.f) + lost * inverse));
}

// log(1 + x + low), |low| far below |x|.
template <class V>
RT_FN V log1p_pair(V x, V low) {
  const auto u = exact_sum(lit<V>(1), x);
  const V edge = log_edges(u.hi, log_sum(u.hi, V(u.lo + low)));
  return x == V{} ? x : edge;
}

}  // namespace detail

template <Floats V>
RT_FN V log(V x) {
  const auto p = detail::split(x);
  return detail::log_edges(x, detail::log_join(p.e, p.f, detail::log_tail(p.f)));
}

template <Floats V>
RT_FN V log1p(V x) {
  return detail::log1p_pair(x, V{});
}

template <Floats V>
RT_FN V log2(V x) {
  using namespace detail;
  const auto p = split(x);
  const auto y = fast_sum(p.f, log_tail(p.f));
  constexpr element_of<V> high = kSingle<V> ? 0x1.714p0 : 0x1.7154760p0;  // high, and the head of y, have half the bits
  constexpr element_of<V> low = kSingle<V> ? 0x1.47652cp-12 : 0x1.4ae0bf85ddf44p-26;
  const V h = head(y.hi), rest = (y.hi - h) + y.lo;
  const auto sum = fast_sum(p.e, V(h * lit<V>(high)));
  const V small = rest * lit<V>(high) + (h + rest) * lit<V>(low);
  return log_edges(x, V(sum.hi + (sum.lo + small)));
}

}  // namespace rt
