// Locks of choices: rows that a build writes choose the same kernels again, whatever the machine model says.
#include "optimizer/choose/lock.h"

#include <gtest/gtest.h>

#include "optimizer/choose/family.h"
#include "tests/support/graph_text.h"
#include "tests/support/road.h"

namespace cameo::test {
namespace {

Target locked(std::string_view rows) {
  Target t = *find_target("x86-64-v4");
  t.lock = std::make_shared<const ChoiceLock>(rows);
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
  Target other = locked(rows);
  other.machine.fmas = 0.01;  // by these prices other tiles would win
  other.machine.l1_bytes = 64;
  EXPECT_EQ(choices_text(planned(other)), rows);
  EXPECT_EQ(unused_rows(planned(other)), 0u);
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

TEST(ChoiceLock, WhatIsNoRowIsRefused) {
  EXPECT_EQ(refusal("\njunk"), "E0503: line 2 of the lock is no `TARGET PROBLEM AXES FAMILY CHOICE`");
  EXPECT_EQ(refusal("t 1 2x2 nest lanes=1\nt 1 2x2 nest lanes=2"),
            "E0503: line 2 of the lock contradicts one before it");
}

}  // namespace
}  // namespace cameo::test
