// sinh, cosh, tanh and their inverses, from expm1, exp and log1p by fdlibm's identities: asinh(x) = log1p(x + x^2 / (1
// + sqrt(x^2 + 1))) and so on. Each works on pairs: expm1 before it is rounded, and log1p told what its argument lost.
#pragma once
#include "exp.h"
#include "log.h"

namespace rt {

namespace detail {

template <class V>
RT_FN V tanh_f32(V x) {  // a polynomial in x^2 near 0, else 1 - 2 p / (1 + p) with p = exp(-2 |x|)
  const V a = absolute(x), z = x * x;
  const V near = poly(z, -0x1.50c476p-8, 0x1.492fd6p-6, -0x1.b6c112p-5, 0x1.10faeep-3, -0x1.5554f6p-2);
  const auto e = exp_normal<-1>(V(lit<V>(2) * at_most(a, 20)));
  const V doubled = e.power + e.power, power = fma(doubled, e.rest, doubled);  // 2 p
  const V outer = lit<V>(1) - power / fma(lit<V>(0.5), power, lit<V>(1));
  return copy_sign(a < lit<V>(0.7) ? fma(V(a * z), near, a) : outer, x);
}
template <class V>
RT_FN V tanh_f64(V x) {  // t / (t + 2), t = expm1(2 |x|), all divided by 2^k; the quotient is corrected by what it lost
  const V a = absolute(x);
  const auto e = expm1_parts(V(lit<V>(2) * at_most(a, 22)));
  const auto t = fast_sum(e.hi, e.lo);
  const auto under = exact_sum(t.hi, V(lit<V>(2) * e.inverse));
  const V inverse = lit<V>(1) / under.hi, ratio = t.hi * inverse;
  const auto back = exact_product(ratio, under.hi);
  const V rest = ((t.hi - back.hi) - back.lo) + (t.lo - ratio * (under.lo + t.lo));
  return copy_sign(V(ratio + rest * inverse), x);
}

}  // namespace detail

template <Floats V>
RT_FN V tanh(V x) {
  if constexpr (detail::kSingle<V>) {
    return detail::tanh_f32(x);
  } else {
    return detail::tanh_f64(x);
  }
}

template <Floats V>
RT_FN V sinh(V x) {  // (t + t / (t + 1)) / 2, t = expm1(|x|) = 2^k (hi + lo)
  using namespace detail;
  const auto e = expm1_parts(absolute(x));
  const auto t = fast_sum(e.hi, e.lo);
  const V ratio = t.hi / (t.hi + e.inverse);
  const auto sum = exact_sum(t.hi, V(ratio * e.inverse));
  using E = element_of<words<V>>;
  return copy_sign(scale(V(sum.hi + (sum.lo + t.lo)), V(e.n - lit<V>(1)), words<V>(e.k - E(1))), x);
}

template <Floats V>
RT_FN V cosh(V x) {
  using namespace detail;
  const V half = exp_shifted(absolute(x), -1);
  return half + lit<V>(0.25) / half;
}

template <Floats V>
RT_FN V asinh(V x) {
  using namespace detail;
  const V a = absolute(x);
  const auto far = a > lit<V>(kSingle<V> ? 0x1p14 : 0x1p28);
  const V b = far ? lit<V>(1) : a, square = b * b;
  const auto sum = fast_sum(b, V(square / (lit<V>(1) + root(square + lit<V>(1)))));
  const V near = log1p_pair(sum.hi, sum.lo);
  const auto p = split(a);  // log(2 a)
  const V large = log_edges(a, log_join(V(p.e + lit<V>(1)), p.f, log_tail(p.f)));
  return copy_sign(far ? large : near, x);
}

template <Floats V>
RT_FN V acosh(V x) {
  using namespace detail;
  const auto far = x > lit<V>(kSingle<V> ? 0x1p14 : 0x1p28);
  const V t = far ? lit<V>(1) : V(x - lit<V>(1));
  const auto square = exact_product(t, t);
  const auto under = exact_sum(V(lit<V>(2) * t), square.hi);  // 2 t + t^2, as a pair
  const V s = root(under.hi);
  const auto back = exact_product(s, s);
  const V rest = ((under.hi - back.hi) - back.lo + (under.lo + square.lo)) / (s + s);
  const auto sum = exact_sum(t, s);
  const V near = log1p_pair(sum.hi, V(sum.lo + (s == V{} ? V{} : rest)));
  const auto p = split(x);
  const V large = log_edges(x, log_join(V(p.e + lit<V>(1)), p.f, log_tail(p.f)));
  return far ? large : V(x < lit<V>(1) ? lit<V>(format<V>::nan) : near);
}

template <Floats V>
RT_FN V atanh(V x) {
  using namespace detail;
  const V a = absolute(x);
  const auto under = exact_sum(lit<V>(1), V(-a));
  const V twice = lit<V>(2) * a, ratio = twice / under.hi;
  const auto back = exact_product(ratio, under.hi);
  const V rest = ((twice - back.hi) - back.lo - ratio * under.lo) / under.hi;
  const V r = lit<V>(0.5) * log1p_pair(ratio, a < lit<V>(1) ? rest : V{});
  return copy_sign(a > lit<V>(1) ? lit<V>(format<V>::nan) : r, x);
}

}  // namespace rt
