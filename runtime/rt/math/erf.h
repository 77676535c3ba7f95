// erf and erfc. Near 0 a polynomial in x^2. Farther out f32 writes 1 - erf as exp of a polynomial in |x| (the form is
// N. Juffa's, the coefficients ours); f64, and erfc, write erfc = exp(-x^2) G(q) / (1 + 2 |x|) with q = (|x| - 5/2) /
// (|x| + 5/2), G one polynomial for all |x| >= 1/2 (M. Shepherd and J. Laframboise, 1981).
// GELU asks for 1 + erf(x) = erfc(-x), whose error it compares with 1: in f32 one polynomial, or one that AVX-512 looks
// up, does for all of it, half or a third of what erf costs, and nothing cancels below 0.
#pragma once
#include "exp.h"

namespace rt {
namespace detail {

template <class V>
RT_FN V erf_f32(V x) {
  const V a = absolute(x), z = x * x;
  const V near = poly(z, -0x1.3fc37ap-11, 0x1.4890acp-8, -0x1.b6c27ep-6, 0x1.ce1df4p-4, -0x1.8126f8p-2, 0x1.06eba6p-3);
  const V b = at_most(a, 4);  // erf is 1 from there on
  const V far = poly(b, -0x1.5e11e8p-17, 0x1.4a2686p-12, -0x1.d936b6p-9, 0x1.843626p-6, -0x1.b2d3dp-4, -0x1.4538aep-1,
                     -0x1.20ee5cp0);
  const auto e = exp_parts(V(far * b));  // of -17 to 0
  const V outer = fma(V(-exp_unscaled(e)), power_of_two<V>(e.k), lit<V>(1));
  return a < lit<V>(0.9) ? fma(x, near, x) : copy_sign(outer, x);
}

// erfc(|x|) in f32, with an error of 7e-8 at most; 0 from `end` on, where it is below 2^-34.
#if defined(__AVX512F__)
// Around each of 16 nodes, 5/16 from one to the next, a polynomial of degree 5, whose coefficients are looked up. Least
// squares of the error relative to erfc, at Chebyshev's points, each coefficient rounded before the next is fitted.
template <class V>
RT_FN V erfc_f32_of_magnitude(V x) {
  constexpr f64 apart = 0.3125, end = 15 * apart;
  const vec<f32, 16> powers[6] = {
      {-0x1.bd9b7p-4, -0x1.fa819ap-5, 0x1.c6e888p-6, 0x1.1a57aep-4, 0x1.7b78aap-5, 0x1.ee5e94p-8, -0x1.7705f4p-7,
       -0x1.77fe08p-7, -0x1.8698fep-8, -0x1.14cb02p-9, -0x1.21c78ap-11, -0x1.d00b1cp-14, -0x1.21cc6ep-16,
       -0x1.1db32ep-19, -0x1.c04362p-23, -0x1.056d18p-14},
      {-0x1.079398p-10, -0x1.2eed5ep-3, -0x1.664218p-3, -0x1.7412b8p-4, 0x1.6081fap-8, 0x1.857d96p-5, 0x1.58f828p-5,
       0x1.734dc4p-6, 0x1.1db41ep-7, 0x1.4c65aep-9, 0x1.2c59d4p-11, 0x1.ac0a94p-14, 0x1.e5bc02p-17, 0x1.b9c5bp-20,
       0x1.438612p-23, -0x1.a2e3fap-16},
      {0x1.814112p-2, 0x1.190b1ap-2, 0x1.c7e2ccp-5, -0x1.e4c20ep-4, -0x1.5710c6p-3, -0x1.0449d6p-3, -0x1.1439b4p-4,
       -0x1.b93b56p-6, -0x1.11c874p-7, -0x1.0c7d1p-9, -0x1.a468d6p-12, -0x1.088efap-14, -0x1.0ce312p-17,
       -0x1.bae73cp-21, -0x1.28593ep-24, -0x1.e0dd6cp-19},
      {-0x1.178baap-18, 0x1.47796p-2, 0x1.e89ff6p-2, 0x1.c1cd3ap-2, 0x1.2ec12ap-2, 0x1.3a4a56p-3, 0x1.01a332p-4,
       0x1.51c926p-6, 0x1.64d67p-8, 0x1.313764p-10, 0x1.a8269ap-13, 0x1.dff5c8p-16, 0x1.bb043p-19, 0x1.4dff44p-22,
       0x1.9bc56ep-26, -0x1.d2a4e6p-23},
      {-0x1.20dd74p+0, -0x1.05fd3ap+0, -0x1.86e964p-1, -0x1.dfca28p-2, -0x1.e46542p-3, -0x1.92472cp-4, -0x1.12cec2p-5,
       -0x1.34d79ep-7, -0x1.1d821p-9, -0x1.b23604p-12, -0x1.0f981cp-14, -0x1.1777c4p-17, -0x1.d912ccp-21,
       -0x1.4956a2p-24, -0x1.79288cp-28, -0x1.808d2ep-28},
      {0x1p+0, 0x1.512b06p-1, 0x1.81cd26p-2, 0x1.7aab98p-3, 0x1.3bcd1p-4, 0x1.bc6c16p-6, 0x1.06784p-7, 0x1.03319ep-9,
       0x1.aab896p-12, 0x1.242358p-14, 0x1.4c1546p-17, 0x1.38f47ep-20, 0x1.e87844p-24, 0x1.3b661ep-27, 0x1.50bbcap-31,
       0},
  };
  const V a = at_most(absolute(x), end), magic = lit<V>(format<V>::magic), nearest = fma(a, lit<V>(1 / apart), magic);
  const V t = fma(V(nearest - magic), lit<V>(-apart), a);
  const auto coefficient = [&](int power) RT_INLINE { return look_up<V>(powers[power], bits<words<V>>(nearest)); };
  V sum = coefficient(0);
  for (int i = 1; i < 6; ++i) sum = fma(sum, t, coefficient(i));
  return sum;
}
#else
// 2^(|x| P(|x|)).
template <class V>
RT_FN V erfc_f32_of_magnitude(V x) {
  constexpr f64 end = 5.2;
  const V a = at_most(absolute(x), end);
  const V log = a * poly(a, -0x1.7c742ap-15, 0x1.d31e28p-12, -0x1.866f8cp-10, -0x1.961e38p-11, 0x1.cee7fcp-6,
                         -0x1.30171p-3, -0x1.d63aaep-1, -0x1.a0be9ep0);
  const V erfc = exp2_normal(log);
  return a >= lit<V>(end) ? V{} : erfc;
}
#endif

template <class V>
RT_FN V erf_plus_one_f32(V x) {
  const V erfc = erfc_f32_of_magnitude(x);
  return x < V{} ? erfc : V(lit<V>(2) - erfc);
}

template <class V>
RT_FN V erf_excess(V z) {  // f64: erf(x) = x + x erf_excess(x^2), |x| <= 1
  return poly(z, -0x1.ac163c3671389p-31, 0x1.d73c28d9d424bp-27, -0x1.5c0b954cd87fdp-23, 0x1.b980780e425cap-20,
              -0x1.f4ca5b066f00fp-17, 0x1.f9a2bb4169cacp-14, -0x1.c02db03f93968p-11, 0x1.565bccf906546p-8,
              -0x1.b82ce311f6f93p-6, 0x1.ce2f21a040bp-4, -0x1.812746b0379b5p-2, 0x1.06eba8214db68p-3);
}
template <class V>
RT_FN V erfc_far(V a) {  // f64, a >= 1/2
  const V q = (a - lit<V>(2.5)) / (a + lit<V>(2.5));
  const V more = poly(q, 0x1.8f9d558bb9b8dp-26, -0x1.cbf7c36e109acp-24, -0x1.6e3cb428b12c7p-24, 0x1.244cb0acf07b7p-21,
                      0x1.54ef124a0ed43p-21, -0x1.b0cc51189e3c9p-20, -0x1.1eead15d9ec51p-18, 0x1.60b07e9eb2e8ep-19,
                      0x1.7d28d0f4d0d15p-16, 0x1.a40a03aa563b5p-18, -0x1.dc2a27449d6e5p-14, -0x1.731a3aecf9e18p-14,
                      0x1.4b6a5e7b93256p-11, 0x1.01e115df9407p-11, -0x1.1f2f135d6ca7p-8, 0x1.e89489e3fe6c6p-11,
                      0x1.0c6092a5f6227p-5, -0x1.a5c0c8a40ded2p-4, 0x1.42d379989ae7fp-3, -0x1.959ac16f854c5p-4,
                      -0x1.f52c5d7e222e9p-4);
  const auto g = fast_sum(lit<V>(0x1.43cc6f6c9672cp0), V(q * more));
  const auto square = exact_product(a, a);
  const auto e = exp_parts(clamp(V(-square.hi), -800, 0));
  const V u = e.r + (e.tail() + e.lost);
  const auto power = fast_sum(lit<V>(1), V(u - (lit<V>(1) + u) * square.lo));
  const auto under = fast_sum(lit<V>(1), V(lit<V>(2) * a));
  auto over = exact_product(g.hi, power.hi);
  over.lo = over.lo + (g.hi * power.lo + g.lo * power.hi);
  const V ratio = over.hi / under.hi;
  const auto back = exact_product(ratio, under.hi);
  const V rest = ((over.hi - back.hi) - back.lo) + (over.lo - ratio * under.lo);
  return scale(V(ratio + rest / under.hi), e.n, e.k);
}
template <class V>
RT_FN V erf_f64(V x) {
  const V a = absolute(x), small = x + x * erf_excess(V(x * x));
  const V large = lit<V>(1) - erfc_far(at_most(a, 6));
  return a < lit<V>(1) ? small : copy_sign(large, x);
}
template <class V>
RT_FN V erfc_f64(V x) {
  const V a = absolute(x), excess = x * erf_excess(V(x * x));
  const V middle = a < lit<V>(0.25) ? V(lit<V>(1) - (x + excess)) : V(lit<V>(0.5) - (excess + (x - lit<V>(0.5))));
  const V far = erfc_far(at_most(a, 28));
  const V turned = x < V{} ? V(lit<V>(2) - far) : far;
  return a < lit<V>(0.5) ? middle : turned;
}

}  // namespace detail

template <Floats V>
RT_FN V erf(V x) {
  if constexpr (detail::kSingle<V>) {
    return detail::erf_f32(x);
  } else {
    return detail::erf_f64(x);
  }
}

template <Floats V>
RT_FN V erf_plus_one(V x) {
  if constexpr (detail::kSingle<V>) return detail::erf_plus_one_f32(x);
  return detail::lit<V>(1) + erf(x);
}

template <Floats V>
RT_FN V erfc(V x) {
  using namespace detail;
  if constexpr (kSingle<V>) {
    return through_f64([](auto d) RT_INLINE { return erfc_f64(d); }, x);
  } else {
    return erfc_f64(x);
  }
}

}  // namespace rt
