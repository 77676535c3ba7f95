// Index arithmetic on Lanes and Strided, lane by lane against int64: what stays affine keeps its type, division by
// scalars (small, large, negative, zero) and comparisons with bounds anywhere are total.
#include <gtest/gtest.h>

#include <limits>

#include "runtime/rt/scalar.h"

namespace rt_test {
namespace {

constexpr int W = 16;
constexpr int64_t kLow = std::numeric_limits<int64_t>::min(), kHigh = std::numeric_limits<int64_t>::max();

template <class I, class F>
void expect_lanes(I index, F want, const char* what) {
  for (int i = 0; i < W; ++i) ASSERT_EQ(rt::lane(index, i), want(i)) << what << ", lane " << i;
}

TEST(Index, AffineFormsStay) {
  const rt::Lanes<W> l{100};
  const rt::Strided<W> s = l * 3;
  static_assert(std::is_same_v<decltype(l + 1), rt::Lanes<W>>);
  static_assert(std::is_same_v<decltype(int64_t(1) + l), rt::Lanes<W>>);
  static_assert(std::is_same_v<decltype(rt::sub(l, 1)), rt::Lanes<W>>);
  static_assert(std::is_same_v<decltype(rt::mul(l, 64)), rt::Strided<W>>);
  static_assert(std::is_same_v<decltype(rt::add(s, l)), rt::Strided<W>>);
  static_assert(std::is_same_v<decltype(rt::div(l, 2)), rt::vec<rt::i64, W>>);
  expect_lanes(l + 7, [](int i) { return 107 + i; }, "l + 7");
  expect_lanes(7 + l, [](int i) { return 107 + i; }, "7 + l");
  expect_lanes(l - 7, [](int i) { return 93 + i; }, "l - 7");
  expect_lanes(7 - l, [](int i) { return -93 - i; }, "7 - l");
  expect_lanes(-l, [](int i) { return -100 - i; }, "-l");
  expect_lanes(s + 1, [](int i) { return (100 + i) * 3 + 1; }, "s + 1");
  expect_lanes(s * -2, [](int i) { return (100 + i) * -6; }, "s * -2");
  expect_lanes(s - l, [](int i) { return (100 + i) * 2; }, "s - l");
  expect_lanes(l * l, [](int i) { return (100 + i) * (100 + i); }, "l * l");
  expect_lanes(l * 3 + l / 7, [](int i) { return (100 + i) * 3 + (100 + i) / 7; }, "l * 3 + l / 7");
  expect_lanes(rt::splat<rt::vec<rt::i32, W>>(5) + l, [](int i) { return 105 + i; }, "i32 vector + l");
  expect_lanes(rt::min(l, 105), [](int i) { return std::min<int64_t>(100 + i, 105); }, "min");
  expect_lanes(rt::max(105, l), [](int i) { return std::max<int64_t>(100 + i, 105); }, "max");
  expect_lanes(rt::abs(l - 108), [](int i) { return std::abs(i - 8); }, "abs");
  expect_lanes(rt::select(l < 104, l, 0), [](int i) { return i < 4 ? 100 + i : 0; }, "select");
  EXPECT_EQ(rt::cast<float>(l)[3], 103.0f);
  EXPECT_EQ(rt::cast<rt::i32>(s)[2], 306);
}

int64_t floored(int64_t a, int64_t b) {
  const __int128 q = __int128(a) / b, r = __int128(a) % b;
  return static_cast<int64_t>(r != 0 && (r < 0) != (b < 0) ? q - 1 : q);
}

TEST(Index, DivisionByScalars) {
  for (int64_t base : {int64_t(0), int64_t(1), int64_t(55), int64_t(56), int64_t(1000003), int64_t(-5), int64_t(-1000),
                       kHigh - 15, kHigh, kLow, int64_t(1) << 40}) {
    for (int64_t by : {int64_t(1), int64_t(2), int64_t(3), int64_t(7), int64_t(8), int64_t(15), int64_t(16),
                       int64_t(17), int64_t(56), int64_t(1) << 33, kHigh, int64_t(0), int64_t(-1), int64_t(-7), kLow}) {
      const rt::Lanes<W> l{base};
      const auto q = rt::div(l, by), r = rt::fmod(l, by), f = rt::floor_div(l, by), m = rt::mod(l, by);
      for (int i = 0; i < W; ++i) {
        const auto a = static_cast<int64_t>(static_cast<uint64_t>(base) + static_cast<uint64_t>(i));
        const auto quotient = by == 0 ? 0 : static_cast<int64_t>(__int128(a) / by);
        const int64_t down = by == 0 ? 0 : floored(a, by);
        ASSERT_EQ(q[i], quotient) << a << " / " << by;
        ASSERT_EQ(r[i], by == 0 ? 0 : static_cast<int64_t>(__int128(a) % by)) << a << " % " << by;
        ASSERT_EQ(f[i], down) << a << " floor_div " << by;
        ASSERT_EQ(m[i], by == 0 ? 0 : static_cast<int64_t>(__int128(a) - __int128(down) * by)) << a << " mod " << by;
      }
    }
  }
  for (int64_t base : {int64_t(0), int64_t(1), int64_t(55), int64_t(1000003), int64_t(-5), kHigh - 15, kHigh, kLow}) {
    for (int64_t stride : {int64_t(0), int64_t(1), int64_t(2), int64_t(16), int64_t(-3), (int64_t(1) << 23) / W - 1,
                           (int64_t(1) << 23) / W, kHigh}) {
      for (int64_t by : {int64_t(1), int64_t(2), int64_t(3), int64_t(7), int64_t(56), int64_t(4099),
                         (int64_t(1) << 23) - 1, int64_t(1) << 23, int64_t(0), int64_t(-7)}) {
        const rt::Strided<W> s{base, stride};
        const auto q = rt::div(s, by), r = rt::fmod(s, by), f = rt::floor_div(s, by), m = rt::mod(s, by);
        for (int i = 0; i < W; ++i) {
          const auto a = static_cast<int64_t>(static_cast<uint64_t>(base) + static_cast<uint64_t>(stride) * i);
          const int64_t down = by == 0 ? 0 : floored(a, by);
          ASSERT_EQ(q[i], by == 0 ? 0 : static_cast<int64_t>(__int128(a) / by)) << a << " / " << by;
          ASSERT_EQ(r[i], by == 0 ? 0 : static_cast<int64_t>(__int128(a) % by)) << a << " % " << by;
          ASSERT_EQ(f[i], down) << a << " floor_div " << by;
          ASSERT_EQ(m[i], by == 0 ? 0 : static_cast<int64_t>(__int128(a) - __int128(down) * by)) << a << " mod " << by;
        }
      }
    }
  }
  for (int64_t base = 0; base < 2000; ++base) {  // every phase of a small divisor
    for (int64_t by = 1; by < 40; ++by) {
      const rt::Strided<W> s{base, base % 13};
      const auto q = rt::div(s, by), r = rt::mod(s, by);
      for (int i = 0; i < W; ++i)
        ASSERT_TRUE(q[i] == (base + base % 13 * i) / by && r[i] == (base + base % 13 * i) % by) << base << " by " << by;
    }
  }
  for (int64_t base = 0; base < 2000; ++base) {
    for (int64_t by = 1; by < 40; ++by) {
      const auto q = rt::Lanes<W>{base} / by, r = rt::Lanes<W>{base} % by;
      for (int i = 0; i < W; ++i)
        ASSERT_TRUE(q[i] == (base + i) / by && r[i] == (base + i) % by) << base + i << " by " << by;
    }
  }
}

TEST(Index, Comparisons) {
  for (int64_t base : {int64_t(0), int64_t(90), int64_t(-8), kHigh - 15, kLow}) {
    for (int64_t bound : {int64_t(0), int64_t(1), int64_t(89), int64_t(90), int64_t(95), int64_t(105), int64_t(106),
                          int64_t(1000), kHigh, kLow, kHigh - 7}) {
      const rt::Lanes<W> l{base};
      for (int i = 0; i < W; ++i) {
        const int64_t a = base + i;
        ASSERT_EQ(rt::lane(l < bound, i), a < bound) << a << " < " << bound;
        ASSERT_EQ(rt::lane(l <= bound, i), a <= bound) << a << " <= " << bound;
        ASSERT_EQ(rt::lane(l > bound, i), a > bound) << a << " > " << bound;
        ASSERT_EQ(rt::lane(l >= bound, i), a >= bound) << a << " >= " << bound;
        ASSERT_EQ(rt::lane(bound < l, i), bound < a) << bound << " < " << a;
        ASSERT_EQ(rt::lane(bound <= l, i), bound <= a) << bound << " <= " << a;
        ASSERT_EQ(rt::lane(l == bound, i), a == bound);
        ASSERT_EQ(rt::lane(rt::ne(bound, l), i), a != bound);
        ASSERT_EQ(rt::lane(l * 2 < bound, i), static_cast<int64_t>(static_cast<uint64_t>(a) * 2) < bound);
      }
    }
  }
}

}  // namespace
}  // namespace rt_test
