// Contract of 8-bit integers and of bf16, on every instruction set that this machine has.
#include <gtest/gtest.h>

#include "tests/runtime/kernels/contract_narrow_cases.h"

using contract_narrow_cases::Cases;

class contract_narrow : public testing::TestWithParam<const Cases*> {
 protected:
  void SetUp() override {
    if (!GetParam()->runs_here()) GTEST_SKIP() << "this processor has no " << GetParam()->target;
  }
};

TEST_P(contract_narrow, quads) { EXPECT_EQ(GetParam()->quads(), ""); }
TEST_P(contract_narrow, pairs) { EXPECT_EQ(GetParam()->pairs(), ""); }

/// x86-64-v3: v3; avx512bf16.
static std::string name_of(const testing::TestParamInfo<const Cases*>& info) {
  const std::string target = info.param->target;
  return target.substr(target.rfind('-') + 1);
}
INSTANTIATE_TEST_SUITE_P(, contract_narrow,
                         testing::Values(&contract_narrow_cases::kV2, &contract_narrow_cases::kV3,
                                         &contract_narrow_cases::kV4, &contract_narrow_cases::kV4Bf16),
                         name_of);
INSTANTIATE_TEST_SUITE_P(gcc, contract_narrow,
                         testing::Values(&contract_narrow_cases::kV3ByGcc, &contract_narrow_cases::kV4Bf16ByGcc),
                         name_of);
