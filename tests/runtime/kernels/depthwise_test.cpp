// Depthwise sums of 8-bit integers, on every instruction set that this machine has.
#include <gtest/gtest.h>

#include "tests/runtime/kernels/depthwise_cases.h"

using depthwise_cases::Cases;

class depthwise : public testing::TestWithParam<const Cases*> {
 protected:
  void SetUp() override {
    if (!GetParam()->runs_here()) GTEST_SKIP() << "this processor has no " << GetParam()->target;
  }
};

TEST_P(depthwise, widths) { EXPECT_EQ(GetParam()->widths(), ""); }
TEST_P(depthwise, windows) { EXPECT_EQ(GetParam()->windows(), ""); }
TEST_P(depthwise, any_rows) { EXPECT_EQ(GetParam()->any_rows(), ""); }

INSTANTIATE_TEST_SUITE_P(, depthwise,
                         testing::Values(&depthwise_cases::kV2, &depthwise_cases::kV3, &depthwise_cases::kV4),
                         [](const auto& info) { return std::string("v") + info.param->target[8]; });
INSTANTIATE_TEST_SUITE_P(gcc, depthwise, testing::Values(&depthwise_cases::kV3ByGcc),
                         [](const auto& info) { return std::string("v") + info.param->target[8]; });
