// What generated code looks like, in the words of runtime/rt: one lambda a kernel, called with scalars and with vectors
// (on a GPU with scalars only). targets_test.cpp compiles it for every target and reads the assembly.
#include "runtime/rt/fold.h"
#include "runtime/rt/load.h"
#include "runtime/rt/math.h"

#if !defined(WIDTH)
#define WIDTH 16
#endif

#if defined(__CUDA__)
#define KERNEL(name) extern "C" __attribute__((global)) void name
template <class Body>
__attribute__((device)) void flat(long n, float* out, Body body) {
  rt::store(out, n, rt::get<0>(body(rt::i64(0), rt::i64(n))));
}
#else
#define KERNEL(name) extern "C" void name
template <class Body>
RT_FN void flat(long n, float* out, Body body) {
  long i = 0;
  for (; n - i >= WIDTH; i += WIDTH)
    rt::store(out, rt::Lanes<WIDTH>{i}, rt::get<0>(body(rt::i64(0), rt::Lanes<WIDTH>{i})));
  for (; i < n; ++i) rt::store(out, i, rt::get<0>(body(rt::i64(0), rt::i64(i))));
}
#endif

// The second factor is a mask's only use: on AVX-512 a compare and a masked move, no bytes in between.
KERNEL(masked)(const float* x0, const float* x1, float* out, long n) {
  flat(n, out, [&](auto i0, auto i1) RT_INLINE {
    const auto t1 = rt::load(x0, i0 * 64 + i1);
    const auto t2 = rt::load(x1, i1);
    const auto t3 = rt::logical_and(rt::lt(t1, t2), rt::gt(t2, 0.5f));
    return rt::tuple(rt::select(t3, rt::mul(t1, t2), t2));
  });
}

KERNEL(halves)(const rt::half* x0, float* out, long n) {
  flat(n, out, [&](auto, auto i1) RT_INLINE {
    const auto t1 = rt::cast<rt::half>(rt::mul(rt::load(x0, i1), 3.f));
    return rt::tuple(rt::select(rt::is_nan(t1), 0.f, rt::max(t1, rt::load(x0, i1))));
  });
}

#if !defined(ONLY_MASKED)
KERNEL(everything)(const float* x0, const rt::half* x1, const rt::bfloat* x2, const bool* x3, const rt::i8* x4,
                   float* out, long n) {
  flat(n, out, [&](auto i0, auto i1) RT_INLINE {
    const auto t1 = rt::load(x0, i0 + i1 * 3);
    const auto t2 = rt::load_or(x1, i1 - 5, rt::logical_and(rt::ge(i1, 5), rt::lt(i1, 50)), 0.f);
    const auto t3 = rt::select(rt::load(x3, i1 % 56), rt::load(x2, i1 / 56), rt::cast<float>(rt::load(x4, i1)));
    const auto t4 = rt::fma(rt::max(t1, 0.f), t2, t3);
    const auto t5 =
        rt::add(rt::sigmoid_product(rt::sigmoid(t4), t4), rt::mul(rt::erf_plus_one(t1), rt::tanh_plus_one(t4)));
    const auto t6 = rt::add(rt::exp(rt::sub(t5, t1)), rt::log(rt::add(rt::abs(t2), 1.f)));
    const auto t7 = rt::add(rt::tanh(t6), rt::erf(rt::sin(rt::cos(t6))));
    const auto t8 = rt::cast<float>(rt::cast<rt::i32>(rt::round(rt::mul(rt::pow(t7, 1.7f), 8.f))));
    const auto t9 = rt::mod(rt::add(t8, rt::floor(t7)), 3.f);
    const auto t10 = rt::cast<rt::half>(rt::mul(rt::cast<rt::bfloat>(rt::sqrt(rt::abs(t9))), rt::softplus(t1)));
    const auto t11 = rt::fold<rt::Sum>(7, [&](auto r) RT_INLINE { return rt::exp_flush(rt::load(x0, i1 * 7 + r)); });
    const auto t12 = rt::fold<rt::ArgMax>(9, [&](auto r) RT_INLINE { return rt::load(x0, i1 + r); });
    return rt::tuple(rt::add(rt::div(t10, t11), rt::cast<float>(t12)));
  });
}

KERNEL(doubles)(const double* x0, float* out, long n) {
  flat(n, out, [&](auto, auto i1) RT_INLINE {
    const auto t1 = rt::load(x0, i1);
    const auto t2 = rt::add(rt::asin(t1), rt::add(rt::acos(t1), rt::add(rt::atan(t1), rt::atan2(t1, 0.5))));
    const auto t3 =
        rt::add(rt::sinh(t1), rt::add(rt::cosh(t1), rt::add(rt::asinh(t1), rt::add(rt::acosh(t1), rt::atanh(t1)))));
    const auto t4 = rt::add(
        rt::tan(t1), rt::add(rt::erfc(t1), rt::add(rt::expm1(t1), rt::add(rt::log1p(t1), rt::log2(rt::exp2(t1))))));
    return rt::tuple(rt::add(t2, rt::add(t3, rt::pow(t4, t1))));
  });
}
#endif
