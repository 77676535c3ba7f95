// Chains of kernels in strips: on a machine whose caches hold next to nothing small models have them too. Each plan,
// over an arena and threads' memory full of poison, computes what the interpreter does.
#include <gtest/gtest.h>

#include <algorithm>

#include "optimizer/choose/lock.h"
#include "optimizer/plan/run_plan.h"
#include "optimizer/plan/verify_plan.h"
#include "tests/support/graph_text.h"
#include "tests/support/road.h"

namespace cameo::test {
namespace {

using Lines = std::vector<std::string>;

int64_t strips_of(const Plan& p) {
  int64_t strips = 0;
  for (size_t i = 0; i + 1 < p.steps.size(); ++i) strips += !p.steps[i].follows && p.steps[i + 1].follows;
  return strips;
}

struct Chain {
  const char* name;
  Lines lines;
  bool in_strips = true;
};
void PrintTo(const Chain& c, std::ostream* out) { *out << c.name; }

Lines inverted_residual(const std::string& depthwise, const std::string& taps) {
  return {"input X f32[1x8x16x16]",
          "const E f32[32x8x1x1] = rand:2",
          "const D f32[32x1x" + taps + "] = rand:3",
          "const P f32[8x32x1x1] = rand:4",
          "const B f32[32] = rand:5",
          "const low f32[] = 0",
          "const high f32[] = 0.5",
          "e = Conv(X, E, B)",
          "f = Clip(e, low, high)",
          "d = Conv(f, D, B) group=32 " + depthwise,
          "c = Clip(d, low, high)",
          "p = Conv(c, P)"};
}
Lines with(Lines lines, const Lines& more) {
  lines.insert(lines.end(), more.begin(), more.end());
  return lines;
}

class Strips : public testing::TestWithParam<Chain> {};
TEST_P(Strips, ComputeWhatTheGraphDoes) {
  const ModelText model = parse_model(GetParam().lines);
  for (const char* name : {"x86-64-v3", "x86-64-v4-amx"}) {
    SCOPED_TRACE(name);
    const Module m = plan_graph(model.graph, "", with_small_caches(name));
    const Plan& plan = m.plans[0];
    const std::string text = to_string(plan, *m.sources);
    EXPECT_EQ(strips_of(plan) > 0, GetParam().in_strips) << text;
    EXPECT_EQ(differences(run_plan(m, plan, model.inputs), interpret(model.graph, model.inputs)), "") << text;
    Target apart = with_small_caches(name);
    apart.forms_strips = false;
    EXPECT_EQ(strips_of(plan_graph(model.graph, "", apart).plans[0]), 0);
  }
}
INSTANTIATE_TEST_SUITE_P(
    Chains, Strips,
    testing::Values(
        Chain{"residual", with(inverted_residual("pads=[1, 1, 1, 1]", "3x3"), {"y = Add(p, X)", "output y"})},
        Chain{"stride", with(inverted_residual("strides=[2, 2] pads=[1, 1, 1, 1]", "3x3"), {"output p"})},
        Chain{"more_below", with(inverted_residual("strides=[2, 2] pads=[0, 0, 1, 1]", "3x3"), {"output p"})},
        Chain{"five_taps", with(inverted_residual("pads=[2, 2, 2, 2]", "5x5"), {"output p"})},
        Chain{"dilated", with(inverted_residual("pads=[2, 2, 2, 2] dilations=[2, 2]", "3x3"), {"output p"})},
        Chain{"no_pads", with(inverted_residual("", "1x3"), {"output p"})},
        Chain{"far_pads", with(inverted_residual("pads=[10, 1, 1, 1]", "3x3"), {"output p"})},
        Chain{"two_blocks",
              with(inverted_residual("pads=[1, 1, 1, 1]", "3x3"),
                   {"e2 = Conv(p, E)", "d2 = Conv(e2, D) group=32 pads=[1, 1, 1, 1]", "y = Conv(d2, P)", "output y"})},
        Chain{"squeezed",  // the last one of the chain has two readers
              {"input X f32[1x8x16x16]", "const E f32[32x8x1x1] = rand:2", "const D f32[32x1x3x3] = rand:3",
               "e = Conv(X, E)", "d = Conv(e, D) group=32 pads=[1, 1, 1, 1]", "s = GlobalAveragePool(d)",
               "y = Mul(d, s)", "output y"}},
        Chain{"pool",
              {"input X f32[1x4x24x24]", "const W f32[32x4x1x1] = rand:2", "const V f32[4x32x1x1] = rand:3",
               "c = Conv(X, W)", "q = MaxPool(c) kernel_shape=[3, 3] strides=[2, 2] pads=[1, 1, 1, 1]",
               "y = Conv(q, V)", "output y"}},
        Chain{"perceptron",
              {"input X f32[512x8]", "const U f32[8x64] = rand:2", "const V f32[64x8] = rand:3", "u = MatMul(X, U)",
               "g = Gelu(u)", "y = MatMul(g, V)", "output y"}},
        Chain{"between_others",  // what is made between the first and the last
              {"input X f32[512x8]", "input Z f32[8x4]", "const U f32[8x64] = rand:2", "const V f32[64x8] = rand:3",
               "u = MatMul(X, U)", "z = Softmax(Z)", "v = MatMul(u, V)", "y = MatMul(v, z)", "output y", "output z"}},
        Chain{"other_reader",  // of what the first one reads, before the last one
              {"input X f32[512x8]", "const U f32[8x64] = rand:2", "const V f32[64x8] = rand:3", "x = Sin(X)",
               "u = MatMul(x, U)", "s = Softmax(x) axis=0", "v = MatMul(u, V)", "y = Mul(v, s)", "output y"}},
        Chain{"two_readers",
              {"input X f32[512x8]", "const U f32[8x64] = rand:2", "const V f32[64x8] = rand:3", "u = MatMul(X, U)",
               "v = MatMul(u, V)", "w = ReduceSum(u)", "y = Add(v, w)", "output y"},
              false},
        Chain{"prime",  // no number of strips divides its rows
              {"input X f32[521x8]", "const U f32[8x64] = rand:2", "const V f32[64x8] = rand:3", "u = MatMul(X, U)",
               "y = MatMul(u, V)", "output y"},
              false}),
    [](const auto& info) { return info.param.name; });

// ---- locks
/// With these choices in place of the prices'.
Plan plan_by(const ModelText& model, std::string_view lock) {
  Target t = with_small_caches("x86-64-v3");
  t.lock = std::make_shared<const ChoiceLock>(lock);
  return plan_graph(model.graph, "", t).plans[0];
}

TEST(Strips, ALockDecides) {
  const ModelText model = parse_model(with(inverted_residual("pads=[1, 1, 1, 1]", "3x3"), {"output p"}));
  const std::string priced = choices_text(plan_by(model, ""));
  EXPECT_EQ(choices_text(plan_by(model, priced)), priced);
  EXPECT_EQ(unused_rows(plan_by(model, priced)), 0u);
  const size_t at = priced.find("strips count=8");
  ASSERT_NE(at, std::string::npos) << priced;
  const auto instead = [&](const std::string& row) { return std::string(priced).replace(at, 14, row); };
  EXPECT_EQ(strips_of(plan_by(model, instead("strips count=16"))), 16);
  const Plan apart = plan_by(model, instead("apart"));
  EXPECT_NE(choices_text(apart).find(" apart\n"), std::string::npos) << choices_text(apart);
  for (const char* wrong : {"strips count=5", "contract", "strips"})
    EXPECT_THROW((void)plan_by(model, instead(wrong)), CompileError) << wrong;
}

TEST(Strips, ALockNamesAChainThatBeginsWithACopy) {
  const ModelText model =
      parse_model({"input X f32[1x3x32x32]", "const W f32[32x3x3x3] = rand:2", "const P f32[8x32x1x1] = rand:3",
                   "c = Conv(X, W) pads=[1, 1, 1, 1]", "r = Relu(c)", "p = Conv(r, P)", "output p"});
  const Plan plan = plan_by(model, "");
  ASSERT_TRUE(std::ranges::any_of(plan.claims, [](const Claim& c) { return c.op.starts_with("Relayout, "); }));
  const std::string rows = choices_text(plan);
  const Plan again = plan_by(model, rows);
  EXPECT_EQ(choices_text(again), rows);
  EXPECT_EQ(unused_rows(again), 0u);
}

// ---- damaged plans
TEST(Strips, AWrongPlaceShows) {
  const ModelText model = parse_model(with(inverted_residual("pads=[1, 1, 1, 1]", "3x3"), {"output p"}));
  const Module m = plan_graph(model.graph, "", with_small_caches("x86-64-v3"));
  const auto problems_after = [&](auto damage) {
    Plan plan = m.plans[0];
    damage(plan);
    const std::vector<std::string> problems = verify_plan(plan, m.io, m.weights.bytes);
    return problems.empty() ? "" : problems[0];
  };
  const auto first_following = [](Plan& p) { return std::ranges::find(p.steps, true, &Step::follows); };
  EXPECT_EQ(problems_after([](Plan&) {}), "");
  EXPECT_NE(problems_after([&](Plan& p) { first_following(p)->chunks = 2; }).find("is part of a strip"),
            std::string::npos);
  EXPECT_NE(problems_after([&](Plan& p) { first_following(p)->refs[0] = {Base::Arena, 0, 0}; }).find("from elsewhere"),
            std::string::npos);
  EXPECT_NE(problems_after([](Plan& p) { p.scratch_bytes = 64; }).find("bytes into 64"), std::string::npos);
  // all strips write the rows of the first one
  EXPECT_NE(problems_after([](Plan& p) {
              std::optional<Ref> first;
              for (size_t i = 0; i + 1 < p.steps.size(); ++i)
                if (p.steps[i].follows && !p.steps[i + 1].follows) {
                  if (!first) first = p.steps[i].refs[0];
                  p.steps[i].refs[0] = *first;
                }
            }).find("share bytes"),
            std::string::npos);
  // a strip in two groups
  EXPECT_NE(problems_after([&](Plan& p) {
              const int at = static_cast<int>(first_following(p) - p.steps.begin());
              const auto group =
                  std::ranges::find_if(p.groups, [&](const Group& g) { return g.begin <= at && at < g.end; });
              const Group behind{at, group->end};
              group->end = at;
              p.groups.insert(group + 1, behind);
            }).find("in another"),
            std::string::npos);
  Plan moved = m.plans[0];  // into the rows of another strip
  auto last = std::ranges::find_if(moved.steps, [](const Step& s) { return s.refs[0].base == Base::Scratch; });
  last->refs[0].offset += 64;
  EXPECT_NE(differences(run_plan(m, moved, model.inputs), interpret(model.graph, model.inputs)), "");
}

}  // namespace
}  // namespace cameo::test
