// rt::half and rt::bfloat against a slow reference: a table of all 16-bit values decoded by ldexp, and encoding by
// search for the nearest of them, ties to the even one. From f32, f64 and integers, each with a single rounding.
#include "runtime/rt/half.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "runtime/rt/load.h"
#include "ulp.h"

namespace rt_test {
namespace {

struct Shape {
  int mantissa, bias;
  uint16_t infinity;
};
constexpr Shape kHalf{10, 15, 0x7c00}, kBfloat{7, 127, 0x7f80};

double decode(uint16_t h, Shape s) {
  const int exponent = (h & 0x7fff) >> s.mantissa, fraction = h & ((1 << s.mantissa) - 1);
  const double sign = h >> 15 ? -1 : 1;
  if ((h & 0x7fff) > s.infinity) return NAN;
  if ((h & 0x7fff) == s.infinity) return sign * HUGE_VAL;
  if (exponent == 0) return sign * std::ldexp(fraction, 1 - s.bias - s.mantissa);
  return sign * std::ldexp(fraction + (1 << s.mantissa), exponent - s.bias - s.mantissa);
}

uint16_t encode(long double x, Shape s) {
  if (std::isnan(x)) return static_cast<uint16_t>(s.infinity | 1 << (s.mantissa - 1));
  const uint16_t sign = std::signbit(x) ? 0x8000 : 0;
  const long double a = std::fabs(x);
  uint16_t low = 0, high = s.infinity;  // the largest value <= a
  while (high - low > 1) {
    const auto middle = static_cast<uint16_t>((low + high) / 2);
    (decode(middle, s) <= a ? low : high) = middle;
  }
  if (std::isinf(a)) return static_cast<uint16_t>(sign | s.infinity);
  const long double below = decode(low, s);
  const long double above =
      high == s.infinity ? std::ldexp(1.0L, s.bias + 1) : static_cast<long double>(decode(high, s));
  const bool up = a - below > above - a || (a - below == above - a && (low & 1));
  return static_cast<uint16_t>(sign | (up ? high : low));
}

template <class H>
constexpr Shape shape_of() {
  return std::is_same_v<H, rt::half> ? kHalf : kBfloat;
}

template <class H>
H to_16(float x) {
  if constexpr (std::is_same_v<H, rt::half>) {
    return rt::to_half(x);
  } else {
    return rt::to_bfloat(x);
  }
}

template <class H>
class Half : public testing::Test {};
using HalfTypes = testing::Types<rt::half, rt::bfloat>;
TYPED_TEST_SUITE(Half, HalfTypes);

TYPED_TEST(Half, EveryValueDecodesAndReturns) {
  std::vector<TypeParam> all(65536);
  for (uint32_t u = 0; u < 65536; ++u) all[u].bits = static_cast<uint16_t>(u);
  std::vector<TypeParam> back(16);
  for (uint32_t u = 0; u < 65536; ++u) {
    const float want = static_cast<float>(decode(static_cast<uint16_t>(u), shape_of<TypeParam>()));
    ASSERT_TRUE(identical(rt::to_float(all[u]), want)) << u;
    if (u % 16 == 0) {
      const auto v = rt::load(all.data(), rt::Lanes<16>{u});
      rt::store(back.data(), rt::Lanes<16>{0}, v);
      for (uint32_t i = 0; i < 16; ++i) {
        ASSERT_TRUE(identical<float>(v[i], rt::to_float(all[u + i]))) << u + i;
        if (!std::isnan(v[i])) { ASSERT_EQ(back[i].bits, u + i); }
      }
    }
    const uint16_t r = to_16<TypeParam>(rt::to_float(all[u])).bits;
    if (std::isnan(want)) {
      ASSERT_TRUE(std::isnan(rt::to_float(TypeParam{r})));
    } else {
      ASSERT_EQ(r, u);
    }
  }
}

std::vector<float> around_every_value(Shape s) {  // each value, each midpoint, and their neighbours
  std::vector<float> r;
  for (uint32_t u = 0; u < s.infinity; ++u) {
    const double a = decode(static_cast<uint16_t>(u), s);
    const double b = u + 1 == s.infinity ? std::ldexp(1.0, s.bias + 1) : decode(static_cast<uint16_t>(u + 1), s);
    for (const double x : {a, (a + b) / 2}) {
      const float f = static_cast<float>(x);
      for (const float y : {std::nextafter(f, 0.0f), f, std::nextafter(f, HUGE_VALF)}) r.push_back(y), r.push_back(-y);
    }
  }
  Random random;
  for (int i = 0; i < 200000; ++i) r.push_back(random.any_bits<float>());
  for (const float f : {HUGE_VALF, -HUGE_VALF, NAN, 65519.99f, 65520.0f, 3.4e38f, 0x1p-24f, 0x1p-25f}) r.push_back(f);
  while (r.size() % 16) r.push_back(0);
  return r;
}

TYPED_TEST(Half, FloatsRoundToNearestEven) {
  constexpr Shape s = shape_of<TypeParam>();
  const std::vector<float> values = around_every_value(s);
  for (size_t at = 0; at < values.size(); at += 16) {
    TypeParam out[16];
    rt::store(out, rt::Lanes<16>{0}, rt::load(values.data() + at, rt::Lanes<16>{0}));
    for (size_t i = 0; i < 16; ++i) {
      const float x = values[at + i];
      const uint16_t got = to_16<TypeParam>(x).bits;
      if (std::isnan(x)) {
        ASSERT_TRUE(std::isnan(rt::to_float(TypeParam{got})));
        continue;
      }
      ASSERT_EQ(got, encode(x, s)) << x;
      ASSERT_EQ(out[i].bits, got) << x;
      ASSERT_TRUE(identical(rt::cast<TypeParam>(x), rt::to_float(TypeParam{got})));
    }
  }
}

template <class H, class X>
void expect_one_rounding(X x) {
  const float want = rt::to_float(H{encode(static_cast<long double>(x), shape_of<H>())});
  ASSERT_TRUE(identical(rt::cast<H>(x), want)) << +x << " gives " << rt::cast<H>(x) << ", not " << want;
  ASSERT_TRUE(identical<float>(rt::cast<H>(rt::splat<rt::vec<X, 8>>(x))[5], want)) << +x;
  H stored;
  rt::store(&stored, 0, x);
  ASSERT_TRUE(identical(rt::to_float(stored), want)) << +x;
}

TYPED_TEST(Half, DoublesRoundOnce) {
  constexpr Shape s = shape_of<TypeParam>();
  Random random;
  for (uint32_t u = 0; u + 1 < s.infinity; u += 7) {
    const double a = decode(static_cast<uint16_t>(u), s), b = decode(static_cast<uint16_t>(u + 1), s),
                 middle = (a + b) / 2;
    for (const double x : {middle, std::nextafter(middle, 0.0), std::nextafter(middle, 1e300), a, -middle})
      expect_one_rounding<TypeParam>(x);
  }
  for (int i = 0; i < 100000; ++i) expect_one_rounding<TypeParam>(random.around_one<double>());
  for (const double x : {1e300, -1e300, HUGE_VAL, 1e-300, 65519.999999, 65520.0, 1e39, 0x1.ffffffp127})
    expect_one_rounding<TypeParam>(x);
}

TYPED_TEST(Half, IntegersRoundOnce) {
  Random random;
  for (int64_t x = -70000; x <= 70000; x += 3)
    expect_one_rounding<TypeParam>(x), expect_one_rounding<TypeParam>(static_cast<int32_t>(x));
  for (int i = 0; i < 63; ++i) {  // a midpoint of bfloat, one above and one below it
    const int64_t x = (int64_t(0x101) << i) >> 1;
    for (int64_t d : {-1, 0, 1})
      expect_one_rounding<TypeParam>(static_cast<int64_t>(x + d)),
          expect_one_rounding<TypeParam>(static_cast<uint64_t>(x + d));
  }
  for (int i = 0; i < 100000; ++i) {
    const uint64_t u = random.next() >> (random.next() % 64);
    expect_one_rounding<TypeParam>(static_cast<int64_t>(u)), expect_one_rounding<TypeParam>(u);
  }
  expect_one_rounding<TypeParam>(INT64_MIN), expect_one_rounding<TypeParam>(INT64_MAX),
      expect_one_rounding<TypeParam>(UINT64_MAX);
}

}  // namespace
}  // namespace rt_test
