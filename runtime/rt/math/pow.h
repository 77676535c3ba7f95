// pow. f64: log2|x| as a pair of about 66 bits (s = f / (2 + f), its first two terms in pairs), times y, then exp2. f32
// uses f64's log2 and exp2. Signs, zeros, infinities and NaN as IEEE 754 asks. Integers: by squaring, wrapping; a
// negative exponent gives 0 (0 to it too), except for bases 1 and -1.
#pragma once
#include "exp.h"
#include "log.h"

namespace rt {
namespace detail {

template <class V>
RT_FN Pair<V> log2_pair(V x) {  // f64, x > 0 and finite
  const auto p = split(x);
  const auto under = fast_sum(lit<V>(2), p.f);
  const V s = p.f / under.hi;
  const auto back = exact_product(s, under.hi);
  const V s_low = ((p.f - back.hi) - back.lo - s * under.lo) / under.hi;
  auto z = exact_product(s, s);
  z.lo = z.lo + lit<V>(2) * s * s_low;
  const V more =
      z.hi * poly(z.hi, 0x1.da9aa9cbdf85p-4, 0x1.e01a7efca072bp-4, 0x1.11154be1785ccp-3, 0x1.3b13a9e53da5cp-3,
                  0x1.745d173ca3ea2p-3, 0x1.c71c71c74cc3fp-3, 0x1.24924924922fdp-2, 0x1.999999999999ap-2);
  const auto c = fast_sum(lit<V>(0x1.5555555555555p-1), V(lit<V>(0x1.5555555555555p-55) + more));  // 2/3 + ..
  auto cz = exact_product(c.hi, z.hi);
  cz.lo = cz.lo + (c.hi * z.lo + c.lo * z.hi);
  auto term = exact_product(cz.hi, s);
  term.lo = term.lo + (cz.hi * s_low + cz.lo * s);
  auto log = fast_sum(V(lit<V>(2) * s), term.hi);  // log(m) = 2 s + s z (2/3 + ..)
  log.lo = log.lo + (lit<V>(2) * s_low + term.lo);
  auto scaled = exact_product(log.hi, lit<V>(0x1.71547652b82fep0));
  scaled.lo = scaled.lo + (log.hi * lit<V>(0x1.777d0ffda0d24p-56) + log.lo * lit<V>(0x1.71547652b82fep0));
  const auto sum = fast_sum(p.e, scaled.hi);
  return {sum.hi, sum.lo + scaled.lo};
}

template <class V>
RT_FN V pow_magnitude(V a, V y) {  // f64: 2^(y log2 a), a >= 0
  const auto log = log2_pair(a);
  const V high = a == V{} ? V(-infinity<V>()) : V(a < infinity<V>() ? log.hi : a);
  const auto product = exact_product(y, high);
  const V low = product.lo + y * log.lo;
  return exp2_pair(product.hi, V(absolute(product.hi) < lit<V>(1100) ? low : V{}));
}

template <class V>
RT_FN V pow_float(V x, V y) {
  const V a = absolute(x), half = y * lit<V>(0.5);
  V r;
  if constexpr (kSingle<V>) {
    r = through_f64([](auto p, auto q) RT_INLINE { return exp2_pair(decltype(p)(q * log2(p)), decltype(p){}); }, a, y);
  } else {
    r = pow_magnitude(a, y);
  }
  const auto whole = round_in(y) == y;
  const auto odd = both(whole, round_in(half) != half);
  const auto negative = x < V{};
  const V signed_r = odd ? copy_sign(r, x) : r;
  const auto complex = both(both(negative, a < infinity<V>()), both(absolute(y) < infinity<V>(), round_in(y) != y));
  const V real = complex ? lit<V>(format<V>::nan) : signed_r;
  const auto endless = both(x == lit<V>(-1), absolute(y) == infinity<V>());
  const auto unit = either(either(x == lit<V>(1), y == V{}), endless);
  return unit ? lit<V>(1) : V(either(x != x, y != y) ? V(x + y) : real);
}

template <class T>
RT_FN T pow_integer(T x, T y) {
  if (y < T(0)) return x == T(1) ? T(1) : x == T(-1) ? T(y & 1 ? -1 : 1) : T(0);
  T r = 1;
  for (unsigned_of<T> n = unsigned_of<T>(y); n != 0; n = unsigned_of<T>(n >> 1)) {
    if (n & 1) r = mul(r, x);
    x = mul(x, x);
  }
  return r;
}

}  // namespace detail

template <class A, class B>
RT_FN auto pow(A a, B b) {
  using V = meet<A, B>;
  const V x = widen<V>(a), y = widen<V>(b);
  if constexpr (Floats<V>) {
    return detail::pow_float(x, y);
  } else if constexpr (kLanes<V> == 0) {
    return detail::pow_integer(x, y);
  } else {
    V r{};
    for (int i = 0; i < kLanes<V>; ++i) r[i] = detail::pow_integer<element_of<V>>(x[i], y[i]);
    return r;
  }
}

}  // namespace rt
