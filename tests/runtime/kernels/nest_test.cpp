// Nests, on every instruction set that this machine has.
#include <gtest/gtest.h>

#include "tests/runtime/kernels/nest_cases.h"

using nest_cases::Cases;

class nest : public testing::TestWithParam<const Cases*> {
 protected:
  void SetUp() override {
    if (!GetParam()->runs_here()) GTEST_SKIP() << "this processor has no " << GetParam()->target;
  }
};

TEST_P(nest, rows) { EXPECT_EQ(GetParam()->rows(), ""); }
TEST_P(nest, lanes_of_rows) { EXPECT_EQ(GetParam()->lanes_of_rows(), ""); }

INSTANTIATE_TEST_SUITE_P(, nest, testing::Values(&nest_cases::kV2, &nest_cases::kV3, &nest_cases::kV4),
                         [](const auto& info) { return std::string("v") + info.param->target[8]; });
INSTANTIATE_TEST_SUITE_P(gcc, nest, testing::Values(&nest_cases::kV3ByGcc),
                         [](const auto& info) { return std::string("v") + info.param->target[8]; });
