// The physical mode on every operator case, for every target: the plan alone, evaluated over an arena full of poison,
// must compute what the interpreter does. And faults that a plan can have are done to one, to see that each shows.
#include "optimizer/plan/run_plan.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/support/case.h"
#include "tests/support/graph_text.h"
#include "tests/support/road.h"

namespace cameo::test {
namespace {

std::string run(const Module& m, const Graph& g, std::span<const Tensor> inputs) {
  return differences(run_plan(m, m.plans[0], inputs), interpret(g, inputs));
}

class PlannedCase : public testing::TestWithParam<std::filesystem::path> {};
TEST_P(PlannedCase, Runs) {
  for (const Case& c : load_case_file(GetParam())) {
    if (!c.graph || c.fail) continue;
    std::vector<Target> targets = named_targets();
    targets.push_back(gpu_target({"ptx"}));
    for (const Target& target : targets) {
      SCOPED_TRACE(fmt::format("{} {} for {}", c.where, c.name, target.name));
      std::optional<Module> m;
      try {
        m = plan_graph(*c.graph, "", target);
      } catch (const CompileError&) { continue; }  // what is refused is the matrix's business
      try {
        EXPECT_EQ(run(*m, *c.graph, c.inputs), "");
      } catch (const std::exception& e) { ADD_FAILURE() << e.what() << "\n" << to_string(m->plans[0], *m->sources); }
    }
  }
}
INSTANTIATE_TEST_SUITE_P(Ops, PlannedCase,
                         testing::ValuesIn(case_files(std::filesystem::path(CAMEO_SOURCE_DIR) / "tests/ops")),
                         [](const auto& info) { return operator_of(info.param); });

// ---- faults ---------------------------------------------------------------------------------------------------------
/// What becomes of a sound plan that was damaged: nothing, the first wrong output, or the fault that stopped it.
std::string damaged(const std::vector<std::string>& lines, const std::function<void(Plan&)>& damage) {
  ModelText model = parse_model(lines);
  Module m = plan_graph(model.graph, "", *find_target("x86-64-v3"));
  EXPECT_EQ(run(m, model.graph, model.inputs), "");
  damage(m.plans[0]);
  try {
    return run(m, model.graph, model.inputs);
  } catch (const PlanFault& e) { return e.what(); }
}
const std::vector<std::string> kProducts = {"input X f32[4x32]", "const W f32[32x32] = rand:2",
                                            "A = MatMul(X, W)",  "B = MatMul(A, W)",
                                            "C = MatMul(B, W)",  "output C"};
const std::vector<std::string> kLoop = {"input X f32[5x1x4]", "const W f32[1x12x4] = rand:2",
                                        "const R f32[1x12x4] = rand:3", "Y = GRU(X, W, R) hidden_size=4", "output Y"};
testing::AssertionResult has(const std::string& text, const std::string& part) {
  if (text.find(part) != std::string::npos) return testing::AssertionSuccess();
  return testing::AssertionFailure() << "`" << text << "` lacks `" << part << "`";
}
Step& step_of(Plan& p, StepKind kind) { return *std::ranges::find(p.steps, kind, &Step::kind); }

TEST(RunPlan, ABufferThatIsReusedTooEarlyIsPoison) {
  EXPECT_TRUE(has(damaged(kProducts, [](Plan& p) { p.buffers[0].last = 0; }),
                  "step 1 k000_matmul: `arena+0` lies in no buffer"));
  auto share = [](Plan& p) {
    for (Step& s : p.steps)
      for (Ref& r : s.refs)
        if (r.base == Base::Arena) r.offset = 0;
    p.buffers[1].offset = 0;
  };
  EXPECT_TRUE(has(damaged(kProducts, share), "output 0:"));
}
TEST(RunPlan, WhatIsNotWrittenIsPoison) {
  EXPECT_TRUE(
      has(damaged(kProducts, [](Plan& p) { p.steps[0].kind = StepKind::Jump, p.steps[0].jump = 1; }), "output 0:"));
  EXPECT_TRUE(
      has(damaged(kProducts, [](Plan& p) { p.steps[2].kind = StepKind::Jump, p.steps[2].jump = 3; }), "output 0:"));
}
TEST(RunPlan, AHaloThatIsNotWrittenIsPoison) {
  auto narrow = [](Plan& p) {  // the first kernel writes no more than one element of its buffer
    Kernel& k = p.kernels[p.steps[0].kernel];
    for (Expr& axis : k.axes) {
      std::vector<Expr> from{axis}, to{integer(0)};
      for (Store& s : k.stores) s.offset = substitute(s.offset, from, to), s.value = substitute(s.value, from, to);
    }
  };
  EXPECT_TRUE(has(damaged({"input X f32[1x16x8x8]", "const W f32[16x16x3x3] = rand:2",
                           "C = Conv(X, W) pads=[1, 1, 1, 1]", "output C"},
                          narrow),
                  "output 0:"));
}
TEST(RunPlan, WhatReachesOutOfItsBufferIsAFault) {
  auto store_further = [](Plan& p) { p.kernels[0].stores[0].offset = p.kernels[0].stores[0].offset + integer(1); };
  EXPECT_TRUE(has(damaged(kProducts, store_further), "step 0 k000_matmul: stores element 128 of 128"));
  EXPECT_TRUE(has(damaged(kProducts, [](Plan& p) { std::swap(p.steps[0].refs[0], p.steps[0].refs[1]); }),
                  "step 0 k000_matmul: stores into what is only read"));
  EXPECT_TRUE(has(damaged(kLoop, [](Plan& p) { step_of(p, StepKind::Copy).bytes = 1000; }), "reaches 1000 bytes into"));
}
TEST(RunPlan, IndicesBesideAProductAreChecked) {
  ModelText model = parse_model({"input a f32[6x8] = rand:1", "const w f32[8x16] = rand:2", "input d f32[6x4] = rand:3",
                                 "input i i64[6x16] = randint:4:0:3", "m = MatMul(a, w)",
                                 "g = GatherElements(d, i) axis=1", "y = Add(m, g)", "output y"});
  const Module m = plan_graph(model.graph, "", *find_target("x86-64-v3"));
  EXPECT_EQ(m.plans[0].steps.size(), 1u) << to_string(m.plans[0], *m.sources);
  EXPECT_EQ(run(m, model.graph, model.inputs), "");
  model.inputs[2].set_int(17, 4);
  EXPECT_THROW((void)run_plan(m, m.plans[0], model.inputs), CompileError);
}
TEST(RunPlan, LoopsSwapAndAdvance) {
  EXPECT_TRUE(
      has(damaged(kLoop, [](Plan& p) { step_of(p, StepKind::Swap).b = step_of(p, StepKind::Swap).a; }), "output 0:"));
  EXPECT_TRUE(has(damaged(kLoop, [](Plan& p) { step_of(p, StepKind::Advance).bytes = 0; }), "output 0:"));
  EXPECT_TRUE(has(damaged(kLoop, [](Plan& p) { step_of(p, StepKind::Advance).bytes = 24; }), "step"));
}

TEST(RunPlan, EitherBranchOfAnIf) {
  const std::vector<std::string> lines = {"input c b1[]",
                                          "input X f32[8] = rand:1:1:2",
                                          "E = Exp(X)",
                                          "body yes",
                                          "input E f32[8]",
                                          "A = Neg(E)",
                                          "output A",
                                          "end",
                                          "body no",
                                          "input E f32[8]",
                                          "B = Log(E)",
                                          "C = Sqrt(B)",
                                          "output C",
                                          "end",
                                          "Y = If(c, E) bodies=[yes, no]",
                                          "Z = Add(Y, E)",
                                          "output Z"};
  for (std::string c : {"true", "false"}) {
    std::vector<std::string> with = lines;
    with[0] += " = " + c;
    EXPECT_EQ(damaged(with, [](Plan&) {}), "");
    auto swap_branches = [](Plan& p) {  // to the other branch, or past it
      step_of(p, StepKind::JumpIfFalse).jump = static_cast<int>(p.steps.size()) - 1;
      step_of(p, StepKind::Jump).jump -= 1;
    };
    EXPECT_TRUE(has(damaged(with, swap_branches), "output 0:"));
  }
}

}  // namespace
}  // namespace cameo::test
