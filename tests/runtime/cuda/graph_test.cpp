// Mode::ReduceOverhead: which rows become graphs, that a run of graphs computes what a run of rows does, wherever its
// tensors stand, and how it fails. The mock runs a graph's nodes in the legal order farthest from the plan's.
#include <string>

#include "tests/runtime/cuda/fixture.h"

namespace {

using namespace programs;
using cameo::test::load_mock;
using cameo::test::Mock;
using Floats = std::vector<float>;
using Dims = std::vector<int64_t>;

struct Graph : testing::Test {
  Mock& mock = load_mock();
  Dims one = {1}, scalar, x_dims = {2, 3}, y_dims = {2, 4}, two = {2}, four = {4}, eight = {8};
  Floats x = {1, 2, 3, -1, 0, 1};

  Graph() { mock = Mock(); }
  ~Graph() override { EXPECT_EQ(mock.live, 0) << "things of the driver that were not released"; }
};

const Floats kY = {10.5f, 4, 4, 0, 2.5f, 0, 0, 0};

TEST_F(Graph, AStraightPlanIsOneGraphThatEveryRunLaunches) {
  Session<kGraphChain> s;
  Floats y(8);
  std::vector<int64_t> sum(1);
  std::vector<cameo_value> out = {value(y, y_dims), value(sum, scalar)};
  for (int run = 1; run < 4; ++run) {
    const int32_t before = mock.calls;
    ASSERT_EQ(s.run({value(x, x_dims)}, out), CAMEO_OK) << s.error.message;
    EXPECT_EQ(y, kY);
    EXPECT_EQ(sum[0], 21);
    EXPECT_EQ(mock.graph_launches, run);
    EXPECT_EQ(mock.calls - before, 7) << "push, up, the graph, the copy to an output, down, wait, pop";
    y.assign(8, -1.f);
  }
  EXPECT_EQ(mock.launches, 0);
}

TEST_F(Graph, TheLogSaysWhatIsInGraphs) {
  static std::string notes;
  notes.clear();
  cameo_options options = rt::default_options();
  options.log = [](void*, int32_t level, const char* message) { notes += std::to_string(level) + message + "\n"; };
  const Session<kGraphChain> chain(options);
  const Session<kGraphLoop> loop(options);
  EXPECT_NE(notes.find("0reduce-overhead: 3 steps in 1 graph, 1 launched one by one\n"), notes.npos) << notes;
  EXPECT_NE(notes.find("0reduce-overhead: 4 steps in 2 graphs, 6 launched one by one\n"), notes.npos) << notes;
}

TEST_F(Graph, BetweenTheRowsOfALoopGraphsFollowTheBasesThatTheyMove) {
  Session<kGraphLoop> s;
  const auto run = [&](int64_t n, float limit) {
    std::vector<int64_t> trips = {n};
    Floats from = {1, 2, 3, 4}, bound = {limit}, y(4);
    std::vector<cameo_value> out = {value(y, four), none(), none()};
    EXPECT_EQ(s.run({value(trips, scalar), value(from, four), value(bound, scalar)}, out), CAMEO_OK) << s.error.message;
    return y;
  };
  for (int round = 0; round < 2; ++round) {
    EXPECT_EQ(run(3, 1e9f), (Floats{29, 37, 45, 53}));
    EXPECT_EQ(run(2, 1e9f), (Floats{13, 17, 21, 25}));
    EXPECT_EQ(run(8, 30.f), (Floats{5, 7, 9, 11}));
    EXPECT_EQ(run(0, 1e9f), (Floats{1, 2, 3, 4}));
  }
  EXPECT_EQ(mock.graph_launches, 2 * (4 + 3 + 2 + 1)) << "one before the loop, one in each round";
}

TEST_F(Graph, ParametersAreSetAgainOnlyWhereTensorsMoved) {
  Session<kGraphStep> s;
  DeviceMemory a(4), b(4), to(4);
  Floats past = {10}, present = {0}, other = {20};
  const auto run = [&](DeviceMemory& from, float expected) {
    const int32_t before = mock.calls;
    std::vector<cameo_value> out = {on_gpu(value(present, one), to.get())};
    EXPECT_EQ(s.run({on_gpu(value(past, one), from.get())}, out), CAMEO_OK) << s.error.message;
    const int32_t calls = mock.calls - before;
    float read = 0;
    to.read(&read, 4);
    EXPECT_EQ(read, expected);
    return calls;
  };
  a.write(past.data(), 4);
  b.write(other.data(), 4);
  EXPECT_EQ(run(a, 12), 5 + 2) << "both kernels";
  EXPECT_EQ(run(a, 12), 5) << "push, the graph, faults, wait, pop";
  EXPECT_EQ(run(b, 22), 5 + 1) << "the first kernel";
  EXPECT_EQ(mock.copies, 3) << "nothing but faults";
}

TEST_F(Graph, AStateAlternatesBetweenItsBlocks) {
  Session<kGraphStep> s;
  Floats present = {0};
  ASSERT_EQ(s.api.bind_state(s.context, 0, 0, &s.error), CAMEO_OK) << s.error.message;
  for (float expected : {2.f, 4.f, 6.f, 8.f}) {
    std::vector<cameo_value> out = {value(present, one)};
    ASSERT_EQ(s.run({none()}, out), CAMEO_OK) << s.error.message;
    EXPECT_EQ(present[0], expected);
  }
}

TEST_F(Graph, AnObservedRunLaunchesRowByRow) {
  Session<kGraphChain> s;
  static Floats seen;
  auto callback = [](void*, const cameo_tap* tap) {
    const float* data = static_cast<const float*>(tap->tensor->data);
    seen = Floats(data, data + 8);
  };
  std::vector<uint64_t> ns(2, 0);
  std::vector<cameo_value> out = {none(), none()};
  ASSERT_EQ(s.api.profile(s.context, ns.data(), 2, &s.error), CAMEO_OK);
  ASSERT_EQ(s.api.tap(s.context, callback, nullptr, &s.error), CAMEO_OK) << s.error.message;
  ASSERT_EQ(s.run({value(x, x_dims)}, out), CAMEO_OK) << s.error.message;
  EXPECT_EQ(seen, (Floats{10.5f, 4, 2.5f, 0, 4, 0, 0, 0}));
  EXPECT_TRUE(ns[0] && ns[1]);
  EXPECT_EQ(mock.launches, 2);
  EXPECT_EQ(mock.graph_launches, 0);
  ASSERT_EQ(s.api.profile(s.context, nullptr, 0, &s.error), CAMEO_OK);
  ASSERT_EQ(s.api.tap(s.context, nullptr, nullptr, &s.error), CAMEO_OK);
  ASSERT_EQ(s.run({value(x, x_dims)}, out), CAMEO_OK) << s.error.message;
  EXPECT_EQ(mock.launches, 2);
  EXPECT_EQ(mock.graph_launches, 1);
}

TEST_F(Graph, AFaultNamesItsNodeAndEndsWithItsRun) {
  Session<kGraphPick> s;
  Floats y(2);
  std::vector<unsigned char> flag = {1};
  const auto run = [&](std::vector<int64_t> index) {
    std::vector<cameo_value> out = {value(y, two)};
    return s.run({value(index, two), value(flag, scalar)}, out);
  };
  for (int round = 0; round < 2; ++round) {
    EXPECT_EQ(run({0, 7}), CAMEO_OUT_OF_RANGE);
    EXPECT_STREQ(s.error.message, "node `gather\\x0a\\x1b[31m`: index 7 is outside a dim of 5");
    EXPECT_EQ(run({4, -5}), CAMEO_OK) << s.error.message;
    EXPECT_EQ(y, (Floats{15, 11}));
  }
  EXPECT_EQ(mock.graph_launches, 4);
}

TEST_F(Graph, AFailedCallLeavesTheContextUsable) {
  Session<kGraphStep> s;
  DeviceMemory from(4);
  Floats past = {10}, present = {0};
  from.write(past.data(), 4);
  std::vector<cameo_value> out = {value(present, one)};
  for (const char* call : {"cuGraphExecKernelNodeSetParams", "cuGraphLaunch"}) {
    std::snprintf(mock.fail, sizeof mock.fail, "%s", call);
    mock.fail_at = 1;
    EXPECT_EQ(s.run({on_gpu(value(past, one), from.get())}, out), CAMEO_INTERNAL);
    EXPECT_EQ(s.error.message, "NVIDIA's driver failed: " + std::string(call) + ": injected (999)");
    ASSERT_EQ(s.run({on_gpu(value(past, one), from.get())}, out), CAMEO_OK) << s.error.message;
    EXPECT_EQ(present[0], 12);
    present[0] = 0;
    std::vector<cameo_value> host = {value(present, one)};
    ASSERT_EQ(s.run({value(past, one)}, host), CAMEO_OK) << "and the tensors have moved";
    EXPECT_EQ(present[0], 12);
  }
}

}  // namespace
