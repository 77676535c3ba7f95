// Convolutions by Winograd, on every instruction set that this machine has.
#include <gtest/gtest.h>

#include "tests/runtime/kernels/winograd_cases.h"

using winograd_cases::Cases;

class winograd : public testing::TestWithParam<const Cases*> {
 protected:
  void SetUp() override {
    if (!GetParam()->runs_here()) GTEST_SKIP() << "this processor has no " << GetParam()->target;
  }
};

TEST_P(winograd, edges) { EXPECT_EQ(GetParam()->edges(), ""); }
TEST_P(winograd, strides) { EXPECT_EQ(GetParam()->strides(), ""); }
TEST_P(winograd, channels) { EXPECT_EQ(GetParam()->channels(), ""); }
TEST_P(winograd, chunks) { EXPECT_EQ(GetParam()->chunks(), ""); }

INSTANTIATE_TEST_SUITE_P(, winograd, testing::Values(&winograd_cases::kV2, &winograd_cases::kV3, &winograd_cases::kV4),
                         [](const auto& info) { return std::string("v") + info.param->target[8]; });
INSTANTIATE_TEST_SUITE_P(gcc, winograd, testing::Values(&winograd_cases::kV3ByGcc),
                         [](const auto& info) { return std::string("v") + info.param->target[8]; });
