// Which kernels may run side by side, on plans made by hand: what one writes and another one touches keeps them apart,
// to the byte; and where the arena would grow, they wait.
#include <gtest/gtest.h>

#include "optimizer/choose/family.h"
#include "optimizer/lower/lower_kernel.h"
#include "optimizer/plan/verify_plan.h"

namespace cameo {
namespace {

constexpr int64_t kRows = 4, kColumns = 8;

/// y[row * pitch + column] = x[the same] of so many columns; 4 bytes an element.
Kernel copy_kernel(int64_t pitch) {
  const Expr row = var(integer(kRows)), column = var(integer(kColumns)), at = row * integer(pitch) + column;
  Kernel k;
  k.family = &family("nest");
  k.axes = {row, column};
  k.operands = {DType::f32, DType::f32};
  k.stores = {{0, at, boolean(true), read_at(1, DType::f32, at, boolean(true), zero(DType::f32))}};
  return k;
}
/// y[x[column]] = 1
Kernel scatter_kernel() {
  const Expr column = var(integer(kColumns));
  Kernel k;
  k.family = &family("scatter");
  k.axes = {column};
  k.operands = {DType::f32, DType::i64};
  const Expr to = read_at(1, DType::i64, column, boolean(true), zero(DType::i64));
  k.stores = {{0, to, ge(to, integer(0)), one(DType::f32)}};
  return k;
}

enum : uint32_t { kCompact, kWindow, kScatter };

Step kernel_step(uint32_t kernel, Ref to, Ref from, int chunks = 2) {
  Step s;
  s.kernel = kernel;
  s.refs = {to, from};
  s.chunks = chunks;
  return s;
}
Plan plan_of(std::vector<Step> steps) {
  Plan plan;
  plan.target = *find_target("x86-64-v3");
  plan.kernels = {copy_kernel(kColumns), copy_kernel(2 * kColumns), scatter_kernel()};
  plan.steps = std::move(steps);
  plan.slots = 2;
  return plan;
}
Ref buffer(uint32_t number, int64_t offset = 0) { return {Base::Arena, number, offset}; }
Ref input(uint32_t number) { return {Base::Input, number, 0}; }
Ref output(uint32_t number, int64_t offset = 0) { return {Base::Output, number, offset}; }
Ref slot(uint32_t number) { return {Base::Slot, number, 0}; }

/// By step: `|` where it waits, `-` where it stands beside the one before.
std::string waits(const Plan& plan) {
  std::string s;
  for (const Group& g : plan.groups) s += '|' + std::string(static_cast<size_t>(g.end - g.begin - 1), '-');
  return s;
}
std::string groups(std::vector<Step> steps) {
  Plan plan = plan_of(std::move(steps));
  find_groups(plan);
  return waits(plan);
}

TEST(Groups, OfOtherBuffersStandSideBySide) {
  EXPECT_EQ(groups({kernel_step(kCompact, buffer(0), input(0)), kernel_step(kCompact, buffer(1), input(0)),
                    kernel_step(kCompact, output(0), buffer(2)), kernel_step(kCompact, output(1), buffer(2))}),
            "|---");
}
TEST(Groups, WaitForWhatTheyReadAndForWhatIsReadOrWritten) {
  const Step first = kernel_step(kCompact, buffer(0), buffer(1));
  EXPECT_EQ(groups({first, kernel_step(kCompact, buffer(2), buffer(0))}), "||");  // read after write
  EXPECT_EQ(groups({first, kernel_step(kCompact, buffer(1), input(0))}), "||");   // write after read
  EXPECT_EQ(groups({first, kernel_step(kCompact, buffer(0), input(0))}), "||");   // write after write
  EXPECT_EQ(groups({first, kernel_step(kCompact, buffer(2), buffer(1))}), "|-");  // both read
  EXPECT_EQ(groups({first, kernel_step(kCompact, buffer(2), input(0)), kernel_step(kCompact, buffer(3), buffer(0)),
                    kernel_step(kCompact, buffer(4), buffer(0))}),
            "|-|-");
}
TEST(Groups, PartsOfABufferMeetOrDoNot) {
  const Step first = kernel_step(kCompact, buffer(0), input(0));
  constexpr int64_t kBytes = kRows * kColumns * 4;
  EXPECT_EQ(groups({first, kernel_step(kCompact, buffer(0, kBytes), input(0))}), "|-");
  EXPECT_EQ(groups({first, kernel_step(kCompact, buffer(0, kBytes - 4), input(0))}), "||");
}
TEST(Groups, WindowsSideBySideDoNotMeet) {
  const Step left = kernel_step(kWindow, output(0), input(0));
  EXPECT_EQ(groups({left, kernel_step(kWindow, output(0, kColumns * 4), input(0))}), "|-");
  EXPECT_EQ(groups({left, kernel_step(kWindow, output(0, kColumns * 4 - 4), input(0))}), "||");
  EXPECT_EQ(groups({left, kernel_step(kWindow, output(0, kColumns * 4 + 4), input(0))}),
            "||");  // the next row's left
  EXPECT_EQ(groups({left, kernel_step(kCompact, output(0, kColumns * 4), input(0))}), "||");
}
TEST(Groups, WhatComesOutOfDataMayBeAnywhereInItsBuffer) {
  const Step first = kernel_step(kScatter, buffer(0), input(0));
  EXPECT_EQ(groups({first, kernel_step(kCompact, buffer(0, 4096), input(0))}), "||");
  EXPECT_EQ(groups({first, kernel_step(kCompact, buffer(1), input(0))}), "|-");
}
TEST(Groups, SlotsMayStandAnywhereInArenaAndOutputs) {
  const Step first = kernel_step(kCompact, slot(0), input(0));
  EXPECT_EQ(groups({first, kernel_step(kCompact, buffer(0), input(0))}), "||");
  EXPECT_EQ(groups({first, kernel_step(kCompact, output(0), input(0))}), "||");
  EXPECT_EQ(groups({first, kernel_step(kCompact, slot(1), input(0))}), "||");
  EXPECT_EQ(groups({kernel_step(kCompact, buffer(0), slot(0)), kernel_step(kCompact, buffer(1), input(0))}), "||");
}
TEST(Groups, ControlFlowWaits) {
  Step jump;
  jump.kind = StepKind::Jump;
  jump.jump = 2;
  EXPECT_EQ(groups({kernel_step(kCompact, buffer(0), input(0)), jump, kernel_step(kCompact, buffer(1), input(0)),
                    kernel_step(kCompact, buffer(2), input(0))}),
            "|||-");
}
TEST(Groups, OfStepsThatThreadsDoNotShareHaveOneEach) {
  EXPECT_EQ(groups({kernel_step(kCompact, buffer(0), input(0), 1), kernel_step(kCompact, buffer(1), input(0), 1)}),
            "||");
  EXPECT_EQ(groups({kernel_step(kCompact, buffer(0), input(0), 1), kernel_step(kCompact, buffer(1), input(0), 2)}),
            "|-");
}
TEST(Groups, AreNotEndless) {
  std::vector<Step> steps;
  for (uint32_t i = 0; i < 72; ++i) steps.push_back(kernel_step(kCompact, buffer(i), input(0)));
  EXPECT_EQ(groups(steps), "|" + std::string(63, '-') + "|" + std::string(7, '-'));
}
TEST(Groups, OfAGpuHaveOneStepEach) {
  Plan plan = plan_of({kernel_step(kCompact, buffer(0), input(0)), kernel_step(kCompact, buffer(1), input(0))});
  plan.target = gpu_target({"ptx"});
  find_groups(plan);
  EXPECT_EQ(waits(plan), "||");
}

// ---- places ---------------------------------------------------------------------------------------------------------
/// Steps 1 and 2 need nothing of each other; the last use of buffer 0 is step 1, the first one of buffer 2 step 2.
Plan with_reuse(int64_t other_bytes) {
  Plan plan = plan_of({kernel_step(kCompact, buffer(0), input(0)), kernel_step(kCompact, buffer(1), buffer(0)),
                       kernel_step(kCompact, buffer(2), input(0)), kernel_step(kCompact, buffer(3), buffer(2))});
  plan.buffers = {{128, 0, 1, 0, ""}, {128, 1, 3, 0, ""}, {128, 2, 3, 0, ""}, {other_bytes, 3, 3, 0, ""}};
  find_groups(plan);
  EXPECT_EQ(waits(plan), "||-|");
  place_groups(plan);
  return plan;
}
TEST(Groups, DoNotReuseTheirMemoryWhereThereIsRoom) {
  const Plan plan = with_reuse(128);
  EXPECT_EQ(plan.arena_bytes, 384);
  EXPECT_EQ(waits(plan), "||-|");
  EXPECT_EQ(plan.buffers[0].last, 2);
  EXPECT_EQ(plan.buffers[2].first, 1);
}
TEST(Groups, WaitWhereTheArenaWouldGrow) {
  Plan plan = with_reuse(64);  // 3 buffers of 128 bytes would be 384
  EXPECT_EQ(plan.arena_bytes, 320);
  EXPECT_EQ(waits(plan), "||||");
  EXPECT_EQ(plan.buffers[2].offset, plan.buffers[0].offset);
}

// ---- the verifier's own walk ----------------------------------------------------------------------------------------
std::string verdict(const Step& x, const Step& y) {
  Plan plan = plan_of({x, y});
  plan.groups = {{0, 2}};
  plan.arena_bytes = 4096;
  plan.buffers = {{4096, 0, 1, 0, ""}};
  const std::vector<std::string> problems = verify_groups(plan);
  return problems.empty() ? "" : problems[0];
}
TEST(VerifyGroups, StepsSideBySideShareNothing) {
  const Step first = kernel_step(kCompact, buffer(0), input(0));
  EXPECT_EQ(verdict(first, kernel_step(kCompact, output(0), input(0))), "");
  EXPECT_EQ(verdict(first, kernel_step(kCompact, buffer(0, 128), input(0))), "");
  EXPECT_EQ(verdict(first, kernel_step(kCompact, buffer(0, 124), input(0))),
            "steps 0 and 1 stand side by side, but `arena+0` and `arena+124` share bytes");
  EXPECT_EQ(verdict(first, kernel_step(kCompact, output(0), buffer(0, 124))),
            "steps 0 and 1 stand side by side, but `arena+0` and `arena+124` share bytes");
  EXPECT_EQ(verdict(kernel_step(kCompact, output(0), buffer(0)), kernel_step(kCompact, output(1), buffer(0))), "");
  EXPECT_NE(verdict(first, kernel_step(kCompact, slot(0), input(0))), "");
  EXPECT_NE(verdict(first, kernel_step(kScatter, buffer(0, 2048), input(0))), "");
}
TEST(VerifyGroups, Windows) {
  const Step left = kernel_step(kWindow, output(0), input(0));
  EXPECT_EQ(verdict(left, kernel_step(kWindow, output(0, kColumns * 4), input(0))), "");
  EXPECT_NE(verdict(left, kernel_step(kWindow, output(0, kColumns * 4 + 4), input(0))), "");
  EXPECT_NE(verdict(left, kernel_step(kCompact, output(0, kColumns * 4), input(0))), "");
}
TEST(VerifyGroups, ControlFlowStandsBesideNothing) {
  Step jump;
  jump.kind = StepKind::Jump;
  EXPECT_EQ(verdict(kernel_step(kCompact, buffer(0), input(0)), jump),
            "step 1: stands beside others and is no kernel of the target");
}
TEST(VerifyGroups, EveryStepIsInOne) {
  const Step step = kernel_step(kCompact, output(0), input(0));
  const auto problem_of = [&](std::vector<Group> groups) {
    Plan plan = plan_of({step, step, step});
    plan.groups = std::move(groups);
    const std::vector<std::string> problems = verify_groups(plan);
    return problems.empty() ? "" : problems[0];
  };
  EXPECT_EQ(problem_of({{0, 1}, {1, 2}, {2, 3}}), "");
  EXPECT_EQ(problem_of({{0, 1}, {2, 3}}), "a group of steps 2 to 2 follows step 0");
  EXPECT_EQ(problem_of({{0, 1}, {1, 2}}), "groups have 2 steps, the plan 3");
}

}  // namespace
}  // namespace cameo
