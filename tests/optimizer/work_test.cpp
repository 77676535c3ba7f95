// How many floating-point operations a run takes, by hand.
#include "optimizer/work.h"

#include <gtest/gtest.h>

#include "optimizer/choose/family.h"
#include "tests/support/graph_text.h"
#include "tests/support/road.h"

namespace cameo::test {
namespace {

double operations_of(const std::vector<std::string>& lines) { return estimate_operations(parse_model(lines).graph); }

TEST(Work, ATermOfASumOfProductsIsTwo) {
  EXPECT_EQ(operations_of({"input A f32[4x8]", "input B f32[8x16]", "Y = MatMul(A, B)", "output Y"}), 2 * 4 * 8 * 16);
  const std::vector<std::string> image = {"input X f32[1x3x10x10]"};
  const auto with = [&](const std::vector<std::string>& more) {
    std::vector<std::string> lines = image;
    lines.insert(lines.end(), more.begin(), more.end());
    return operations_of(lines);
  };
  EXPECT_EQ(with({"const W f32[5x3x1x1] = rand:1", "Y = Conv(X, W)", "output Y"}), 2 * 5 * 3 * 100);
  EXPECT_EQ(with({"const W f32[5x3x3x3] = rand:1", "Y = Conv(X, W) pads=[1, 1, 1, 1]", "output Y"}),
            2 * 5 * 3 * 9 * 100)
      << "padding is counted, choosing between it and an element is not";
}

TEST(Work, OfAnAttentionThatIsComputedWholeIsThatOfItsDefinition) {
  const Module m = plan_graph(parse_model({"input Q f32[1x4x256x64]", "input K f32[1x4x256x64]",
                                           "input V f32[1x4x256x64]", "Y = Attention(Q, K, V)", "output Y"})
                                  .graph,
                              "model", *find_target("x86-64-v4"));
  ASSERT_EQ(m.plans[0].kernels.size(), 1u);
  const Kernel& k = m.plans[0].kernels[0];
  ASSERT_EQ(k.family->name(), "attention");
  const double products = 2 * 2 * 4 * 256 * 256 * 64;
  EXPECT_GE(k.cost.flops, products);
  EXPECT_LE(k.cost.flops, 1.2 * products);
}

}  // namespace
}  // namespace cameo::test
