// Products of f32 as six of bf16, on machines that have tile registers.
#include <gtest/gtest.h>

#include "tests/runtime/kernels/bf16x3_cases.h"
#include "tests/runtime/kernels/tile_registers.h"

using bf16x3_cases::Cases;

class bf16x3 : public testing::TestWithParam<const Cases*> {
 protected:
  void SetUp() override {
    if (!may_use_tile_registers()) GTEST_SKIP() << "this processor has no vectors of 512 bits with VBMI, VNNI and bf16";
  }
};

TEST_P(bf16x3, terms) { EXPECT_EQ(GetParam()->terms(), ""); }
TEST_P(bf16x3, segments) { EXPECT_EQ(GetParam()->segments(), ""); }
TEST_P(bf16x3, tile_edges) { EXPECT_EQ(GetParam()->tile_edges(), ""); }
TEST_P(bf16x3, outer_axes) { EXPECT_EQ(GetParam()->outer_axes(), ""); }
TEST_P(bf16x3, few_rows) { EXPECT_EQ(GetParam()->few_rows(), ""); }
TEST_P(bf16x3, bands) { EXPECT_EQ(GetParam()->bands(), ""); }
TEST_P(bf16x3, no_numbers) { EXPECT_EQ(GetParam()->no_numbers(), ""); }
TEST_P(bf16x3, largest_numbers) { EXPECT_EQ(GetParam()->largest_numbers(), ""); }
TEST_P(bf16x3, smallest_numbers) { EXPECT_EQ(GetParam()->smallest_numbers(), ""); }

INSTANTIATE_TEST_SUITE_P(, bf16x3, testing::Values(&bf16x3_cases::kV4Amx), [](const auto&) { return "amx"; });
INSTANTIATE_TEST_SUITE_P(gcc, bf16x3, testing::Values(&bf16x3_cases::kV4AmxByGcc), [](const auto&) { return "amx"; });
