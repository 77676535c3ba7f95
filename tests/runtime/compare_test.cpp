// The tolerance rule.
#include "runtime/compare.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "runtime/dtype.h"

namespace rt {
namespace {

const float kNan = std::nanf(""), kInf = std::numeric_limits<float>::infinity();

TEST(Compare, AThousandthOfTheLargestMagnitude) {
  const float expected[] = {100, 1, -2}, near[] = {100, 1.0999f, -2}, far[] = {100, 1.11f, -2};
  const Comparison c = compare(kF32, 3, near, expected, {});
  EXPECT_TRUE(c.passed);
  EXPECT_EQ(c.magnitude, 100);
  EXPECT_NEAR(c.tolerance, 0.1, 1e-12);
  EXPECT_NEAR(c.max_error, 0.0999, 1e-6);
  const Comparison d = compare(kF32, 3, far, expected, {});
  EXPECT_FALSE(d.passed);
  EXPECT_EQ(d.mismatches, 1u);
  EXPECT_EQ(d.worst_index, 1u);
  EXPECT_FLOAT_EQ(static_cast<float>(d.got), 1.11f);
}

TEST(Compare, NansAndInfinitiesEqualThemselvesOnly) {
  const float expected[] = {kNan, kInf, -kInf, 1}, same[] = {kNan, kInf, -kInf, 1};
  EXPECT_TRUE(compare(kF32, 4, same, expected, {}).passed);
  EXPECT_EQ(compare(kF32, 4, same, expected, {}).magnitude, 1);
  for (int i = 0; i < 4; ++i) {
    float got[] = {kNan, kInf, -kInf, 1};
    got[i] = i == 3 ? kNan : 0;
    const Comparison c = compare(kF32, 4, got, expected, {.absolute = 1e30});
    EXPECT_FALSE(c.passed) << i;
    EXPECT_TRUE(std::isinf(c.max_error));
    EXPECT_EQ(c.worst_index, static_cast<uint64_t>(i));
  }
}

TEST(Compare, ThirtyTwoUlpsPassUnlessToldOtherwise) {
  const float expected[] = {1}, got[] = {1 + 32 * 0x1p-23f}, more[] = {1 + 33 * 0x1p-23f};
  EXPECT_TRUE(compare(kF32, 1, got, expected, {.absolute = 0}).passed);
  EXPECT_FALSE(compare(kF32, 1, more, expected, {.absolute = 0}).passed);
  EXPECT_FALSE(compare(kF32, 1, got, expected, {.absolute = 0, .at_least_ulps = false}).passed);
  EXPECT_TRUE(compare(kF32, 1, expected, expected, {.relative = 0, .at_least_ulps = false}).passed);
}

TEST(Compare, IntegersAreExactBeyondADoublesPrecision) {
  const int64_t expected[] = {(1ll << 60) + 1}, got[] = {1ll << 60};
  EXPECT_FALSE(compare(kI64, 1, got, expected, {.absolute = 1e18}).passed);
  EXPECT_TRUE(compare(kI64, 1, expected, expected, {}).passed);
  const bool yes[] = {true}, no[] = {false};
  EXPECT_FALSE(compare(kBool, 1, yes, no, {}).passed);
}

TEST(Compare, NothingIsEqualToNothing) { EXPECT_TRUE(compare(kF32, 0, nullptr, nullptr, {}).passed); }

}  // namespace
}  // namespace rt
