// The scalar language of generated kernels: total functions on scalars, vectors and mixtures of them (a scalar is
// splat). The same on every target: integers wrap; x/0 = 0; MIN/-1 = MIN; a shift past the width gives 0; casts
// saturate from floats (NaN gives 0) and wrap between integers; min and max carry NaN. Each lane of a vector computes
// exactly what the scalar does. Conditions are `bool` or mask<W>; comparisons, not operators, make them.
#pragma once
#include "index.h"

namespace rt {

#define RT_BINARY(name)                               \
  template <class A, class B>                         \
  RT_FN auto name(A a, B b) {                         \
    using R = meet<A, B>;                             \
    return detail::name<R>(widen<R>(a), widen<R>(b)); \
  }
RT_BINARY(min)  // NaN if either operand is; of equals (-0, +0) the first
RT_BINARY(max)
RT_BINARY(shl)  // by the width or more, or by a negative count: 0
RT_BINARY(shr)  // arithmetic where the type is signed
RT_BINARY(bit_and)
RT_BINARY(bit_or)
RT_BINARY(bit_xor)
#undef RT_BINARY

#define RT_BINARY_INDEX(name, of_index, on)             \
  template <class A, class B>                           \
  RT_FN auto name(A a, B b) {                           \
    if constexpr (on) {                                 \
      return of_index;                                  \
    } else {                                            \
      using R = meet<A, B>;                             \
      return detail::name<R>(widen<R>(a), widen<R>(b)); \
    }                                                   \
  }
#define RT_AFFINE kIsIndex<A> || kIsIndex<B>
#define RT_INDEX_BY_SCALAR kIsIndex<A>&& kLanes<B> == 0
RT_BINARY_INDEX(add, a + b, RT_AFFINE)
RT_BINARY_INDEX(sub, a - b, RT_AFFINE)
RT_BINARY_INDEX(mul, a* b, RT_AFFINE)
RT_BINARY_INDEX(div, (detail::divide<detail::TowardsZero>(a, b).quotient), RT_INDEX_BY_SCALAR)
RT_BINARY_INDEX(fmod, (detail::divide<detail::TowardsZero>(a, b).remainder), RT_INDEX_BY_SCALAR)  // sign of a
RT_BINARY_INDEX(floor_div, (detail::divide<detail::Down>(a, b).quotient), RT_INDEX_BY_SCALAR)
RT_BINARY_INDEX(mod, (detail::divide<detail::Down>(a, b).remainder), RT_INDEX_BY_SCALAR)  // sign of b
#undef RT_BINARY_INDEX
#undef RT_AFFINE
#undef RT_INDEX_BY_SCALAR

// ---- comparisons: `bool` or mask<W>; any comparison with NaN is false, `ne` true ----
template <class A, class B>
RT_FN auto eq(A a, B b) {
  using R = meet<A, B>;
  if constexpr (kIsBool<R> && kLanes<R> != 0) {
    return R{~(widen<R>(a).lanes ^ widen<R>(b).lanes)};
  } else {
    return condition(widen<R>(a) == widen<R>(b));
  }
}
template <class A>
RT_FN auto logical_not(A a) {
  if constexpr (kLanes<A> == 0) {
    return !static_cast<bool>(a);
  } else {
    return mask<kLanes<A>>{~condition(a).lanes};
  }
}
template <class A, class B>
RT_FN auto ne(A a, B b) {
  return logical_not(eq(a, b));
}
template <class A, class B>
RT_FN auto lt(A a, B b) {
  if constexpr (kIsLanes<A> && kLanes<B> == 0) {
    return detail::first_lanes<kLanes<A>>(a.base, b, 0);
  } else if constexpr (kIsLanes<B> && kLanes<A> == 0) {
    return logical_not(detail::first_lanes<kLanes<B>>(b.base, a, 1));
  } else {
    using R = meet<A, B>;
    return condition(widen<R>(a) < widen<R>(b));
  }
}
template <class A, class B>
RT_FN auto le(A a, B b) {
  if constexpr (kIsLanes<A> && kLanes<B> == 0) {
    return detail::first_lanes<kLanes<A>>(a.base, b, 1);
  } else if constexpr (kIsLanes<B> && kLanes<A> == 0) {
    return logical_not(detail::first_lanes<kLanes<B>>(b.base, a, 0));
  } else {
    using R = meet<A, B>;
    return condition(widen<R>(a) <= widen<R>(b));
  }
}
template <class A, class B>
RT_FN auto gt(A a, B b) {
  return lt(b, a);
}
template <class A, class B>
RT_FN auto ge(A a, B b) {
  return le(b, a);
}

// ---- conditions ----
#define RT_LOGICAL(name, op)                              \
  template <class A, class B>                             \
  RT_FN auto name(A a, B b) {                             \
    const auto p = condition(a);                          \
    const auto q = condition(b);                          \
    using R = meet<bare<decltype(p)>, bare<decltype(q)>>; \
    if constexpr (kLanes<R> == 0) {                       \
      return static_cast<bool>(p op q);                   \
    } else {                                              \
      return R{widen<R>(p).lanes op widen<R>(q).lanes};   \
    }                                                     \
  }
RT_LOGICAL(logical_and, &)
RT_LOGICAL(logical_or, |)
RT_LOGICAL(logical_xor, ^)
#undef RT_LOGICAL

template <class C, class A, class B>
RT_FN auto select(C c, A a, B b) {
  const auto m = condition(c);
  constexpr int W = kLanes<C> ? kLanes<C> : kLanes<meet<A, B>>;
  using R = value_of<element_of<meet<A, B>>, W>;
  const R x = widen<R>(a), y = widen<R>(b);
  if constexpr (kLanes<C> == 0) {
    return m ? x : y;
  } else if constexpr (kIsBool<R>) {
    return R{(m.lanes & x.lanes) | (~m.lanes & y.lanes)};
  } else {
    return native<R>(m) ? x : y;
  }
}

// ---- one operand ----
template <class A>
RT_FN auto neg(A a) {
  if constexpr (kIsIndex<A>) {
    return -a;
  } else if constexpr (detail::kFloats<A>) {
    return A(-a);
  } else {
    using R = like<element_of<A>, A>;
    return detail::sub(R{}, widen<R>(a));
  }
}
template <class A>
RT_FN auto abs(A x) {
  using R = like<element_of<A>, A>;
  const R a = widen<R>(x);
  if constexpr (detail::kFloats<R>) {
    return detail::absolute(a);
  } else {
    return a < R{} ? detail::sub(R{}, a) : a;  // MIN stays MIN
  }
}
template <class A>
RT_FN auto bit_not(A x) {
  using R = like<element_of<A>, A>;
  return R(~widen<R>(x));
}
template <class A>
RT_FN auto sign(A x) {  // NaN stays, zeros give +0
  using R = like<element_of<A>, A>;
  const R a = widen<R>(x), zero{};
  return a > zero ? splat<R>(1) : R(a < zero ? splat<R>(element_of<R>(-1)) : R(a == zero ? zero : a));
}

// T of a number or condition, in x's width. Floats to integers saturate, NaN gives 0; integers wrap; bool is x != 0;
// half, bfloat and floats of 8 bits round to nearest even and stay float.
template <class T, class A>
RT_FN auto cast(A a) {
  const auto x = general(a);
  using X = bare<decltype(x)>;
  using E = element_of<X>;
  if constexpr (kSame<T, bool>) {
    return ne(x, E(0));
  } else if constexpr (kIsCode<T> && !kIsBool<X>) {
    return detail::round_to_code<T>(x);
  } else if constexpr (kIsCode<T>) {
    return cast<f32>(x);
  } else if constexpr (kIsBool<X> && kLanes<X> != 0) {
    return convert<T>(x.lanes & i8(1));
  } else if constexpr (kIsFloat<E> && !kIsFloat<T>) {
    return detail::saturate<T>(x);
  } else {
    return convert<T>(x);
  }
}

// ---- floats only ----
#define RT_UNARY_FLOAT(name, expression)                       \
  template <class V>                                           \
  RT_FN auto name(V x) {                                       \
    static_assert(detail::kFloats<V>, #name " is for floats"); \
    return expression;                                         \
  }
RT_UNARY_FLOAT(floor, detail::round_down(x))
RT_UNARY_FLOAT(ceil, detail::round_up(x))
RT_UNARY_FLOAT(round, detail::round_even(x))
RT_UNARY_FLOAT(trunc, detail::round_in(x))
RT_UNARY_FLOAT(sqrt, detail::root(x))
RT_UNARY_FLOAT(reciprocal, splat<V>(1) / x)
RT_UNARY_FLOAT(rsqrt, splat<V>(1) / detail::root(x))
RT_UNARY_FLOAT(is_nan, condition(x != x))
RT_UNARY_FLOAT(is_inf, condition(detail::absolute(x) == splat<V>(Limits<element_of<V>>::min_identity)))
#undef RT_UNARY_FLOAT

// round(x) + zero as T, an integer of 8 bits: what a cast of that sum gives.
template <class T, class V>
RT_FN auto quantized(V x, i32 zero) {
  const f32 low = f32(i32(Limits<T>::lowest) - zero), high = f32(i32(Limits<T>::highest) - zero);
  const V above = x > low ? x : splat<V>(low);
#if defined(__AVX512F__) && !defined(__AVX512VBMI__)
  // what no i32 holds is converted to 2^31, and the instruction that narrows brings large numbers within a u8
  if constexpr (kSame<T, u8> && kLanes<V> > 0 && sizeof(V) >= 64) {
    using U = like<u32, V>;
    const U number = bits<U>(detail::nearest(above) + zero);
    return convert<T>(U(number < 255 ? number : splat<U>(255)));
  }
#endif
  const V within = above < high ? above : splat<V>(high);
  const V number = kIsSigned<T> ? V(x == x ? within : splat<V>(f32(-zero))) : within;  // low is that of a u8
  return detail::narrow<T>(detail::nearest(number) + zero);
}

// quantized(x / scale, zero), of a scale from 2^-60 to 2^60. Where FMAs have one rounding, five of them and products
// give the quotient's very bits in a third of a division's time (Markstein's steps: an estimate by the nearest
// reciprocal, and what is left of x by it, twice), unless what is left is below all numbers, of quotients that are
// rounded to 0.
template <class T, class V>
RT_FN auto quantized_quotient(V x, f32 scale, i32 zero) {
#if defined(__FMA__)
  const f32 most = scale * 1024, reciprocal = 1 / scale;  // more than T holds, so that nothing is infinite; NaN stays
  const V above = -most > x ? splat<V>(-most) : x, within = most < above ? splat<V>(most) : above;
  const V by = splat<V>(reciprocal), of = splat<V>(scale);
  V quotient = within * by;
  quotient = detail::fma<V>(detail::fma<V>(-quotient, of, within), by, quotient);
  quotient = detail::fma<V>(detail::fma<V>(-quotient, of, within), by, quotient);
  return quantized<T>(quotient, zero);
#else
  return quantized<T>(V(x / scale), zero);
#endif
}

template <class A, class B>
RT_FN auto copysign(A a, B b) {
  using R = meet<A, B>;
  return detail::copy_sign<R>(widen<R>(a), widen<R>(b));
}
template <class A, class B, class C>
RT_FN auto fma(A a, B b, C c) {  // one rounding where the target has the instruction, else two
  using R = meet<meet<A, B>, C>;
  return detail::fma<R>(widen<R>(a), widen<R>(b), widen<R>(c));
}
template <class X, class A, class B>
RT_FN auto clip(X x, A low, B high) {
  return min(max(x, low), high);
}

#define RT_INDEX_OPERATOR(op, name)      \
  template <class A, class B>            \
    requires(kIsIndex<A> || kIsIndex<B>) \
  RT_FN auto operator op(A a, B b) {     \
    return rt::name(a, b);               \
  }
RT_INDEX_OPERATOR(/, div)
RT_INDEX_OPERATOR(%, fmod)
RT_INDEX_OPERATOR(==, eq)
RT_INDEX_OPERATOR(!=, ne)
RT_INDEX_OPERATOR(<, lt)
RT_INDEX_OPERATOR(<=, le)
RT_INDEX_OPERATOR(>, gt)
RT_INDEX_OPERATOR(>=, ge)
#undef RT_INDEX_OPERATOR

}  // namespace rt
