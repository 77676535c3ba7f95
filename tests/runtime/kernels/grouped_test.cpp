// Groups that share panels, on every instruction set that this machine has.
#include <gtest/gtest.h>

#include "tests/runtime/kernels/grouped_cases.h"

using grouped_cases::Cases;

class grouped : public testing::TestWithParam<const Cases*> {
 protected:
  void SetUp() override {
    if (!GetParam()->runs_here()) GTEST_SKIP() << "this processor has no " << GetParam()->target;
  }
};

TEST_P(grouped, widths) { EXPECT_EQ(GetParam()->widths(), ""); }
TEST_P(grouped, steps) { EXPECT_EQ(GetParam()->steps(), ""); }
TEST_P(grouped, long_sums) { EXPECT_EQ(GetParam()->long_sums(), ""); }

INSTANTIATE_TEST_SUITE_P(, grouped, testing::Values(&grouped_cases::kV2, &grouped_cases::kV3, &grouped_cases::kV4),
                         [](const auto& info) { return std::string("v") + info.param->target[8]; });
INSTANTIATE_TEST_SUITE_P(gcc, grouped, testing::Values(&grouped_cases::kV3ByGcc),
                         [](const auto& info) { return std::string("v") + info.param->target[8]; });
