// The Attention family on every instruction set that this machine has.
#include <gtest/gtest.h>

#include "runtime/kernels/attention_shape.h"
#include "tests/runtime/kernels/attention_cases.h"

using attention_cases::Cases;

class attention : public testing::TestWithParam<const Cases*> {
 protected:
  void SetUp() override {
    if (!GetParam()->runs_here()) GTEST_SKIP() << "this processor has no " << GetParam()->target;
  }
};

TEST_P(attention, shapes) { EXPECT_EQ(GetParam()->shapes(), ""); }
TEST_P(attention, masks) { EXPECT_EQ(GetParam()->masks(), ""); }
TEST_P(attention, large) { EXPECT_EQ(GetParam()->large(), ""); }
TEST_P(attention, caches) { EXPECT_EQ(GetParam()->caches(), ""); }
TEST_P(attention, strided) { EXPECT_EQ(GetParam()->strided(), ""); }
TEST_P(attention, chunks) { EXPECT_EQ(GetParam()->chunks(), ""); }

INSTANTIATE_TEST_SUITE_P(, attention,
                         testing::Values(&attention_cases::kV2, &attention_cases::kV3, &attention_cases::kV4),
                         [](const auto& info) { return std::string("v") + info.param->target[8]; });
// g++ takes a panel by parts.
INSTANTIATE_TEST_SUITE_P(gcc, attention, testing::Values(&attention_cases::kV3ByGcc),
                         [](const auto& info) { return std::string("v") + info.param->target[8]; });

TEST(attention_shape, parts_of_the_scratch_begin_at_64_bytes) {
  for (rt::i64 size : {1, 20, 64})
    for (rt::i64 keys : {16, 48}) {
      const rt::AttentionShape shape{1, 2, 3, 5, 7, 11, size, size + 3};
      const auto at = rt::attention_scratch(shape, {4, 2, 8, keys});
      for (rt::i64 part : {at.k, at.v, at.scores, at.sums, at.top, at.total, at.limit, at.rescale, at.largest, at.end})
        EXPECT_EQ(part % 16, 0) << size << " " << keys;
    }
}
