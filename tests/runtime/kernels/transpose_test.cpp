// Transposes, on every instruction set that this machine has.
#include <gtest/gtest.h>

#include "tests/runtime/kernels/transpose_cases.h"

using transpose_cases::Cases;

class transpose : public testing::TestWithParam<const Cases*> {
 protected:
  void SetUp() override {
    if (!GetParam()->runs_here()) GTEST_SKIP() << "this processor has no " << GetParam()->target;
  }
};

TEST_P(transpose, types) { EXPECT_EQ(GetParam()->types(), ""); }
TEST_P(transpose, shapes) { EXPECT_EQ(GetParam()->shapes(), ""); }

INSTANTIATE_TEST_SUITE_P(, transpose,
                         testing::Values(&transpose_cases::kV2, &transpose_cases::kV3, &transpose_cases::kV4),
                         [](const auto& info) { return std::string("v") + info.param->target[8]; });
INSTANTIATE_TEST_SUITE_P(gcc, transpose, testing::Values(&transpose_cases::kV3ByGcc),
                         [](const auto& info) { return std::string("v") + info.param->target[8]; });
