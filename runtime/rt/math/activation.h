// The activations that graphs spell as one operator. sigmoid and softplus look at exp(-|x|), which cannot overflow, so
// that they stay accurate at both ends.
#pragma once
#include "erf.h"
#include "hyperbolic.h"

namespace rt {

template <Floats V>
RT_FN V sigmoid(V x) {
  using namespace detail;
  const auto negative = x < V{};
  const V a = -absolute(x), lowest = lit<V>(kSingle<V> ? -104 : -746);
  const auto e = exp_parts(a < lowest ? lowest : a);
  if constexpr (kSingle<V>) {
    const V power = scale(exp_unscaled(e), e.n, e.k);
    const auto under = fast_sum(lit<V>(1), power);
    const V r = (negative ? power : lit<V>(1)) / under.hi;
    return fma(r, V(-under.lo), r);  // as if divided by hi + lo, near enough for a rounding's rest
  } else {                           // three roundings would pass 2 ULP here: add what they lost
    const auto s = fast_sum(lit<V>(1), e.r);
    const auto p = fast_sum(s.hi, V(s.lo + (e.tail() + e.lost)));
    const V high = scale(p.hi, e.n, e.k), low = scale(p.lo, e.n, e.k);
    const auto under = fast_sum(lit<V>(1), high);
    const V r = (negative ? high : lit<V>(1)) / under.hi;
    const V rest = (negative ? low : V{}) - r * (under.lo + low);
    return r + rest * (negative ? V(lit<V>(1) - r) : r);
  }
}

template <Floats V>
RT_FN V softplus(V x) {  // log(1 + exp(x))
  using namespace detail;
  const V e = exp(V(-absolute(x)));
  const auto u = fast_sum(lit<V>(1), e);
  return (x > V{} ? x : V{}) + log_sum(u.hi, u.lo);
}

template <Floats V>
RT_FN V gelu(V x) {  // x (1 + erf(x / sqrt 2)) / 2
  using namespace detail;
  return lit<V>(0.5) * x * (lit<V>(1) + erf(V(x * lit<V>(0x1.6a09e667f3bcdp-1))));
}

template <Floats V>
RT_FN V gelu_tanh(V x) {  // x (1 + tanh(u)) / 2 = x sigmoid(2 u), u = sqrt(2 / pi) (x + 0.044715 x^3)
  using namespace detail;
  const V u = lit<V>(0x1.9884533d43651p0) * (x + lit<V>(0.044715) * x * x * x);
  return x * sigmoid(u);
}

}  // namespace rt
