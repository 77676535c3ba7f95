// Locks of choices: rows that a build writes choose the same kernels again, whatever the machine model says.
#include "optimizer/choose/lock.h"

#include <gtest/gtest.h>

#include "optimizer/choose/family.h"
#include "optimizer/choose/rivals.h"
#include "tests/support/graph_text.h"
#include "tests/support/road.h"

namespace cameo::test {
namespace {

Target locked(std::string_view rows, Target t = *find_target("x86-64-v4")) {
  take_lock(t, std::make_shared<const ChoiceLock>(rows));
  return t;
}
Plan planned(const Target& target) {
  return plan_graph(parse_model({"input A f32[40x64]", "const B f32[64x96] = rand:1", "C = MatMul(A, B)", "Y = Relu(C)",
                                 "S = Softmax(Y) axis=1", "output S"})
                        .graph,
                    "model", target)
      .plans[0];
}
std::string refusal(std::string_view rows) {
  try {
    planned(locked(rows));
    return "none";
  } catch (const CompileError& e) { return std::string(code_name(e.diagnostic.code)) + ": " + e.diagnostic.message; }
}

TEST(ChoiceLock, WhatABuildWritesChoosesTheSameOnAnotherMachine) {
  const std::string rows = choices_text(planned(locked("")));
  EXPECT_NE(rows.find("x86-64-v4 "), std::string::npos) << rows;
  Target other = *find_target("x86-64-v4");
  other.machine.name = "other";
  other.machine.fmas = 0.01;  // by these prices other tiles would win
  other.machine.l1_bytes = 64;
  other.machine.l2_bytes = 4096;  // and other bands
  other.machine.barrier = 1e-9;   // and more chunks
  const Plan by_price = planned(other), by_lock = planned(locked(rows, other));
  EXPECT_NE(by_price.steps[0].chunks, by_lock.steps[0].chunks);
  EXPECT_EQ(by_lock.steps[0].chunks, planned(locked("")).steps[0].chunks);
  EXPECT_EQ(choices_text(by_lock), rows);
  EXPECT_EQ(unused_rows(by_lock), 0u);
}

TEST(ChoiceLock, EqualNestsWithOtherWaysAreOtherProblems) {
  // one product is by a constant, which can stand in panels
  const ModelText model = parse_model({"input A f32[40x64]", "input B f32[64x96]", "const W f32[64x96] = rand:1",
                                       "C = MatMul(A, B)", "D = MatMul(A, W)", "output C", "output D"});
  const auto plan_by = [&](const Target& t) { return plan_graph(model.graph, "model", t).plans[0]; };
  const Plan plan = plan_by(locked(""));
  ASSERT_EQ(plan.kernels.size(), 2u);
  EXPECT_NE(plan.kernels[0].problems, plan.kernels[1].problems);
  EXPECT_EQ(choices_text(plan_by(locked(choices_text(plan)))), choices_text(plan));
}

TEST(ChoiceLock, NamesTheMachineWhoseRatesItsBuildsHave) {
  const Target zen = locked("x86-64-v4 machine model zen4");
  EXPECT_EQ(zen.machine, *find_machine("zen4", *find_target("x86-64-v4")));
  EXPECT_NE(choices_text(planned(zen)).find("x86-64-v4 machine model zen4\n"), std::string::npos);
  EXPECT_EQ(locked("x86-64-v3 machine model zen4").machine, find_target("x86-64-v4")->machine) << "another target's";
  EXPECT_EQ(refusal("x86-64-v4 machine model abacus"),
            "E0503: the lock was made for a machine `abacus`, which this cameo has no model of");
}

TEST(ChoiceLock, HasWaysThatOnlyMeasuringTellsApart) {
  const auto product = [](const Target& t) { return planned(t).kernels.at(0); };
  const Kernel free = product(*find_target("x86-64-v4")), named = product(locked(""));
  const auto has = [](const Kernel& k, std::string_view number) {
    return std::ranges::any_of(k.alternatives, [&](const Alternative& a) { return a.choice.get(number, -1) > 0; });
  };
  EXPECT_FALSE(has(free, "chunks") || has(free, "band")) << "they are for the tuner";
  EXPECT_TRUE(has(named, "chunks"));
  EXPECT_TRUE(has(named, "band"));
  const std::string row = "x86-64-v4 " + named.problems.at(0) + " contract ";
  const Plan other = planned(locked(row + named.choice.with("chunks", 2).text()));
  EXPECT_NE(planned(locked("")).steps.at(0).chunks, 2);
  EXPECT_EQ(other.steps.at(0).chunks, 2);
  EXPECT_EQ(planned(locked(row + named.choice.with("band", 1).text())).kernels.at(0).choice["band"], 1);
}

TEST(ChoiceLock, ARowWinsOverThePrices) {
  const Plan plan = planned(locked(""));
  const Kernel& product = plan.kernels.at(0);
  ASSERT_EQ(product.family->name(), "contract");
  const Alternative& second = product.alternatives.at(0);
  const std::string row = "x86-64-v4 " + product.problems.at(0) + " " + std::string(second.family->name()) + " " +
                          second.choice.text() + "\n";
  const Kernel other = planned(locked("# a comment\n\n" + row)).kernels.at(0);
  EXPECT_EQ(other.choice, second.choice);
  EXPECT_EQ(unused_rows(planned(locked(row + "x86-64-v4 0 1x2 nest\nx86-64-v3 0 1x2 nest\n"))), 1u);
  EXPECT_EQ(refusal("x86-64-v4 " + product.problems.at(0) + " contract rows=77"),
            "E0503: the lock wants problem " + product.problems.at(0) +
                " computed by `contract rows=77`, which is no way to do it");
}

TEST(ChoiceLock, RowsTakeThePlaceOfThoseOfTheirProblems) {
  const std::string text = "# mine\nt 1 2x2 nest lanes=1  # as it was\nu 1 2x2 nest lanes=1\n\nt 1 2x2 nest lanes=1\n";
  const std::string merged = with_rows(text, "t 3 8 nest lanes=4\nt 1 2x2 nest lanes=2  # 3 us\n");
  EXPECT_EQ(merged, "# mine\nt 1 2x2 nest lanes=2  # 3 us\nu 1 2x2 nest lanes=1\n\nt 3 8 nest lanes=4\n");
  const ChoiceLock lock(merged);
  ASSERT_TRUE(lock.find("t", "1 2x2"));
  EXPECT_EQ(lock.find("t", "1 2x2")->choice, "lanes=2") << "what stands behind # is no choice";
  EXPECT_EQ(lock.text(), "t 1 2x2 nest lanes=2\nt 3 8 nest lanes=4\nu 1 2x2 nest lanes=1\n");
}

TEST(ChoiceLock, RivalsAreOtherFamiliesFirstAndNoneIsHopeless) {
  const Module m = plan_graph(parse_model({"input X f32[1x32x32x32]", "const W f32[32x32x3x3] = rand:1",
                                           "Y = Conv(X, W) kernel_shape=[3,3]", "output Y"})
                                  .graph,
                              "model", locked(""));
  const std::vector<Rivalry> all = rivalries_of_kernels(m.plans[0], *m.sources);
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].won.family->name(), "winograd");
  EXPECT_EQ(all[0].rivals.at(0).family->name(), "contract");
  EXPECT_EQ(all[0].rivals.at(1).family->name(), "winograd");
  for (const Alternative& a : all[0].rivals) EXPECT_LE(a.seconds, 3 * all[0].won.seconds);
  EXPECT_TRUE(rivalries_of_claims(m.plans[0], *m.sources).empty());
}

TEST(ChoiceLock, WhatIsNoRowIsRefused) {
  EXPECT_EQ(refusal("\njunk"), "E0503: line 2 of the lock is no `TARGET PROBLEM AXES FAMILY CHOICE`");
  EXPECT_EQ(refusal("t 1 2x2 nest lanes=1\nt 1 2x2 nest lanes=2"),
            "E0503: line 2 of the lock contradicts one before it");
}

}  // namespace
}  // namespace cameo::test
