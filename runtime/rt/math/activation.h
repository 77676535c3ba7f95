// Activations and parts of them. All stay accurate at both ends, where exp overflows.
#pragma once
#include "erf.h"
#include "hyperbolic.h"

namespace rt {

namespace detail {

// exp(-x) = 2^k (1 + s): 1 + exp(-x) is 2^k + (1 + 2^k s), two roundings, where 1 + (2^k + 2^k s) has that of exp in
// reach of the larger term too. All of it is 2^-64 times as large, so that no power overflows before the result is 0.
template <class V>
RT_FN V sigmoid_of_single(V x) {
  using U = words<V>;
  constexpr int shift = 64;
  const V unit = lit<V>(0x1p-64);
  const auto e = exp_parts(V(-clamp(x, -104, 40)));
  const V power = power_of_two<V>(U(e.k - element_of<U>(shift)));
  return unit / (power + fma(power, fma(e.square, e.q, e.r), unit));
}

// Three roundings would pass 2 ULP: what they lose is added.
template <class V>
RT_FN V sigmoid_of_double(V x) {
  const auto negative = x < V{};
  const V a = -absolute(x), lowest = lit<V>(-746);
  const auto e = exp_parts(a < lowest ? lowest : a);
  const auto s = fast_sum(lit<V>(1), e.r);
  const auto p = fast_sum(s.hi, V(s.lo + (e.tail() + e.lost)));
  const V high = scale(p.hi, e.n, e.k), low = scale(p.lo, e.n, e.k);
  const auto under = fast_sum(lit<V>(1), high);
  const V r = (negative ? high : lit<V>(1)) / under.hi;
  const V rest = (negative ? low : V{}) - r * (under.lo + low);
  return r + rest * (negative ? V(lit<V>(1) - r) : r);
}

}  // namespace detail

template <Floats V>
RT_FN V sigmoid(V x) {
  if constexpr (detail::kSingle<V>) return detail::sigmoid_of_single(x);
  return detail::sigmoid_of_double(x);
}

// x sigmoid(y) as one quotient, x / (1 + exp(-y)); 0 where that sigmoid is below the normal range, as the next layer's
// sums would multiply a denormal.
template <class A, class B>
RT_FN auto sigmoid_product(A a, B b) {
  using namespace detail;
  using V = meet<A, B>;
  const V x = widen<V>(a), y = widen<V>(b);
  const auto e = exp_normal<-1>(at_most(y, 40));  // where the result is 0 anything
  return V(x / (y < lowest_of_exp<V>() ? infinity<V>() : V(e.power + fma(e.power, e.rest, lit<V>(1)))));
}

template <Floats V>
RT_FN V softplus(V x) {  // log(1 + exp(x))
  using namespace detail;
  const V e = exp(V(-absolute(x)));
  const auto u = fast_sum(lit<V>(1), e);
  return (x > V{} ? x : V{}) + log_sum(u.hi, u.lo);
}

template <Floats V>
RT_FN V tanh_plus_one(V x) {  // nothing cancels below 0
  return sigmoid_product(detail::lit<V>(2), V(x + x));
}

}  // namespace rt
