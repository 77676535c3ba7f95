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
  EXPECT_FALSE(compare(kF32, 1, got, expected, {.share = 0}).passed);
  EXPECT_TRUE(compare(kF32, 1, expected, expected, {.share = 0}).passed);
}

TEST(Compare, GoldenDataOfTinyOutputsHaveTheErrorOfNumbersNearOne) {
  const float expected[] = {1.7e-5f, 0}, near[] = {1.7e-5f, 4 * 0x1p-23f}, far[] = {1.7e-5f, 4.1f * 0x1p-23f};
  EXPECT_TRUE(compare(kF32, 2, near, expected, {}).passed);
  EXPECT_FALSE(compare(kF32, 2, far, expected, {}).passed);
  EXPECT_FALSE(compare(kF32, 2, near, expected, {.absolute = 0}).passed) << "a carried tolerance has no such floor";
  EXPECT_FALSE(compare(kF32, 2, near, expected, {.share = 1e-3}).passed) << "nor one that was asked for";
}

TEST(Compare, UlpOfEachTypeDownToItsSmallestNumber) {
  EXPECT_EQ(ulp_of(kF32, 1), 0x1p-23);
  EXPECT_EQ(ulp_of(kF32, 3), 0x1p-22);
  EXPECT_EQ(ulp_of(kF16, 65504), 32);
  EXPECT_EQ(ulp_of(kBf16, 0.5), 0x1p-8);
  EXPECT_EQ(ulp_of(kF32, 0), 0x1p-149);
  EXPECT_EQ(ulp_of(kF16, 1e-9), 0x1p-24);
  EXPECT_EQ(ulp_of(kF64, 0), 0x1p-1074);
  EXPECT_EQ(ulp_of(kF64, 0x1p1023), 0x1p971);
}

TEST(Compare, TheRulesAreTheLargestOfThree) {
  EXPECT_EQ(tolerance_of(kResultRule, kF32, 1, 1), 4);
  EXPECT_EQ(tolerance_of(kResultRule, kF32, 0, 1), 32 * 0x1p-23);
  EXPECT_EQ(tolerance_of(kGoldenRule, kF32, 1, 1), 16);
  EXPECT_EQ(tolerance_of(kGoldenRule, kF32, 0, 1), 256 * 0x1p-23);
  EXPECT_EQ(tolerance_of(kGoldenRule, kF32, 0, 1e-6), 4 * 0x1p-23);
  EXPECT_EQ(tolerance_of(kGoldenRule, kF16, 0, 1), 32 * 0x1p-10);
  EXPECT_EQ(tolerance_of(kGoldenRule, kF64, 0, 1), kUlpsOfOne);
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
