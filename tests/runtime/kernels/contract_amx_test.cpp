// Contract's sums in tile registers, on machines that have them.
#include <gtest/gtest.h>

#include "tests/runtime/kernels/contract_amx_cases.h"
#include "tests/runtime/kernels/tile_registers.h"

using contract_amx_cases::Cases;

class contract_amx : public testing::TestWithParam<const Cases*> {
 protected:
  void SetUp() override {
    if (!may_use_tile_registers()) GTEST_SKIP() << "this processor has no vectors of 512 bits with VBMI, VNNI and bf16";
  }
};

TEST_P(contract_amx, unsigned_quads) { EXPECT_EQ(GetParam()->unsigned_quads(), ""); }
TEST_P(contract_amx, signed_quads) { EXPECT_EQ(GetParam()->signed_quads(), ""); }
TEST_P(contract_amx, pairs) { EXPECT_EQ(GetParam()->pairs(), ""); }
TEST_P(contract_amx, many_rows_of_few) { EXPECT_EQ(GetParam()->many_rows_of_few(), ""); }
TEST_P(contract_amx, tiles_of_points) { EXPECT_EQ(GetParam()->tiles_of_points(), ""); }
TEST_P(contract_amx, narrow_epilogue) { EXPECT_EQ(GetParam()->narrow_epilogue(), ""); }
TEST_P(contract_amx, convolution) { EXPECT_EQ(GetParam()->convolution(), ""); }

INSTANTIATE_TEST_SUITE_P(, contract_amx, testing::Values(&contract_amx_cases::kV4Amx),
                         [](const auto&) { return "amx"; });
INSTANTIATE_TEST_SUITE_P(gcc, contract_amx, testing::Values(&contract_amx_cases::kV4AmxByGcc),
                         [](const auto&) { return "amx"; });
