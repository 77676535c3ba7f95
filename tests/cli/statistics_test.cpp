// What times of rounds say.
#include "cli/statistics.h"

#include <gtest/gtest.h>

namespace cameo {
namespace {

TEST(Statistics, TheMedianOfAnEvenNumberIsBetweenTheTwoInTheMiddle) {
  EXPECT_EQ(median({7}), 7);
  EXPECT_EQ(median({9, 1, 4}), 4);
  EXPECT_EQ(median({8, 2}), 5);
  EXPECT_EQ(median({100, 1, 4, 2}), 3);
}

}  // namespace
}  // namespace cameo
