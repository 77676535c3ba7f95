// Window, on every instruction set that this machine has.
#include <gtest/gtest.h>

#include "tests/runtime/kernels/window_cases.h"

using window_cases::Cases;

class window : public testing::TestWithParam<const Cases*> {
 protected:
  void SetUp() override {
    if (!GetParam()->runs_here()) GTEST_SKIP() << "this processor has no " << GetParam()->target;
  }
};

TEST_P(window, windows) { EXPECT_EQ(GetParam()->windows(), ""); }
TEST_P(window, pools_of_bytes) { EXPECT_EQ(GetParam()->pools_of_bytes(), ""); }

INSTANTIATE_TEST_SUITE_P(, window, testing::Values(&window_cases::kV2, &window_cases::kV3, &window_cases::kV4),
                         [](const auto& info) { return std::string("v") + info.param->target[8]; });
INSTANTIATE_TEST_SUITE_P(gcc, window, testing::Values(&window_cases::kV3ByGcc),
                         [](const auto& info) { return std::string("v") + info.param->target[8]; });
