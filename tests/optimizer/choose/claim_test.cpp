// Claims against prices and locks: what wins is planned, and said.
#include "optimizer/choose/claim.h"

#include <gtest/gtest.h>

#include "optimizer/choose/family.h"
#include "optimizer/choose/lock.h"
#include "tests/support/graph_text.h"
#include "tests/support/road.h"

namespace cameo::test {
namespace {

Graph attention(int64_t queries) {
  const std::string shape = " f32[1x2x" + std::to_string(queries) + "x32]";
  return parse_model({"input Q" + shape, "input K" + shape, "input V" + shape, "Y = Attention(Q, K, V)", "output Y"})
      .graph;
}
Plan plan_of(const Graph& g, const std::string& lock = {}) {
  Target target = *find_target("x86-64-v3");
  target.lock = std::make_shared<const ChoiceLock>(lock);
  return plan_graph(g, "model", target).plans[0];
}
std::string row_of_claim(const Plan& plan, const std::string& won) {
  return "x86-64-v3 " + plan.claims.at(0).problem + " " + won + "\n";
}

TEST(Claims, TheLowerPriceWinsAndTheOtherIsSaid) {
  const Plan plan = plan_of(attention(128));
  ASSERT_EQ(plan.claims.size(), 1u);
  const Claim& claim = plan.claims[0];
  EXPECT_EQ(name_of_family(claim.won), "attention");
  ASSERT_FALSE(claim.lost.empty());
  EXPECT_EQ(name_of_family(claim.lost[0]), "expanded");
  EXPECT_LT(claim.won.seconds, claim.lost[0].seconds);
  ASSERT_EQ(plan.kernels.size(), 1u);
  EXPECT_EQ(plan.kernels[0].family->name(), "attention");
  EXPECT_EQ(name_of_family(plan.kernels[0].alternatives.at(0)), "expanded");
  EXPECT_NE(choices_text(plan).find(claim.problem + " attention " + claim.won.choice.text()), std::string::npos);
}

TEST(Claims, ALockSaysWhichWins) {
  const Graph g = attention(128);
  const Plan free = plan_of(g), expanded = plan_of(g, row_of_claim(free, "expanded"));
  EXPECT_EQ(name_of_family(expanded.claims.at(0).won), "expanded");
  EXPECT_GT(expanded.kernels.size(), 1u);
  EXPECT_EQ(unused_rows(expanded), 0u);
  EXPECT_NE(choices_text(expanded).find(row_of_claim(free, "expanded")), std::string::npos);
  const std::string other = free.claims[0].lost.at(1).choice.text();
  const Plan locked = plan_of(g, row_of_claim(free, "attention " + other));
  ASSERT_EQ(locked.kernels.size(), 1u);
  EXPECT_EQ(locked.kernels[0].choice.text(), other);
}

TEST(Claims, EqualNodesAreDecidedOnce) {
  const Graph g =
      parse_model({"input X f32[1x2x128x32]", "A = Attention(X, X, X)", "B = Attention(A, A, X)", "output B"}).graph;
  const Plan plan = plan_of(g);
  ASSERT_EQ(plan.claims.size(), 1u);
  EXPECT_EQ(plan.claims[0].provenance.size(), 2u);
  EXPECT_EQ(plan.steps.size(), 2u);
}

TEST(Claims, GpusExpandWhatNoFamilyOfTheirsComputes) {
  EXPECT_TRUE(plan_graph(attention(128), "model", gpu_target({"ptx"})).plans[0].claims.empty());
}

}  // namespace
}  // namespace cameo::test
