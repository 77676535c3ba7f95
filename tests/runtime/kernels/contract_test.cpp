// The Contract family on every instruction set that this machine has, and the numbers that the planner takes from it.
#include <gtest/gtest.h>

#include <array>
#include <vector>

#include "runtime/kernels/contract_shape.h"
#include "tests/runtime/kernels/contract_cases.h"

using contract_cases::Cases;

class contract : public testing::TestWithParam<const Cases*> {
 protected:
  void SetUp() override {
    if (!GetParam()->runs_here()) GTEST_SKIP() << "this processor has no " << GetParam()->target;
  }
};

TEST_P(contract, tile_edges) { EXPECT_EQ(GetParam()->tile_edges(), ""); }
TEST_P(contract, segments) { EXPECT_EQ(GetParam()->segments(), ""); }
TEST_P(contract, literal_shapes) { EXPECT_EQ(GetParam()->literal_shapes(), ""); }
TEST_P(contract, whole_tiles) { EXPECT_EQ(GetParam()->whole_tiles(), ""); }
TEST_P(contract, turned) { EXPECT_EQ(GetParam()->turned(), ""); }
TEST_P(contract, bands) { EXPECT_EQ(GetParam()->bands(), ""); }
TEST_P(contract, outer_axes) { EXPECT_EQ(GetParam()->outer_axes(), ""); }
TEST_P(contract, rows_in_groups) { EXPECT_EQ(GetParam()->rows_in_groups(), ""); }
TEST_P(contract, strided) { EXPECT_EQ(GetParam()->strided(), ""); }
TEST_P(contract, halves) { EXPECT_EQ(GetParam()->halves(), ""); }
TEST_P(contract, widened) { EXPECT_EQ(GetParam()->widened(), ""); }
TEST_P(contract, codes) { EXPECT_EQ(GetParam()->codes(), ""); }
TEST_P(contract, real_numbers) { EXPECT_EQ(GetParam()->real_numbers(), ""); }

static std::string name_of(const testing::TestParamInfo<const Cases*>& info) {
  return std::string("v") + info.param->target[8];
}
INSTANTIATE_TEST_SUITE_P(, contract, testing::Values(&contract_cases::kV2, &contract_cases::kV3, &contract_cases::kV4),
                         name_of);
// g++ takes a panel by parts.
INSTANTIATE_TEST_SUITE_P(gcc, contract, testing::Values(&contract_cases::kV3ByGcc, &contract_cases::kV4ByGcc), name_of);

TEST(contract_shape, packing_pads_the_last_panel) {
  std::vector<int> packed(rt::packed_b_elements(18, 2), -1);
  ASSERT_EQ(packed.size(), 64u);
  rt::pack_b(packed.data(), 18, 2, [](rt::i64 k, rt::i64 col) { return static_cast<int>(100 * k + col); });
  EXPECT_EQ(packed[15], 15);
  EXPECT_EQ(packed[16 + 3], 103);
  EXPECT_EQ(packed[32 + 1], 17);
  EXPECT_EQ(packed[32 + 2], 0);
  EXPECT_EQ(packed[48 + 1], 117);
}

TEST(contract_shape, tiles_fit_the_registers_and_leave_no_thin_tail) {
  constexpr std::array<std::pair<int, int>, 3> kTargets = {{{16, 16}, {32, 16}, {64, 32}}};
  for (const auto& [bytes, registers] : kTargets)
    for (rt::i64 m = 1; m <= 300; ++m)
      for (rt::i64 n : {1, 10, 16, 17, 32, 48, 64, 80, 96, 144, 1000}) {
        const rt::Tile t = rt::contract_tile(bytes, registers, m, n);
        const int vector = 64 / bytes;
        ASSERT_TRUE(t.rows == 1 || (t.rows * t.vectors + t.vectors) * vector + 1 < registers) << m << " " << n;
        for (const auto& [total, size] : {std::pair{m, t.rows}, std::pair{rt::panels_of(n), t.vectors}}) {
          const rt::TileSplit s = rt::split_tiles(total, size);
          ASSERT_EQ(s.begin(s.parts), total) << m << " " << n;
          ASSERT_EQ(s.size, size);
          ASSERT_EQ(s.rest, size - 1) << m << " " << n;
        }
      }
}

TEST(contract_shape, any_size_splits) {
  for (rt::i64 total = 1; total <= 100; ++total)
    for (rt::i64 size = 1; size <= 16; ++size) {
      const rt::TileSplit s = rt::split_tiles(total, size);
      ASSERT_EQ(s.begin(s.parts), total) << total << " by " << size;
      ASSERT_EQ(s.begin(s.full), s.full * size);
      ASSERT_LE(s.full, s.parts);
    }
}
