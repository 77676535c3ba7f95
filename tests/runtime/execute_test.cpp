// Rows, loops, faults, chunks and the pool, through the table of hand-written programs.
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <string>
#include <thread>

#include "tests/runtime/harness.h"

namespace {

using namespace programs;
using Floats = std::vector<float>;
using Dims = std::vector<int64_t>;

struct LoopResult {
  Floats y, scan;
  int64_t last;
};

LoopResult run_loop(int64_t n, float limit) {
  Session<kLoop> s;
  std::vector<int64_t> trips = {n}, last = {-1};
  Floats x = {1, 2, 3, 4}, bound = {limit}, y(4), scan(8, -1.f);
  Dims scalar, four = {4}, eight = {8};
  std::vector<cameo_value> out = {value(y, four), value(scan, eight), value(last, scalar)};
  EXPECT_EQ(s.run({value(trips, scalar), value(x, four), value(bound, scalar)}, out), CAMEO_OK) << s.error.message;
  return {y, scan, last[0]};
}

TEST(Execute, LoopCarriesThroughTwoBuffersAndStacks) {
  const LoopResult r = run_loop(3, 1e9f);
  EXPECT_EQ(r.y, (Floats{29, 37, 45, 53}));  // x -> 2x + 3, three times
  EXPECT_EQ(r.scan, (Floats{5, 13, 29, -1, -1, -1, -1, -1}));
  EXPECT_EQ(r.last, 2);
}

TEST(Execute, EvenNumberOfSwapsToo) { EXPECT_EQ(run_loop(2, 1e9f).y, (Floats{13, 17, 21, 25})); }

TEST(Execute, OddRoundsOfTheInnermostLoopAreTurned) {
  turns.clear();
  run_loop(2, 1e9f);
  const bool odd = true;
  EXPECT_EQ(turns, (std::vector<bool>{!odd, !odd, !odd, odd, !odd, odd, !odd, odd, !odd}));
}

TEST(Execute, LoopEndsOnItsCondition) {
  const LoopResult r = run_loop(8, 30.f);  // sums: 10, 32
  EXPECT_EQ(r.y, (Floats{5, 7, 9, 11}));
  EXPECT_EQ(r.last, 0);
}

TEST(Execute, LoopMayNotBeEnteredAtAll) {
  EXPECT_EQ(run_loop(0, 1e9f).y, (Floats{1, 2, 3, 4}));
  EXPECT_EQ(run_loop(-1, 1e9f).y, (Floats{1, 2, 3, 4}));
  EXPECT_EQ(run_loop(5, 0.f).y, (Floats{1, 2, 3, 4}));
}

cameo_status run_pick(Session<kPick>& s, std::vector<int64_t> index, unsigned char flag, Floats& y) {
  std::vector<unsigned char> flags = {flag};
  Dims two = {2}, scalar;
  std::vector<cameo_value> out = {value(y, two)};
  return s.run({value(index, two), value(flags, scalar)}, out);
}

TEST(Execute, BranchesOnABool) {
  Session<kPick> s;
  Floats y(2);
  EXPECT_EQ(run_pick(s, {4, -5}, 0, y), CAMEO_OK);
  EXPECT_EQ(y, (Floats{14, 10}));
  EXPECT_EQ(run_pick(s, {4, -5}, 1, y), CAMEO_OK);
  EXPECT_EQ(y, (Floats{15, 11}));
}

TEST(Execute, FaultStopsAndNamesTheNodeWithoutControlBytes) {
  Session<kPick> s(2);
  Floats y(2);
  EXPECT_EQ(run_pick(s, {0, 7}, 1, y), CAMEO_OUT_OF_RANGE);
  EXPECT_STREQ(s.error.message, "node `gather\\x0a\\x1b[31m`: index 7 is outside a dim of 5");
  EXPECT_EQ(s.error.node, 0);
  EXPECT_EQ(s.error.code, CAMEO_OUT_OF_RANGE);
  EXPECT_EQ(run_pick(s, {0, 1}, 1, y), CAMEO_OK) << "a fault must not outlive its run";
  EXPECT_EQ(y, (Floats{11, 12}));
}

float run_mix(Session<kMix>& s) {
  Floats x(kMixLength), past = {0}, total(1);
  for (int i = 0; i < kMixLength; ++i) x[i] = 1.f / static_cast<float>(i + 1);
  Dims n = {kMixLength}, one = {1};
  std::vector<cameo_value> out = {value(total, one), none()};
  EXPECT_EQ(s.run({value(x, n), value(past, one)}, out), CAMEO_OK) << s.error.message;
  return total[0];
}

TEST(Threads, AnyNumberGivesTheSameBits) {
  Session<kMix> one(1);
  const float expected = run_mix(one);
  for (int threads : {2, 3, 4, 7}) {
    Session<kMix> s(threads);
    for (int i = 0; i < 300; ++i) ASSERT_EQ(run_mix(s), expected) << threads << " threads, run " << i;
  }
}

/// The steps of a stretch; the second and the third output's bits are seen too.
cameo_status run_beside(Session<kBeside>& s, std::vector<int64_t> index, std::vector<int64_t> other, Floats& all) {
  Floats x(kMixLength), y(2), z(2), sums(kMixLength);
  for (int i = 0; i < kMixLength; ++i) x[i] = 1.f / static_cast<float>(i + 1);
  Dims n = {kMixLength}, two = {2};
  std::vector<cameo_value> out = {value(y, two), value(z, two), value(sums, n)};
  const cameo_status status = s.run({value(index, two), value(other, two), value(x, n)}, out);
  all = {y[0], y[1], z[0], z[1]};
  all.insert(all.end(), sums.begin(), sums.begin() + kBesideChunks);
  return status;
}

TEST(Threads, StepsSideBySideGiveTheSameBits) {
  Session<kBeside> one(1);
  Floats expected, all;
  ASSERT_EQ(run_beside(one, {0, 4}, {-1, -2}, expected), CAMEO_OK) << one.error.message;
  EXPECT_EQ(Floats(expected.begin(), expected.begin() + 4), (Floats{10, 14, 14, 13}));
  for (int threads : {2, 3, 4, 7}) {
    Session<kBeside> s(threads);
    for (int i = 0; i < 300; ++i) {
      ASSERT_EQ(run_beside(s, {0, 4}, {-1, -2}, all), CAMEO_OK);
      ASSERT_EQ(all, expected) << threads << " threads, run " << i;
    }
  }
}

TEST(Threads, OfFaultsSideBySideTheFirstStepsIsReported) {
  for (int threads : {1, 2, 3, 7}) {
    Session<kBeside> s(threads);
    Floats all;
    for (int i = 0; i < 100; ++i) {
      ASSERT_EQ(run_beside(s, {0, 9}, {8, 7}, all), CAMEO_OUT_OF_RANGE);
      ASSERT_STREQ(s.error.message, "node `first`: index 9 is outside a dim of 5");
      ASSERT_EQ(run_beside(s, {0, 1}, {8, 7}, all), CAMEO_OUT_OF_RANGE);
      ASSERT_STREQ(s.error.message, "node `second`: index 8 is outside a dim of 5");
      ASSERT_EQ(s.error.node, 1);
      ASSERT_EQ(run_beside(s, {0, 1}, {2, 3}, all), CAMEO_OK);
    }
  }
}

/// How many steps were seen at once.
int32_t meet(Session<kMeeting>& s, uint64_t ns) {
  meeting_ns = ns;
  meeting_most = 0;
  EXPECT_EQ(s.api.run(s.context, nullptr, 0, nullptr, 0, nullptr, &s.error), CAMEO_OK);
  return meeting_most;
}
constexpr uint64_t kShort = 2'000'000, kLong = 20'000'000'000;

TEST(Threads, AStretchIsOneJob) {
  Session<kMeeting> s(2), alone(1);
  EXPECT_EQ(meet(s, kLong), 2);
  EXPECT_EQ(meet(alone, kShort), 0);
  cameo_options options = rt::default_options();
  options.num_threads = 2;
  options.parallel_for = [](void*, int32_t count, void (*body)(void*, int32_t), void* arg) {
    std::vector<std::thread> threads;
    for (int32_t i = 0; i < count; ++i) threads.emplace_back(body, arg, i);
    for (std::thread& thread : threads) thread.join();
  };
  Session<kMeeting> host(options);
  EXPECT_EQ(meet(host, kLong), 2);
}

TEST(Threads, StepsThatAreObservedRunOneByOne) {
  Session<kMeeting> s(2);
  std::vector<uint64_t> ns(1);
  ASSERT_EQ(s.api.profile(s.context, ns.data(), 0, &s.error), CAMEO_OK);  // of no nodes: nothing to write
  EXPECT_EQ(meet(s, kShort), 0);
}

TEST(Threads, ContextsOfOneModelRunAtTheSameTime) {
  Session<kMix> s(2);
  const float expected = run_mix(s);
  std::vector<std::thread> callers;
  std::atomic<int> wrong = 0;
  for (int t = 0; t < 4; ++t)
    callers.emplace_back([&] {
      cameo_context* context = nullptr;
      EXPECT_EQ(s.api.context_create(s.model, &context, nullptr), CAMEO_OK);
      Session<kMix> view(1);
      std::swap(view.context, context);
      for (int i = 0; i < 200; ++i) wrong += run_mix(view) != expected;
      std::swap(view.context, context);
      s.api.context_release(context);
    });
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(wrong, 0);
}

TEST(Threads, ModelsComeAndGoOnEveryThread) {
  Session<kMix> one(1);
  const float expected = run_mix(one);
  std::vector<std::thread> hosts;
  std::atomic<int> wrong = 0;
  for (int t = 0; t < 4; ++t)
    hosts.emplace_back([&] {
      for (int i = 0; i < 25; ++i) {
        Session<kMix> s(3);
        wrong += run_mix(s) != expected;
      }
    });
  for (std::thread& host : hosts) host.join();
  EXPECT_EQ(wrong, 0);
}

TEST(Threads, CancelsThatRainOnAContextEndRunsOrDoNothing) {
  Session<kMix> s(3);
  const float expected = run_mix(s);
  std::atomic<bool> over = false;
  std::thread rain([&] {
    while (!over) s.api.cancel(s.context);
  });
  Floats x(kMixLength, 1.f), past = {0}, total(1);
  Dims n = {kMixLength}, one = {1};
  for (int i = 0; i < 200; ++i) {
    std::vector<cameo_value> out = {value(total, one), none()};
    const cameo_status status = s.run({value(x, n), value(past, one)}, out);
    EXPECT_TRUE(status == CAMEO_OK || status == CAMEO_CANCELLED) << status;
  }
  over = true;
  rain.join();
  EXPECT_EQ(run_mix(s), expected) << "a cancel must not outlive its run";
}

TEST(Threads, CallersOfOneContextAreToldThatItRuns) {
  Session<kMix> s(3);
  const float expected = run_mix(s);
  std::atomic<int> ran = 0, refused = 0, wrong = 0;
  std::vector<std::thread> callers;
  for (int t = 0; t < 4; ++t)
    callers.emplace_back([&] {
      Floats x(kMixLength), past = {0}, total(1);
      for (int i = 0; i < kMixLength; ++i) x[i] = 1.f / static_cast<float>(i + 1);
      Dims n = {kMixLength}, one = {1};
      Error error;
      for (int i = 0; i < 100; ++i) {
        cameo_value in[] = {value(x, n), value(past, one)}, out[] = {value(total, one), none()};
        const cameo_status status = s.api.run(s.context, in, 2, out, 2, nullptr, &error);
        ran += status == CAMEO_OK;
        refused += status == CAMEO_FAILED_PRECONDITION;
        wrong += status == CAMEO_OK && total[0] != expected;
      }
    });
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(ran + refused, 400);
  EXPECT_EQ(wrong, 0);
  EXPECT_GT(ran, 0);
}

TEST(Threads, ForkedChildRunsAlone) {
  Session<kMix> s(3);
  const float expected = run_mix(s);
  const pid_t child = fork();
  if (child == 0) _exit(run_mix(s) == expected ? 42 : 1);
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 42);
}

TEST(Threads, HostsParallelForRunsEveryChunk) {
  cameo_options options = rt::default_options();
  std::atomic<int> bodies = 0;
  options.user = &bodies;
  options.num_threads = 3;
  options.parallel_for = [](void* user, int32_t count, void (*body)(void*, int32_t), void* arg) {
    std::vector<std::thread> threads;
    for (int32_t i = 0; i < count; ++i) threads.emplace_back(body, arg, i);
    for (std::thread& thread : threads) thread.join();
    *static_cast<std::atomic<int>*>(user) += count;
  };
  Session<kMix> host(options), one(1);
  EXPECT_EQ(run_mix(host), run_mix(one));
  EXPECT_EQ(bodies, 3);
}

TEST(Threads, HostThatCallsNoBodyStillGetsARightAnswer) {
  cameo_options options = rt::default_options();
  options.parallel_for = [](void*, int32_t, void (*)(void*, int32_t), void*) {};
  Session<kMix> host(options), one(1);
  EXPECT_EQ(run_mix(host), run_mix(one));
}

TEST(Execute, CancelStopsAnEndlessRun) {
  Session<kEndless> s;
  cameo_status status = CAMEO_OK;
  __atomic_store_n(&endless_rounds, 0, __ATOMIC_RELAXED);
  std::thread runner([&] { status = s.api.run(s.context, nullptr, 0, nullptr, 0, nullptr, &s.error); });
  while (__atomic_load_n(&endless_rounds, __ATOMIC_RELAXED) < 3) std::this_thread::yield();
  Error busy;
  EXPECT_EQ(s.api.run(s.context, nullptr, 0, nullptr, 0, nullptr, &busy), CAMEO_FAILED_PRECONDITION);
  s.api.cancel(s.context);
  runner.join();
  EXPECT_EQ(status, CAMEO_CANCELLED);
  EXPECT_STREQ(s.error.message, "the run was cancelled");
}

TEST(Execute, ProfileAddsUpByNode) {
  Session<kLinear> s;
  std::vector<uint64_t> ns(2, 0);
  ASSERT_EQ(s.api.profile(s.context, ns.data(), 2, &s.error), CAMEO_OK);
  Floats x = {1, 2, 3, -1, 0, 1};
  Dims dims = {2, 3};
  std::vector<cameo_value> out = {owned(), owned()};
  ASSERT_EQ(s.run({value(x, dims)}, out), CAMEO_OK);
  EXPECT_GT(ns[0], 0u);
  EXPECT_GT(ns[1], 0u);
  const std::vector<uint64_t> before = ns;
  ASSERT_EQ(s.api.profile(s.context, nullptr, 0, &s.error), CAMEO_OK);
  ASSERT_EQ(s.run({value(x, dims)}, out), CAMEO_OK);
  EXPECT_EQ(ns, before);
  EXPECT_EQ(s.api.profile(s.context, ns.data(), 1, &s.error), CAMEO_INVALID_ARGUMENT);
  std::vector<uint64_t> with_counts(4, 0);
  ASSERT_EQ(s.api.profile(s.context, with_counts.data(), 4, &s.error), CAMEO_OK);
  for (int i = 0; i < 3; ++i) ASSERT_EQ(s.run({value(x, dims)}, out), CAMEO_OK);
  EXPECT_EQ(with_counts[2], 6u);  // a kernel and a copy
  EXPECT_EQ(with_counts[3], 3u);
}

TEST(Execute, TapGathersTheLogicalValueFromItsLayout) {
  Session<kLinear> s;
  struct Seen {
    std::string name;
    Floats data;
    Dims shape;
    int node, calls = 0;
  } seen;
  auto callback = [](void* user, const cameo_tap* tap) {
    Seen& seen = *static_cast<Seen*>(user);
    const float* data = static_cast<const float*>(tap->tensor->data);
    seen = {tap->name, Floats(data, data + 8), Dims(tap->tensor->shape, tap->tensor->shape + tap->tensor->ndim),
            tap->node, seen.calls + 1};
  };
  ASSERT_EQ(s.api.tap(s.context, callback, &seen, &s.error), CAMEO_OK);
  Floats x = {1, 2, 3, -1, 0, 1};
  Dims dims = {2, 3};
  std::vector<cameo_value> out = {owned(), owned()};
  ASSERT_EQ(s.run({value(x, dims)}, out), CAMEO_OK);
  EXPECT_EQ(seen.name, "/fc/Relu_output_0");
  EXPECT_EQ(seen.shape, (Dims{2, 4}));
  EXPECT_EQ(seen.data, (Floats{10.5f, 4, 2.5f, 0, 4, 0, 0, 0}));
  ASSERT_EQ(s.api.tap(s.context, nullptr, nullptr, &s.error), CAMEO_OK);
  ASSERT_EQ(s.run({value(x, dims)}, out), CAMEO_OK);
  EXPECT_EQ(seen.calls, 1);
  Session<kMix> without;
  EXPECT_EQ(without.api.tap(without.context, callback, &seen, &without.error), CAMEO_NOT_FOUND);
}

}  // namespace
