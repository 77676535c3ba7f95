// Floats of 8 and 4 bits against a slow reference: all codes decoded by ldexp, and encoding by search for the nearest
// of them, of two the even one.
#include "runtime/rt/minifloat.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "runtime/rt/load.h"

namespace rt_test {
namespace {

enum class Behind { InfinityAndNans, OneNan, MinusZero, Nothing };
struct Table {
  int mantissa, bias, largest, sign;
  Behind behind;
};
template <class T>
constexpr Table kTable{};
template <>
constexpr Table kTable<rt::f8e4m3fn>{3, 7, 0x7e, 0x80, Behind::OneNan};
template <>
constexpr Table kTable<rt::f8e4m3fnuz>{3, 8, 0x7f, 0x80, Behind::MinusZero};
template <>
constexpr Table kTable<rt::f8e5m2>{2, 15, 0x7b, 0x80, Behind::InfinityAndNans};
template <>
constexpr Table kTable<rt::f8e5m2fnuz>{2, 16, 0x7f, 0x80, Behind::MinusZero};
template <>
constexpr Table kTable<rt::f4e2m1>{1, 1, 0x7, 0x8, Behind::Nothing};

double decoded(int code, Table t) {
  const int magnitude = code & (t.sign - 1), exponent = magnitude >> t.mantissa;
  const int fraction = magnitude & ((1 << t.mantissa) - 1);
  if (t.behind == Behind::MinusZero && code == t.sign) return NAN;
  const double sign = code & t.sign ? -1 : 1;
  if (magnitude > t.largest) return t.behind == Behind::InfinityAndNans && !fraction ? sign * HUGE_VAL : NAN;
  if (exponent == 0) return sign * std::ldexp(fraction, 1 - t.bias - t.mantissa);
  return sign * std::ldexp(fraction + (1 << t.mantissa), exponent - t.bias - t.mantissa);
}

/// The value behind the largest one, if numbers went on, is where those begin that overflow.
double rounded(double x, Table t) {
  if (std::isnan(x)) return t.behind == Behind::Nothing ? 0 : NAN;
  const double a = std::fabs(x), end = 2 * decoded(t.largest, t) - decoded(t.largest - 1, t);
  double best = 0;
  int of_best = 0;
  for (int code = 1; code <= t.largest + 1; ++code) {
    const double v = code > t.largest ? end : decoded(code, t);
    const double nearer = std::fabs(a - v) - std::fabs(a - best);
    if (nearer < 0 || (nearer == 0 && code % 2 == 0)) best = v, of_best = code;
  }
  const double over = t.behind == Behind::Nothing           ? decoded(t.largest, t)
                      : t.behind == Behind::InfinityAndNans ? HUGE_VAL
                                                            : NAN;
  if (a >= end || of_best > t.largest) best = over;
  return std::copysign(best, x);
}

bool same(double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); }

template <class T>
class Minifloat : public testing::Test {};
using Types = testing::Types<rt::f8e4m3fn, rt::f8e4m3fnuz, rt::f8e5m2, rt::f8e5m2fnuz, rt::f4e2m1>;
TYPED_TEST_SUITE(Minifloat, Types);

TYPED_TEST(Minifloat, EveryCodeIsExactAndComesBack) {
  constexpr Table t = kTable<TypeParam>;
  for (int code = 0; code < 2 * t.sign; ++code) {
    const TypeParam x{static_cast<uint8_t>(code)};
    ASSERT_PRED2(same, rt::to_float(x), decoded(code, t)) << code;
    TypeParam back{};
    rt::store(&back, rt::i64(0), rt::to_float(x));
    if (!std::isnan(decoded(code, t))) { ASSERT_EQ(back.bits, code); }
    ASSERT_PRED2(same, rt::to_float(back), rt::to_float(x)) << code;
  }
}

std::vector<float> probes(Table t) {
  std::vector<float> all{NAN, INFINITY, -INFINITY, 0.f, -0.f, 1e30f, -1e30f, 1e-40f, std::numeric_limits<float>::max()};
  for (int code = 0; code <= t.largest; ++code) {
    const double here = decoded(code, t), next = code == t.largest ? 1.25 * here : decoded(code + 1, t);
    for (double x : {here, (here + next) / 2, (3 * here + next) / 4})
      for (float y : {std::nextafterf(static_cast<float>(x), 0), static_cast<float>(x),
                      std::nextafterf(static_cast<float>(x), INFINITY)})
        all.insert(all.end(), {y, -y});
  }
  return all;
}

TYPED_TEST(Minifloat, RoundsToTheNearestAndToEven) {
  constexpr Table t = kTable<TypeParam>;
  std::vector<float> all = probes(t);
  all.resize((all.size() + 15) / 16 * 16);
  std::vector<TypeParam> codes(all.size());
  for (size_t i = 0; i < all.size(); i += 16) {
    const rt::Lanes<16> lanes{static_cast<rt::i64>(i)};
    rt::store(codes.data(), lanes, rt::load(all.data(), lanes));
  }
  for (size_t i = 0; i < all.size(); ++i) {
    ASSERT_PRED2(same, rt::to_float(codes[i]), rounded(all[i], t)) << all[i];
    ASSERT_PRED2(same, rt::cast<TypeParam>(all[i]), rounded(all[i], t)) << all[i];
    ASSERT_PRED2(same, rt::cast<TypeParam>(static_cast<double>(all[i])), rounded(all[i], t)) << all[i];
  }
}

TYPED_TEST(Minifloat, DoublesAndIntegersAreRoundedOnce) {
  constexpr Table t = kTable<TypeParam>;
  const double between = (decoded(2, t) + decoded(3, t)) / 2;
  ASSERT_EQ(rt::cast<TypeParam>(std::nextafter(between, 0)), decoded(2, t));
  ASSERT_EQ(rt::cast<TypeParam>(std::nextafter(between, HUGE_VAL)), decoded(3, t));
  for (int64_t n = -70; n <= 70; ++n) ASSERT_PRED2(same, rt::cast<TypeParam>(n), rounded(static_cast<double>(n), t));
}

TEST(PowersOfTwo, EveryCodeAndThePowerBelow) {
  for (int code = 0; code < 256; ++code) {
    const rt::f8e8m0 x{static_cast<uint8_t>(code)};
    const double value = code == 255 ? NAN : std::ldexp(1, code - 127);
    ASSERT_PRED2(same, rt::to_float(x), value) << code;
    for (double factor : {1., 1.25, 1.9999})
      ASSERT_PRED2(same, rt::cast<rt::f8e8m0>(static_cast<float>(value * factor)), value) << code;
  }
  EXPECT_TRUE(std::isnan(rt::cast<rt::f8e8m0>(INFINITY)));
  EXPECT_EQ(rt::cast<rt::f8e8m0>(-6.f), 4);
}

}  // namespace
}  // namespace rt_test
