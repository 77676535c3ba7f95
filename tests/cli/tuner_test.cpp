// The tuner on a machine that is made up: builds, runs and a clock that cost what the test says.
#include "cli/tuner.h"

#include <gtest/gtest.h>

#include "optimizer/choose/family.h"

namespace cameo {
namespace {

const std::string kTarget = "t";

struct Way {
  Alternative way;
  double ns;
};
Way way(int64_t lanes, double ns) { return {{&family("nest"), {{"lanes", lanes}}, 1e-6, {}}, ns}; }

/// A kernel of a name, which is its problem's and its ONNX node's too; the first of its ways wins by price.
struct MadeUpKernel {
  std::string name;
  std::vector<Way> ways;
};

class MadeUpMachine : public Workshop {
 public:
  explicit MadeUpMachine(std::vector<MadeUpKernel> kernels) : kernels_(std::move(kernels)) {}

  Trial build(const ChoiceLock& lock) override {
    now_ += build_seconds;
    if (++builds == failing_build) throw std::runtime_error("no such instruction");
    Trial t{kTarget, {}, {}, {}, "", {std::to_string(builds), {}, {}}};
    const auto* row = lock.find(kTarget, "whole 1");
    const bool expands = row && row->family == kExpanded;
    if (claim_ns > 0) {
      const Alternative whole{&family("nest"), {}, 1e-6, {}}, apart{nullptr, {}, 2e-6, {}};
      t.claims.push_back({{"whole 1"}, {"whole"}, true, expands ? apart : whole, {expands ? whole : apart}});
      t.choices += kTarget + " whole 1 " + (expands ? "expanded\n" : "nest\n");
    }
    for (const MadeUpKernel& k : kernels_) {
      if (k.name == "part" && !expands) continue;
      const std::string problem = k.name + " 1";
      const auto* held = lock.find(kTarget, problem);
      Rivalry r{{problem}, {k.name}, false, k.ways[0].way, {}};
      for (const Way& w : k.ways) {
        const bool chosen = held ? held->choice == w.way.choice.text() : &w == &k.ways[0];
        chosen ? r.won = w.way : (r.rivals.push_back(w.way), r.won);
      }
      t.choices += kTarget + " " + problem + " nest " + r.won.choice.text() + "\n";
      t.problems["k_" + k.name] = {problem};
      t.kernels.push_back(std::move(r));
    }
    return t;
  }

  void prepare(const Trial&) override {}
  StepTimes time_steps(const Trial& trial) override {
    now_ += run_seconds;
    ++runs_;
    StepTimes steps;
    for (const Rivalry& r : trial.kernels)
      for (const MadeUpKernel& k : kernels_)
        for (const Way& w : k.ways)
          if (k.name == r.nodes[0] && w.way.choice == r.won.choice)
            steps.push_back({"k_" + k.name, {k.name == "part" ? "whole" : k.name}, w.ns * (noise ? noise(runs_) : 1)});
    if (!trial.claims.empty() && trial.claims[0].won.family) steps.push_back({"k_whole", {"whole"}, claim_ns});
    return steps;
  }
  double time_run(const Trial& trial) override {
    double ns = trial.artifact.title == "1" ? 0 : cost_of_together;
    for (const StepTime& s : time_steps(trial)) ns += s.ns;
    return ns;
  }
  double seconds() const override { return now_; }
  bool is_stopped() const override { return builds >= stopped_at; }

  double build_seconds = 1, run_seconds = 0.01, claim_ns = 0, cost_of_together = 0;
  int builds = 0, failing_build = 0, stopped_at = 1 << 20;
  std::function<double(int run)> noise;

 private:
  std::vector<MadeUpKernel> kernels_;
  double now_ = 0;
  int runs_ = 0;
};

std::string choice_of(const Tuned& t, const std::string& name) {
  const ChoiceLock lock(t.choices);
  const auto* row = lock.find(kTarget, name + " 1");
  return row ? row->family + " " + row->choice : "none";
}

TEST(Tuner, EachKernelTakesWhatIsFasterAndOneBuildTriesARivalOfAll) {
  MadeUpMachine machine({{"a", {way(1, 100), way(2, 50), way(4, 70)}},
                         {"b", {way(1, 100), way(2, 130), way(4, 90)}},
                         {"c", {way(1, 100), way(2, 99)}}});
  const Tuned t = tune(machine, ChoiceLock(), 60);
  EXPECT_EQ(choice_of(t, "a"), "nest lanes=2");
  EXPECT_EQ(choice_of(t, "b"), "nest lanes=4");
  EXPECT_EQ(choice_of(t, "c"), "nest lanes=1") << "one hundredth is no clear difference";
  EXPECT_EQ(machine.builds, 4) << "the first one, two trials, and what won";
  ASSERT_TRUE(t.verdict);
  EXPECT_TRUE(t.verdict->is_kept);
  EXPECT_NEAR(t.verdict->ratio.mean, 240. / 300, 1e-9);
  ASSERT_EQ(t.findings.size(), 3u);
  EXPECT_EQ(t.findings[0].tried, 2u);
  EXPECT_NEAR(t.findings[0].share, 1. / 3, 1e-9);
}

TEST(Tuner, WhereNothingIsFasterTheChoicesStay) {
  MadeUpMachine machine({{"a", {way(1, 100), way(2, 150)}}});
  const Tuned t = tune(machine, ChoiceLock(), 60);
  EXPECT_EQ(choice_of(t, "a"), "nest lanes=1");
  EXPECT_FALSE(t.verdict);
  EXPECT_EQ(machine.builds, 2);
}

TEST(Tuner, WhatALockSaysIsWhereItBegins) {
  MadeUpMachine machine({{"a", {way(1, 100), way(2, 80), way(4, 90)}}});
  ChoiceLock lock;
  lock.set(kTarget, "a 1", {"nest", "lanes=4"});
  const Tuned t = tune(machine, lock, 60);
  EXPECT_EQ(choice_of(t, "a"), "nest lanes=2");
  EXPECT_NEAR(t.verdict->ratio.mean, 80. / 90, 1e-9);
}

TEST(Tuner, ABudgetEndsWithWhatWasFoundUntilThen) {
  for (const auto& [budget, builds, tried] : {std::tuple(0.1, 1, 0), {2.5, 1, 0}, {3.5, 3, 1}, {4.5, 4, 2}}) {
    MadeUpMachine machine({{"a", {way(1, 100), way(2, 50), way(4, 40), way(8, 30)}}});
    const Tuned t = tune(machine, ChoiceLock(), budget);
    EXPECT_EQ(machine.builds, builds) << budget;
    EXPECT_EQ(t.findings.at(0).tried, tried) << budget;
    EXPECT_LE(machine.seconds(), std::max(budget, 1.1));
    EXPECT_EQ(choice_of(t, "a"), tried == 0 ? "nest lanes=1" : tried == 1 ? "nest lanes=2" : "nest lanes=4");
  }
}

TEST(Tuner, ATrialThatFailsIsDropped) {
  MadeUpMachine machine({{"a", {way(1, 100), way(2, 50), way(4, 70)}}});
  machine.failing_build = 2;
  const Tuned t = tune(machine, ChoiceLock(), 60);
  EXPECT_EQ(t.dropped, std::vector<std::string>{"trial 1: no such instruction"});
  EXPECT_EQ(choice_of(t, "a"), "nest lanes=4");
  MadeUpMachine broken({{"a", {way(1, 100), way(2, 50)}}});
  broken.failing_build = 1;
  EXPECT_THROW(tune(broken, ChoiceLock(), 60), std::runtime_error);
}

TEST(Tuner, WhatIsFasterAloneAndNotTogetherIsNotKept) {
  MadeUpMachine machine({{"a", {way(1, 100), way(2, 50)}}});
  machine.cost_of_together = 60;
  const Tuned t = tune(machine, ChoiceLock(), 60);
  EXPECT_EQ(choice_of(t, "a"), "nest lanes=1");
  ASSERT_TRUE(t.verdict);
  EXPECT_FALSE(t.verdict->is_kept);
  EXPECT_TRUE(t.findings[0].better);
}

TEST(Tuner, OneLuckyRunWinsNothing) {
  MadeUpMachine machine({{"a", {way(1, 100), way(2, 100)}}});
  machine.noise = [](int run) { return run == 5 ? 0.5 : 1 + 0.001 * (run % 3); };
  EXPECT_FALSE(tune(machine, ChoiceLock(), 60).verdict);
}

TEST(Tuner, AWayThatNoStepTakesIsNotFaster) {
  MadeUpMachine machine({{"a", {way(1, 100), way(2, 0)}}, {"b", {way(1, 100), way(2, 50)}}});
  const Tuned t = tune(machine, ChoiceLock(), 60);
  EXPECT_EQ(choice_of(t, "a"), "nest lanes=1");
  EXPECT_EQ(choice_of(t, "b"), "nest lanes=2");
}

TEST(Tuner, WhatDividesItsNodesOtherwiseIsComparedByTheNodesAndThenItsKernelsAre) {
  MadeUpMachine machine({{"a", {way(1, 100), way(2, 200)}}, {"part", {way(1, 60), way(2, 40)}}});
  machine.claim_ns = 80;
  const Tuned t = tune(machine, ChoiceLock(), 60);
  EXPECT_EQ(choice_of(t, "whole"), "expanded ");
  EXPECT_EQ(choice_of(t, "part"), "nest lanes=2");
  EXPECT_NEAR(t.verdict->ratio.mean, 140. / 180, 1e-9);
}

TEST(Tuner, AnInterruptKeepsWhatWasFoundUntilThen) {
  MadeUpMachine machine({{"a", {way(1, 100), way(2, 50), way(4, 40)}}, {"b", {way(1, 10)}}});
  machine.stopped_at = 3;
  const Tuned t = tune(machine, ChoiceLock(), 60);
  EXPECT_TRUE(t.interrupted);
  EXPECT_EQ(machine.builds, 3);
  EXPECT_EQ(choice_of(t, "a"), "nest lanes=2");
  EXPECT_EQ(choice_of(t, "b"), "nest lanes=1") << "a lock has the row of every choice";
}

}  // namespace
}  // namespace cameo
