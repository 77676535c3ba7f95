// Schedules of single sizes beside a plan's own: they compute what the graph says, over kernels and weights that are
// shared where they are equal.
#include <gtest/gtest.h>

#include <set>

#include "optimizer/pipeline.h"
#include "optimizer/plan/bind_plan.h"
#include "optimizer/plan/kernel_table.h"
#include "optimizer/plan/run_plan.h"
#include "optimizer/plan/verify_plan.h"
#include "tests/support/graph_text.h"
#include "tests/support/road.h"
#include "tests/support/sizes.h"
#include "tests/support/tensor_text.h"

namespace cameo::test {
namespace {

class Buckets : public testing::TestWithParam<Target> {
 protected:
  /// y[N, M, 12] and the sum of each row of a third tensor whose sizes are fixed.
  Buckets() {
    const Graph fixed = parse_model({"input x f32[2x3x24]", "input c f32[5x40]", "const w f32[24x12] = rand:1",
                                     "const b f32[12] = rand:2", "p = MatMul(x, w)", "s = Add(p, b)", "y = Relu(s)",
                                     "e = Exp(c)", "r = Tanh(e)", "output y", "output r"})
                            .graph;
    graph_ = over_sizes(fixed, [](size_t input, size_t axis, int64_t extent) {
      if (input || axis > 1) return Dim(extent);
      return Dim(axis ? symbol("M", {1, 32}) : symbol("N", {1, 8}));
    });
    module_ = plan_graph(graph_, "model", GetParam());
  }
  Plan& plan() { return module_.plans[0]; }
  void add(const DimBinding& sizes) {
    PassContext context(GetParam());
    const Graph g = optimize(bind_dims(graph_, sizes), context);
    Diagnostics diagnostics;
    add_bucket(plan(), make_plan(g, GetParam(), module_.weights, diagnostics, {}, context.claims), sizes);
    EXPECT_FALSE(diagnostics.has_errors());
  }
  /// The bucket's schedule by itself, and what else it may be asked for.
  void expect_right(size_t number, const DimBinding& sizes) {
    Module alone = module_;
    alone.plans[0] = plan_of_bucket(plan(), plan().buckets[number]);
    alone = bind_module(alone, sizes);
    EXPECT_TRUE(verify_plan(alone.plans[0], alone.io, alone.weights.bytes).empty());
    const Graph bound = bind_dims(graph_, sizes);
    std::vector<Tensor> inputs;
    for (ValueId v : bound.inputs()) inputs.push_back(parse_tensor(to_string(bound.type(v)) + " = rand:5"));
    EXPECT_EQ(differences(run_plan(alone, alone.plans[0], inputs), interpret(bound, inputs)), "")
        << to_string(plan(), *module_.sources, true);
  }

  Graph graph_;
  Module module_;
};

TEST_P(Buckets, ComputeWhatTheGraphSays) {
  add({{"M", 16}, {"N", 2}});
  add({{"M", 7}, {"N", 1}});
  add({{"N", 4}});
  expect_right(0, {{"M", 16}, {"N", 2}});
  expect_right(1, {{"M", 7}, {"N", 1}});
  for (int64_t m : {1, 16, 32}) expect_right(2, {{"M", m}, {"N", 4}});
  const std::string text = to_string(plan(), *module_.sources);
  EXPECT_NE(text.find("bucket M=16, N=2\n"), std::string::npos) << text;
  EXPECT_NE(text.find("bucket N=4\n"), std::string::npos) << text;
}

TEST_P(Buckets, ArePlannedAsIfThereWereNoOtherSizes) {
  const DimBinding sizes{{"M", 16}, {"N", 2}};
  const Module fixed = plan_graph(bind_dims(graph_, sizes), "model", GetParam());
  add(sizes);
  const Bucket& bucket = plan().buckets[0];
  const Plan& wanted = fixed.plans[0];
  ASSERT_EQ(bucket.steps.size(), wanted.steps.size());
  for (size_t i = 0; i < wanted.steps.size(); ++i)
    EXPECT_EQ(kernel_text(plan().kernels[bucket.steps[i].kernel]), kernel_text(wanted.kernels[wanted.steps[i].kernel]));
  EXPECT_EQ(bucket.arena_bytes, wanted.arena_bytes);
}

TEST_P(Buckets, ShareKernelsAndWeightsThatAreEqual) {
  const size_t kernels = plan().kernels.size();
  const int64_t bytes = module_.weights.bytes;
  add({{"M", 16}, {"N", 2}});
  const size_t more = plan().kernels.size();
  EXPECT_GT(more, kernels);
  EXPECT_LT(more, 2 * kernels) << "what has fixed sizes is computed by one kernel";
  add({{"M", 8}, {"N", 4}});
  EXPECT_LT(plan().kernels.size(), more + kernels);
  EXPECT_LT(module_.weights.bytes, 2 * bytes);
  std::set<std::string> symbols;
  for (const Kernel& k : plan().kernels) EXPECT_TRUE(symbols.insert(k.symbol).second) << k.symbol;
}

TEST_P(Buckets, KernelsThatKnowLessOfTheirOperandsAreOthers) {
  Plan made = plan();
  made.kernels[0].aligned.assign(made.kernels[0].operands.size(), false);
  plan().kernels[0].aligned.assign(made.kernels[0].operands.size(), true);
  const size_t kernels = plan().kernels.size();
  add_bucket(plan(), made, {{"N", 4}});
  ASSERT_EQ(plan().kernels.size(), kernels + 1);
  EXPECT_FALSE(plan().kernels.back().aligned[0]);
  EXPECT_TRUE(plan().kernels[0].aligned[0]);
}

INSTANTIATE_TEST_SUITE_P(Targets, Buckets, testing::Values(*find_target("x86-64-v4"), gpu_target({"ptx"})),
                         [](const auto& info) { return info.param.is_gpu() ? "gpu" : "cpu"; });

}  // namespace
}  // namespace cameo::test
