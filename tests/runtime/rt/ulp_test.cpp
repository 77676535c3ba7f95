// Accuracy of runtime/rt/math: f32 is swept over the whole range of bit patterns (one in CAMEO_ULP_STRIDE, all with 1),
// f64 over random bits and dense where each function lives. Prints the largest error found and bounds it; also holds
// that lane i of a vector is bit for bit what the scalar gives.
#include "ulp.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "runtime/rt/math.h"

namespace rt_test {
namespace {

struct Worst {
  double error = 0;
  long double x = 0, y = 0, want = 0;
  int64_t lanes_differ = 0;
};

template <class T, int W, class F, class R>
void check_block(const T* in, F f, R reference, Worst& worst) {
  rt::vec<T, W> v;
  T out[W];
  std::memcpy(&v, in, sizeof v);
  v = f(v);
  std::memcpy(out, &v, sizeof v);
  for (int i = 0; i < W; ++i) {
    worst.lanes_differ += !identical<T>(out[i], f(in[i]));
    const long double want = reference(in[i]);
    const double e = ulp_error<T>(out[i], want);
    if (e > worst.error) worst = {e, in[i], 0, want, worst.lanes_differ};
  }
}

uint32_t stride() {
  const char* s = std::getenv("CAMEO_ULP_STRIDE");
  return s ? static_cast<uint32_t>(std::max(1, std::atoi(s))) : 10007;
}

constexpr double kSpecial[] = {0.0,
                               -0.0,
                               1,
                               -1,
                               2,
                               -2,
                               0.5,
                               -0.5,
                               1.0 / 3,
                               88.72283,
                               88.72284,
                               -87.33655,
                               -103.97,
                               -104,
                               709.782712893384,
                               709.782712893385,
                               -745.13321910194,
                               -745.2,
                               1e-40,
                               -1e-40,
                               0x1p-149,
                               0x1p-1074,
                               0x1p-126,
                               0x1p-1022,
                               0x1p20,
                               0x1p100,
                               1e300,
                               -1e300,
                               1e22,
                               1.5707963267948966,
                               3.141592653589793,
                               6381956970095103.0 * 0x1p797,
                               HUGE_VAL,
                               -HUGE_VAL,
                               NAN};

template <class F, class R>
Worst sweep_f32(F f, R reference) {
  Worst worst;
  float in[16];
  const uint64_t step = stride();
  for (uint64_t b = 0; b < 1ull << 32;) {
    for (int i = 0; i < 16; ++i, b += step) in[i] = same_bits<float>(static_cast<uint32_t>(b));
    check_block<float, 16>(in, f, reference, worst);
  }
  for (double s : kSpecial) {
    std::fill(in, in + 16, static_cast<float>(s));
    check_block<float, 16>(in, f, reference, worst);
  }
  return worst;
}

template <class F, class R>
Worst sweep_f64(F f, R reference, double low, double high) {
  Worst worst;
  Random random;
  double in[8];
  for (int n = 0; n < 80000; ++n) {
    for (int i = 0; i < 8; ++i) {
      const int kind = n % 4;
      in[i] = kind == 0   ? random.any_bits<double>()
              : kind == 1 ? random.around_one<double>()
                          : low + (high - low) * random.unit();
    }
    check_block<double, 8>(in, f, reference, worst);
  }
  for (double s : kSpecial) {
    std::fill(in, in + 8, s);
    check_block<double, 8>(in, f, reference, worst);
  }
  return worst;
}

void report(const char* type, const char* name, const Worst& worst, double bound) {
  std::printf("  %s %-10s %7.4f ULP (bound %.2f) at %La\n", type, name, worst.error, bound, worst.x);
  EXPECT_LE(worst.error, bound) << name << " " << type << " at " << static_cast<double>(worst.x);
  EXPECT_EQ(worst.lanes_differ, 0) << name << " " << type << ": lanes and scalar differ";
}

template <class F, class D, class L>
void expect_accuracy(const char* name, F f, D in_f64, L in_long, double low, double high, double bound32,
                     double bound64) {
  report("f32", name, sweep_f32(f, [&](float x) -> long double { return in_f64(static_cast<double>(x)); }), bound32);
  report("f64", name, sweep_f64(f, [&](double x) { return in_long(static_cast<long double>(x)); }, low, high), bound64);
}

// name, the range f64 is sampled densely in, the bounds for f32 and f64, the truth.
#define RT_ACCURACY_OF(name, low, high, bound32, bound64, truth)                                                   \
  TEST(Accuracy, name) {                                                                                           \
    const auto reference = [](auto x) { return truth; };                                                           \
    expect_accuracy(#name, [](auto x) { return rt::name(x); }, reference, reference, low, high, bound32, bound64); \
  }
#define RT_ACCURACY(name, low, high, bound32, bound64) RT_ACCURACY_OF(name, low, high, bound32, bound64, std::name(x))

RT_ACCURACY(exp, -750, 750, 1.01, 1.0)
RT_ACCURACY(exp2, -1080, 1030, 1.3, 1.45)
RT_ACCURACY(expm1, -50, 720, 1.25, 1.3)
RT_ACCURACY(log, 0, 10, 0.85, 0.95)
RT_ACCURACY(log2, 0, 4, 0.9, 1.0)
RT_ACCURACY(log1p, -1, 10, 1.15, 1.15)
RT_ACCURACY(sin, -100, 100, 0.501, 0.85)
RT_ACCURACY(cos, -100, 100, 0.501, 0.85)
RT_ACCURACY(tan, -100, 100, 0.501, 1.1)
RT_ACCURACY(asin, -1, 1, 1.3, 0.75)
RT_ACCURACY(acos, -1, 1, 1.25, 0.75)
RT_ACCURACY(atan, -10, 10, 1.5, 0.9)
RT_ACCURACY(sinh, -30, 30, 1.7, 1.75)
RT_ACCURACY(cosh, -30, 30, 1.45, 1.45)
RT_ACCURACY(tanh, -25, 25, 1.4, 1.0)
RT_ACCURACY(asinh, -30, 30, 1.3, 1.3)
RT_ACCURACY(acosh, 1, 30, 1.2, 1.2)
RT_ACCURACY(atanh, -1, 1, 1.2, 1.3)
RT_ACCURACY(erf, -7, 7, 1.35, 1.45)
RT_ACCURACY(erfc, -7, 28, 0.501, 1.7)
RT_ACCURACY(sqrt, 0, 50, 0.5, 0.5)
RT_ACCURACY(floor, -50, 50, 0, 0)
RT_ACCURACY(ceil, -50, 50, 0, 0)
RT_ACCURACY(trunc, -50, 50, 0, 0)
RT_ACCURACY_OF(round, -50, 50, 0, 0, std::nearbyint(x))
RT_ACCURACY_OF(rsqrt, 0, 50, 1.5, 1.5, 1 / std::sqrt(x))
RT_ACCURACY_OF(reciprocal, -50, 50, 0.5, 0.5, 1 / x)
RT_ACCURACY_OF(sigmoid, -50, 50, 2.0, 1.4, 1 / (1 + std::exp(-x)))
RT_ACCURACY_OF(softplus, -50, 50, 1.75, 1.85, (x > 0 ? x : 0) + std::log1p(std::exp(-std::fabs(x))))

// exp_flush equals exp to a rounding in the normal range, and is 0 below it.
TEST(Accuracy, exp_flush) {
  for (int i = 0; i <= 200000; ++i) {
    const float x = -87.3f + 175.3f * static_cast<float>(i) / 200000;
    EXPECT_LE(ulp_error<float>(rt::exp_flush(x), std::exp(static_cast<double>(x))), 1.0) << x;
  }
  for (float x : {-87.4f, -88.0f, -104.0f, -1e30f, -HUGE_VALF}) EXPECT_TRUE(identical(rt::exp_flush(x), 0.0f)) << x;
  EXPECT_TRUE(std::isnan(rt::exp_flush(NAN)));
  EXPECT_TRUE(std::isinf(rt::exp_flush(HUGE_VALF)));
  EXPECT_EQ(rt::exp_flush(-800.0), 0.0);
  EXPECT_EQ(rt::exp_flush(0.0), 1.0);
}

TEST(Accuracy, exp2_flush) {
  for (int i = 0; i <= 200000; ++i) {
    const float x = -126.0f + 253.0f * static_cast<float>(i) / 200000;
    EXPECT_LE(ulp_error<float>(rt::exp2_flush(x), std::exp2(static_cast<double>(x))), 1.3) << x;
  }
  for (float x : {-126.01f, -150.0f, -1e30f, -HUGE_VALF}) EXPECT_TRUE(identical(rt::exp2_flush(x), 0.0f)) << x;
  EXPECT_TRUE(std::isnan(rt::exp2_flush(NAN)));
  for (float base : {-3.0f, 40.0f, -300.0f, 70000.0f, 0x1p20f, -0x1p20f})
    for (int i = 0; i <= 20000; ++i) {
      const float x = base - 126.0f + 127.0f * static_cast<float>(i) / 20000;
      if (x >= base - 126) {
        EXPECT_LE(ulp_error<float>(rt::exp2_flush(x, base), std::exp2(double{x} - base)), 1.3) << x << " " << base;
      }
    }
  EXPECT_TRUE(identical(rt::exp2_flush(300.0f, 427.0f), 0.0f));
  EXPECT_EQ(rt::exp2_flush(300.5, 301.0), std::sqrt(0.5));
  EXPECT_EQ(rt::exp2_flush(-1023.0), 0.0);
  EXPECT_EQ(rt::exp2_flush(3.0), 8.0);
}

// x sigmoid(y), for whole vectors as for a number.
TEST(Accuracy, sigmoid_product) {
  for (int i = -174000; i <= 200000; ++i) {
    const float x = static_cast<float>(i) * 5e-4f, got = rt::sigmoid_product(x, x);
    const double d = x;
    EXPECT_LE(ulp_error<float>(got, d / (1 + std::exp(-d))), 2.35) << x;
    const auto last_lane = [x]<int W>() {
      const auto lanes = rt::splat<rt::vec<float, W>>(x);
      return rt::sigmoid_product(lanes, lanes)[W - 1];
    };
    for (float lane : {last_lane.operator()<8>(), last_lane.operator()<16>(), last_lane.operator()<32>()})
      EXPECT_TRUE(identical(lane, got)) << x;
  }
  for (float x : {-87.4f, -88.0f, -104.0f, -1e30f, -HUGE_VALF})
    EXPECT_TRUE(identical(rt::sigmoid_product(3.0f, x), 0.0f)) << x;
  EXPECT_TRUE(std::isnan(rt::sigmoid_product(1.0f, NAN)));
  EXPECT_TRUE(std::isnan(rt::sigmoid_product(-HUGE_VALF, -HUGE_VALF)));
  EXPECT_EQ(rt::sigmoid_product(2.0f, HUGE_VALF), 2.0f);
  EXPECT_EQ(rt::sigmoid_product(2.0, -800.0), 0.0);
  EXPECT_EQ(rt::sigmoid_product(3.0, 0.0), 1.5);
}

// GELU multiplies both by x / 2: what counts is the error relative to x.
TEST(Accuracy, gelu) {
  const auto gelu = [](float x) { return 0.5f * x * rt::erf_plus_one(x * 0.70710678f); };
  const auto gelu_tanh = [](float x) {
    return 0.5f * x * rt::tanh_plus_one(0.79788456f * (x + 0.044715f * x * x * x));
  };
  double worst = 0, worst_tanh = 0;
  for (int i = -120000; i <= 120000; ++i) {
    const float x = static_cast<float>(i) * 1e-4f;
    const double d = x, u = std::sqrt(2 / M_PI) * (d + 0.044715 * d * d * d);
    const double scale = std::max(std::fabs(d), 1e-30);
    worst = std::max(worst, std::fabs(gelu(x) - d * std::erfc(-d / std::sqrt(2.0)) / 2) / scale);
    worst_tanh = std::max(worst_tanh, std::fabs(gelu_tanh(x) - d * (1 + std::tanh(u)) / 2) / scale);
    const auto v = rt::erf_plus_one(rt::splat<rt::vec<float, 8>>(x));
    ASSERT_TRUE(identical<float>(v[3], rt::erf_plus_one(x)));
  }
  std::printf("  f32 gelu %.3g, gelu_tanh %.3g of |x| (f32 epsilon is 1.19e-7)\n", worst, worst_tanh);
  EXPECT_LE(worst, 1.5e-7);
  EXPECT_LE(worst_tanh, 2.5e-7);
  for (float x : {-6.0f, -1e30f, -HUGE_VALF}) EXPECT_TRUE(identical(rt::erf_plus_one(x), 0.0f)) << x;
  for (float x : {-50.0f, -1e30f, -HUGE_VALF}) EXPECT_TRUE(identical(rt::tanh_plus_one(x), 0.0f)) << x;
  for (float x : {20.0f, 1e30f, HUGE_VALF}) EXPECT_EQ(rt::erf_plus_one(x) + rt::tanh_plus_one(x), 4) << x;
  EXPECT_TRUE(std::isnan(rt::erf_plus_one(NAN)) && std::isnan(rt::tanh_plus_one(NAN)));
  EXPECT_NEAR(rt::erf_plus_one(-1.0) / std::erfc(1.0), 1, 1e-14);
}

template <class T>
T interesting(Random& random) {
  constexpr double table[] = {
      0.,    -0.,    1,      -1,     HUGE_VAL,   -HUGE_VAL,  NAN,    0.5,        -0.5,   2,     -2,       3,         -3,
      1e300, -1e300, 1e-300, 0x1p53, 0x1p53 - 1, 1 - 0x1p53, 0x1p24, 0x1p24 - 1, 1e-320, 1e-45, 0x1p-126, 16777215.0};
  switch (random.next() % 8) {
    case 0: return random.any_bits<T>();
    case 1: return static_cast<T>(static_cast<int>(random.next() % 41) - 20);
    case 2: return static_cast<T>(table[random.next() % std::size(table)]);
    case 3: return static_cast<T>(1 + (random.unit() - 0.5) * std::ldexp(1.0, -static_cast<int>(random.next() % 50)));
    default: return random.around_one<T>();
  }
}

template <class T, class F, class R>
Worst sweep_pairs(F f, R reference) {
  constexpr int W = 8;
  Worst worst;
  Random random;
  for (int n = 0; n < 150000; ++n) {
    T a[W], b[W], out[W];
    for (int i = 0; i < W; ++i) a[i] = interesting<T>(random), b[i] = interesting<T>(random);
    rt::vec<T, W> x, y;
    std::memcpy(&x, a, sizeof a), std::memcpy(&y, b, sizeof b);
    x = f(x, y);
    std::memcpy(out, &x, sizeof out);
    for (int i = 0; i < W; ++i) {
      worst.lanes_differ += !identical<T>(out[i], f(a[i], b[i]));
      const long double want = reference(a[i], b[i]);
      const double e = ulp_error<T>(out[i], want);
      if (e > worst.error) worst = {e, a[i], b[i], want, worst.lanes_differ};
    }
  }
  return worst;
}

template <class F, class R>
void expect_pair_accuracy(const char* name, F f, R reference, double bound32, double bound64) {
  report("f32", name, sweep_pairs<float>(f, [&](double a, double b) -> long double { return reference(a, b); }),
         bound32);
  report("f64", name, sweep_pairs<double>(f, [&](long double a, long double b) { return reference(a, b); }), bound64);
}

TEST(Accuracy, pow) {
  expect_pair_accuracy(
      "pow", [](auto a, auto b) { return rt::pow(a, b); }, [](auto a, auto b) { return std::pow(a, b); }, 0.505, 1.6);
}
TEST(Accuracy, atan2) {
  expect_pair_accuracy(
      "atan2", [](auto a, auto b) { return rt::atan2(a, b); }, [](auto a, auto b) { return std::atan2(a, b); }, 0.505,
      1.6);
}
TEST(Accuracy, fmod) {
  expect_pair_accuracy(
      "fmod", [](auto a, auto b) { return rt::fmod(a, b); }, [](auto a, auto b) { return std::fmod(a, b); }, 0, 0);
}

// Multiples of pi/2 are where a reduction fails first: the doubles and floats nearest to them, small and huge.
TEST(Accuracy, sin_near_multiples) {
  double worst = 0;
  for (int64_t n = 1; n < 1ll << 40; n = n * 3 / 2 + 1) {
    const long double at = 1.57079632679489661923132169163975144L * static_cast<long double>(n);
    for (const double x : {static_cast<double>(at), std::nextafter(static_cast<double>(at), 0.0)}) {
      worst = std::max(worst, ulp_error<double>(rt::sin(x), std::sin(static_cast<long double>(x))));
      worst = std::max(worst, ulp_error<double>(rt::tan(x), std::tan(static_cast<long double>(x))));
      const float f = static_cast<float>(x);
      EXPECT_LE(ulp_error<float>(rt::sin(f), std::sin(static_cast<double>(f))), 0.51) << f;
      EXPECT_LE(ulp_error<float>(rt::cos(f), std::cos(static_cast<double>(f))), 0.51) << f;
    }
  }
  std::printf("  f64 sin, tan nearest multiples of pi/2: %.4f ULP\n", worst);
  EXPECT_LE(worst, 1.1);
}

}  // namespace
}  // namespace rt_test
