// Appends: which outputs may stand where an input does, and which step is left out then.
#include "optimizer/layout/appends.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "optimizer/plan/bind_plan.h"
#include "tests/support/graph_text.h"
#include "tests/support/road.h"
#include "tests/support/sizes.h"

namespace cameo::test {
namespace {

/// The plan of a model whose input `p` has a size on axis 1.
Plan plan_of(const std::vector<std::string>& lines, const Target& target = *find_target("x86-64-v3")) {
  const Graph given = parse_model(lines).graph;
  const Graph g = over_sizes(given, [&](size_t input, size_t axis, int64_t extent) {
    return given.input_name(static_cast<int>(input)) == "p" && axis == 1 ? Dim(symbol("P", {0, 40})) : Dim(extent);
  });
  return plan_graph(g, "", target).plans[0];
}

std::string sizes_of_steps(const Plan& plan, const DimBinding& sizes) {
  std::string chunks;
  for (const Step& s : bind_plan(plan, sizes).steps) chunks += std::to_string(s.chunks) + " ";
  return chunks;
}

TEST(Appends, AnInputInFrontIsNotCopiedWhereItStandsAlready) {
  const Plan plan = plan_of({"input p f32[32x3x64]", "input x f32[32x1x64]", "y = Concat(p, x) axis=1", "output y"});
  ASSERT_EQ(plan.appends.size(), 1u);
  const Append& a = plan.appends[0];
  EXPECT_EQ(a.input, 0u);
  EXPECT_EQ(a.output, 0u);
  EXPECT_EQ(a.axis, 1u);
  EXPECT_EQ(symbol_name(a.input_room), "room behind P");
  EXPECT_EQ(symbol_name(a.output_room), "room behind (P + 1)");
  EXPECT_EQ(range_of(a.output_room).high, 41);
  EXPECT_EQ(sizes_of_steps(plan, {{"P", 3}}), "3 1 ");
  EXPECT_EQ(sizes_of_steps(plan, {{"P", 3}, {"room behind P", 2}, {"room behind (P + 1)", 1}}), "0 1 ");
}

TEST(Appends, ViewsStandWhereTheOutputDoes) {
  const Plan plan =
      plan_of({"input p f32[1x3x2048]", "input x f32[1x1x2048]", "y = Concat(p, x) axis=1", "const first i64[1] = [0]",
               "s = Squeeze(y, first)", "t = Transpose(s) perm=[1, 0]", "z = MatMul(s, t)", "output y", "output z"});
  EXPECT_EQ(plan.appends.size(), 1u);
  EXPECT_EQ(plan.steps.size(), 3u) << "two halves of y, and the product";
}

TEST(Appends, OthersAreNone) {
  for (const std::vector<std::string>& lines : {
           std::vector<std::string>{"input p f32[32x3x64]", "input x f32[32x1x64]", "y = Concat(x, p) axis=1",
                                    "output y"},
           {"input p f32[32x3x64]", "input x f32[32x1x64]", "a = Neg(p)", "y = Concat(a, x) axis=1", "output y"},
           {"input p f32[32x3x64]", "y = Concat(p, p) axis=0", "output y"},
           {"input p f32[32x3x64]", "input x f32[32x1x64]", "y = Concat(p, x) axis=1", "z = Relu(y)", "output z"},
           {"input x f32[32x3x64]", "input y f32[32x1x64]", "z = Concat(x, y) axis=1", "output z"},
       })
    EXPECT_TRUE(plan_of(lines).appends.empty()) << lines[lines.size() - 2];
  EXPECT_TRUE(plan_of({"input p f32[32x3x64]", "input x f32[32x1x64]", "y = Concat(p, x) axis=1", "output y"},
                      gpu_target({"ptx"}))
                  .appends.empty());
}

}  // namespace
}  // namespace cameo::test
