// exp, exp2, expm1. x = k ln2 + r with |r| <= ln2 / 2 (Cody and Waite), then a polynomial in r and a power of two,
// which is applied in two steps so that denormal results are right. `exp_flush` is for kernels that only sum and scale:
// it returns 0 below the normal range, one multiplication cheaper and safe from slow denormals.
#pragma once
#include "core.h"

namespace rt {
namespace detail {

template <class V>
struct ExpParts {
  V r, square, q, lost, n;
  words<V> k;
  RT_FN V tail() const { return square * q; }
};  // exp(x) = 2^k (1 + r + (tail + lost)); n is k as a float

template <class V>
RT_FN ExpParts<V> exp_parts(V x) {
  using T = element_of<V>;
  constexpr T high = kSingle<V> ? 0x1.63p-1 : 0x1.62e42feep-1;  // k * high is exact
  constexpr T low = kSingle<V> ? -0x1.bd0106p-13 : 0x1.a39ef35793c76p-33;
  const V magic = lit<V>(format<V>::magic), t = fma(x, lit<V>(0x1.71547652b82fep0), magic), n = t - magic;
  const V start = fma(n, lit<V>(-high), x), r = fma(n, lit<V>(-low), start);
  V q;
  if constexpr (kSingle<V>) {
    q = poly(r, 0x1.a2d998p-13, 0x1.6d2e08p-10, 0x1.110fc2p-7, 0x1.555502p-5, 0x1.555556p-3, 0.5);
  } else {
    q = poly(r, 0x1.1f86f0df0b6f2p-29, 0x1.af4ecf3058ec3p-26, 0x1.27e4cfaefcfe4p-22, 0x1.71de01aacddadp-19,
             0x1.a01a01ab9885dp-16, 0x1.a01a01ac1e913p-13, 0x1.6c16c16c156a5p-10, 0x1.111111111005p-7,
             0x1.5555555555557p-5, 0x1.5555555555557p-3, 0.5);
  }
  const V lost = fma(n, lit<V>(-low), V(start - r));  // what r was rounded by; free where nobody asks
  return {r, r * r, q, lost, n, bits<words<V>>(t) - bits<words<V>>(magic)};
}

// Where exp overflows and where it is 0; beyond, the argument is clamped (NaN passes).
template <class V>
RT_FN V clamp(V x, f64 low, f64 high) {
  return at_most(V(x < lit<V>(low) ? lit<V>(low) : x), high);
}

// Below, exp is smaller than any normal number.
template <class V>
RT_FN V lowest_of_exp() {
  return lit<V>(kSingle<V> ? -0x1.5d58ap6 : -0x1.6232bdd7abcd2p9);
}

template <class V>
RT_FN V exp_unscaled(const ExpParts<V>& e) {
  if constexpr (kSingle<V>) {
    return lit<V>(1) + fma(e.square, e.q, e.r);
  } else {
    return lit<V>(1) + (e.r + (e.tail() + e.lost));
  }
}

// exp(x) 2^shift for x in exp's range.
template <class V>
RT_FN V exp_shifted(V x, int shift) {
  const auto e = exp_parts(clamp(x, kSingle<V> ? -104 : -746, kSingle<V> ? 90 : 711));
  using E = element_of<words<V>>;
  return scale(exp_unscaled(e), V(e.n + lit<V>(shift)), words<V>(e.k + E(shift)));
}

// 2^r, |r| <= 1/2.
template <class V>
RT_FN V exp2_near_zero(V r) {
  V q;
  if constexpr (kSingle<V>) {
    q = poly(r, 0x1.442516p-13, 0x1.5ef5dap-10, 0x1.3b2a48p-7, 0x1.c6af9cp-5, 0x1.ebfbep-3, 0x1.62e43p-1);
  } else {
    q = poly(r, 0x1.bdfcafe9a924dp-36, 0x1.e9eb1e7525ff3p-32, 0x1.e4d3fc537baep-28, 0x1.b524ec7f785e8p-24,
             0x1.62c020e79af27p-20, 0x1.ffcbfc6d5296p-17, 0x1.430912f8c27f9p-13, 0x1.5d87fe78a40bp-10,
             0x1.3b2ab6fba4d47p-7, 0x1.c6b08d704a0c6p-5, 0x1.ebfbdff82c58fp-3, 0x1.62e42fefa39efp-1);
  }
  return fma(r, q, lit<V>(1));
}

// Functions that leave denormals alone take 2^x in f32 as 2^(k / 16) (1 + rest), where AVX-512 looks up 16 powers in
// one instruction: |rest| is below 0.022, whose polynomial has half the terms that one of 0.42 has.
#if defined(__AVX512F__)
inline constexpr f64 kMagicOfSixteenths = 0x1.8p19;  // added, it leaves the nearest sixteenth in the low bits

// 2^(k / 16) where that is a normal number; bits of k from the 13th up do not count.
template <class V>
RT_FN V power_of_sixteenths(words<V> k) {
  using U = vec<u32, 16>;
  const vec<f32, 16> table = {0x1p0,        0x1.0b5586p0, 0x1.172b84p0, 0x1.2387a6p0, 0x1.306fep0,  0x1.3dea64p0,
                              0x1.4bfdaep0, 0x1.5ab07ep0, 0x1.6a09e6p0, 0x1.7a1148p0, 0x1.8ace54p0, 0x1.9c4918p0,
                              0x1.ae89fap0, 0x1.c199bep0, 0x1.d5818ep0, 0x1.ea4afap0};
  // Shifted to the exponent's place, k leaves its low four bits below it; each power is less by what they are there.
  constexpr int kShift = format<V>::mantissa - 4;
  const words<V> power = look_up<words<V>>(U((U)table - (iota<U>() << kShift)), k);
  return bits<V>(words<V>(power + (k << kShift)));
}
#endif

template <class V>
struct PowerParts {
  V power, rest;
};  // power (1 + rest); power is normal

// exp(Sign x), Sign 1 or -1, where that is a normal number: a change of sign costs nothing here.
template <int Sign = 1, class V>
RT_FN PowerParts<V> exp_normal(V x) {
#if defined(__AVX512F__)
  if constexpr (kSingle<V>) {
    const V magic = lit<V>(kMagicOfSixteenths), t = fma(x, lit<V>(Sign * 0x1.71547652b82fep0), magic), n = t - magic;
    const V r = fma(n, lit<V>(Sign * 0x1.bd0106p-13), fma(n, lit<V>(-Sign * 0x1.63p-1), x));  // times Sign
    const V linear = Sign > 0 ? r : V(-r);
    return {power_of_sixteenths<V>(bits<words<V>>(t)),
            fma(V(r * r), fma(r, lit<V>(Sign * 0x1.555762p-3), lit<V>(0x1.00022p-1)), linear)};
  }
#endif
  const auto e = exp_parts(Sign > 0 ? x : V(-x));
  const V power = power_of_two<V>(e.k);
  if constexpr (kSingle<V>) return {power, fma(e.square, e.q, e.r)};
  return {power, e.r + (e.tail() + e.lost)};
}

// 2^(x - base) where that is a normal number; `base` is an integer, which costs nothing here.
template <class V>
RT_FN V exp2_normal(V x, element_of<V> base = 0) {
#if defined(__AVX512F__)
  if constexpr (kSingle<V>) {
    const V magic = lit<V>(kMagicOfSixteenths) - splat<V>(base), t = x + magic, r = x - (t - magic);
    const V power = power_of_sixteenths<V>(bits<words<V>>(t));
    const V slope = fma(fma(r, lit<V>(0x1.c6b46ap-5), lit<V>(0x1.ebfff4p-3)), r, lit<V>(0x1.62e43p-1));
    return fma(V(power * r), slope, power);
  }
#endif
  const V zero = lit<V>(format<V>::magic), magic = zero - splat<V>(base), t = x + magic;
  return exp2_near_zero(V(x - (t - magic))) * power_of_two<V>(bits<words<V>>(t) - bits<words<V>>(zero));
}

// 2^(hi + lo), lo tiny.
template <class V>
RT_FN V exp2_pair(V hi, V lo) {
  const V x = clamp(hi, kSingle<V> ? -151 : -1080, kSingle<V> ? 129 : 1025);
  const V magic = lit<V>(format<V>::magic), t = x + magic, n = t - magic;
  return scale(exp2_near_zero(V((x - n) + lo)), n, words<V>(bits<words<V>>(t) - bits<words<V>>(magic)));
}

// expm1(x) = 2^k (hi + lo): (1 - 2^-k) + r + tail, the sum kept exact; inverse is 2^-k (2^-60 at least).
template <class V>
struct Expm1Parts {
  V hi, lo, inverse, n;
  words<V> k;
};
template <class V>
RT_FN Expm1Parts<V> expm1_parts(V x) {
  using U = words<V>;
  using I = like<signed_of<element_of<V>>, V>;
  const auto e = exp_parts(clamp(x, -60, kSingle<V> ? 90 : 711));
  const I k = bits<I>(e.k);
  const U limited = bits<U>(I(k < splat<I>(60) ? k : splat<I>(60)));
  const V inverse = power_of_two<V>(U(-limited));
  const auto sum = fast_sum(V(lit<V>(1) - inverse), e.r);
  return {sum.hi, sum.lo + (e.tail() + e.lost), inverse, e.n, e.k};
}

}  // namespace detail

template <Floats V>
RT_FN V exp(V x) {
  return detail::exp_shifted(x, 0);
}

template <Floats V>
RT_FN V exp2(V x) {
  return detail::exp2_pair(x, V{});
}

// exp(x) for x <= 88 (f32) or 709 (f64), 0 where that is below the normal range; above, infinity.
template <Floats V>
RT_FN V exp_flush(V x) {
  using namespace detail;
  const auto e = exp_normal(x);  // where the result is 0 or infinite anything
  const V result = fma(e.power, e.rest, e.power), limited = x > lit<V>(kSingle<V> ? 88 : 709) ? infinity<V>() : result;
  return x < lowest_of_exp<V>() ? V{} : limited;
}

// The same of 2^(x - base), for x <= base + 127 (f32) or base + 1023 (f64); `base` is an integer nearer to 0 than this,
// so that what it is added to stays exact.
inline constexpr f32 kMostBaseOfExp2 = 0x1p22f;
template <Floats V>
RT_FN V exp2_flush(V x, element_of<V> base = 0) {
  using namespace detail;
  const auto lowest = base + element_of<V>(1 - format<V>::bias);
  return x < splat<V>(lowest) ? V{} : exp2_normal(x, base);
}

template <Floats V>
RT_FN V expm1(V x) {
  const auto e = detail::expm1_parts(x);
  const V r = detail::scale(V(e.hi + e.lo), e.n, e.k);
  return x == V{} ? x : r;
}

}  // namespace rt
