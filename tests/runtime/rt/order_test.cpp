// Orders and heaps: NaN is above all numbers, what a heap sorts is sorted, for counts from none up.
#include "runtime/rt/order.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

namespace rt_test {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN(), kInf = std::numeric_limits<float>::infinity();

TEST(Order, NanIsTheLargest) {
  EXPECT_TRUE(rt::ranks_before(kNan, kInf, true));
  EXPECT_TRUE(rt::ranks_before(kInf, kNan, false));
  EXPECT_FALSE(rt::ranks_before(kInf, kNan, true));
  EXPECT_FALSE(rt::ranks_before(kNan, kInf, false));
  for (bool largest : {false, true}) EXPECT_FALSE(rt::ranks_before(kNan, kNan, largest));
}

TEST(Order, NumbersStandEitherWay) {
  EXPECT_TRUE(rt::ranks_before(2.f, 1.f, true));
  EXPECT_TRUE(rt::ranks_before(1, 2, false));
  for (bool largest : {false, true}) EXPECT_FALSE(rt::ranks_before(1, 1, largest));
}

std::vector<int> sorted(std::vector<int> values) {
  const auto above = [&](rt::i64 a, rt::i64 b) { return values[a] > values[b]; };
  const auto swap = [&](rt::i64 a, rt::i64 b) { std::swap(values[a], values[b]); };
  const auto count = static_cast<rt::i64>(values.size());
  rt::make_heap(count, above, swap);
  rt::sort_heap(count, above, swap);
  return values;
}

TEST(Order, AHeapSorts) {
  std::mt19937 random(1);
  for (size_t count = 0; count < 200; ++count) {
    std::vector<int> values(count);
    for (int& v : values) v = static_cast<int>(random() % (1 + count / 2));
    std::vector<int> want = values;
    std::ranges::sort(want);
    EXPECT_EQ(sorted(values), want) << count;
  }
}

}  // namespace
}  // namespace rt_test
