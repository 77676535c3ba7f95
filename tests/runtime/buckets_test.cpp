// Plans of their own for some sizes: which one a run takes, its memory, and what tells that it did.
#include <string>

#include "tests/runtime/harness.h"
#include "tests/runtime/sized_programs.h"

namespace {

using namespace programs;

// For batch=2, n=3: the same rows, of node 1, in numbers but for the size that kernels ask for; more arena than other
// runs take.
const Ref kExactRefs[] = {{7, 0}, {2, 0},    {3, 0},    {1, 1024}, {8, 0}, {9, 8 * kColumns},
                          {5, 0}, {1, 1024}, {1, 1024}, {4, 0},    {6, 0}, {9, 8 * kBatchColumns},
                          {5, 0}, {1, 1024}, {0, 24}};
const Row kExactRows[] = {
    {.kind = RowKind::Kernel, .chunks = 3, .target = 0, .refs = 0, .node = 1},
    {.kind = RowKind::Kernel, .order = rt::Order::Beside, .chunks = 2, .target = 1, .refs = 1, .node = 1},
    {.kind = RowKind::Copy, .refs = 12, .node = 1},
    {.kind = RowKind::Kernel, .target = 2, .refs = 8, .node = 1},
    {.kind = RowKind::End},
};
const Schedule kExact = {.rows = kExactRows,
                         .row_count = length(kExactRows),
                         .refs = kExactRefs,
                         .base_count = 10,
                         .arena_bytes = 2048,
                         .scratch_bytes = 4096,
                         .sizes_base = 9};

const int64_t kExactSizes[] = {2, 3}, kFourColumns[] = {-1, 4}, kThreeRows[] = {3, -1};
const rt::Bucket kBuckets[] = {{"batch=2, n=3", kExactSizes}, {"n=4", kFourColumns}, {"batch=3", kThreeRows}};
// Of the second values stand in a block, of the third in the arena.
const Schedule* const kBucketSchedules[] = {&kExact, &kSizedSchedule<true>, &kSizedSchedule<false>};
const rt::Image kImages[] = {{"baseline", 0, kSizedKernels, &kSizedSchedule<false>, nullptr, kBucketSchedules}};
const rt::Node kNodes[] = {{0, 1, 0, 0, 0}, {0, 1, 0, 0, 0}};

Program with_buckets(uint32_t count) {
  Program p = kSized<false>;
  p.images = kImages;
  p.buckets = kBuckets;
  p.bucket_count = count;
  p.nodes = kNodes;
  p.node_count = 2;
  return p;
}
const Program kOneBucket = with_buckets(1), kThreeBuckets = with_buckets(3);

/// Of a run of these sizes, with outputs that the context owns.
template <class S>
cameo_status run_at(S& s, int64_t batch, int64_t n, bool fits = true) {
  std::vector<float> x, bias(static_cast<size_t>(n), 1), y, flat;
  std::vector<unsigned char> mask;
  for (int64_t i = 0; i < batch * n; ++i) {
    x.push_back(static_cast<float>(i));
    y.push_back(2 * x.back() + 1);
    mask.push_back(i % 2 != 0);
    flat.push_back(mask.back() ? y.back() : 0);
  }
  std::vector<int64_t> x_dims = {batch, n}, bias_dims = {fits ? n : n + 1}, flat_dims = {batch * n};
  std::vector<cameo_value> out = {owned(), owned(), owned(), owned()};
  const cameo_status status = s.run(std::vector{value(x, x_dims), value(bias, bias_dims), value(mask, flat_dims)}, out);
  if (status) return status;
  const auto floats = [](const cameo_value& v, size_t count) {
    const float* data = static_cast<const float*>(v.tensor.data);
    return std::vector<float>(data, data + count);
  };
  EXPECT_EQ(floats(out[0], y.size()), y);
  EXPECT_EQ(floats(out[1], y.size()), flat);
  for (int64_t i = 0; i < n; ++i) EXPECT_EQ(static_cast<float*>(out[2].tensor.data)[i], static_cast<float>(i));
  EXPECT_EQ(*static_cast<int64_t*>(out[3].tensor.data), batch);
  return status;
}

template <class S>
std::vector<uint64_t> runs_of_plans(S& s) {
  std::vector<uint64_t> runs;
  for (int32_t i = 0; i < s.api.plan_count(); ++i) {
    cameo_plan plan = {};
    plan.struct_size = sizeof plan;
    EXPECT_EQ(s.api.plan_get(s.context, i, &plan), CAMEO_OK);
    runs.push_back(plan.runs);
  }
  return runs;
}
using Runs = std::vector<uint64_t>;

TEST(Buckets, ARunTakesThatOfItsSizesOrThePlanForAll) {
  Session<kThreeBuckets> s;
  for (int round = 0; round < 3; ++round)
    for (const auto& [batch, n] : {std::pair{2, 3}, {2, 2}, {1, 4}, {3, 3}, {2, 3}, {4, 5}, {3, 4}})
      ASSERT_EQ(run_at(s, batch, n), CAMEO_OK) << s.error.message;
  EXPECT_EQ(runs_of_plans(s), (Runs{6, 6, 6, 3})) << "batch=3, n=4 is the first that has it";
}

TEST(Buckets, AreDescribed) {
  Session<kThreeBuckets> s;
  ASSERT_EQ(s.api.plan_count(), 4);
  cameo_plan plan = {};
  plan.struct_size = sizeof plan;
  ASSERT_EQ(s.api.plan_get(nullptr, 0, &plan), CAMEO_OK);
  EXPECT_STREQ(plan.name, "");
  ASSERT_EQ(s.api.plan_get(nullptr, 1, &plan), CAMEO_OK);
  EXPECT_STREQ(plan.name, "batch=2, n=3");
  EXPECT_EQ(plan.runs, 0u);
  for (int32_t index : {-1, 4}) EXPECT_EQ(s.api.plan_get(nullptr, index, &plan), CAMEO_NOT_FOUND);
  EXPECT_EQ(s.api.plan_get(s.context, 1, nullptr), CAMEO_INVALID_ARGUMENT);
  plan = {};
  EXPECT_EQ(s.api.plan_get(s.context, 1, &plan), CAMEO_INVALID_ARGUMENT);
}

TEST(Buckets, AModelWithoutHasOnePlan) {
  Session<kLinear> s;
  EXPECT_EQ(s.api.plan_count(), 1);
  std::vector<float> x(6, 1);
  std::vector<int64_t> dims = {2, 3};
  std::vector<cameo_value> out = {none(), none()};
  ASSERT_EQ(s.run(std::vector{value(x, dims)}, out), CAMEO_OK) << s.error.message;
  EXPECT_EQ(runs_of_plans(s), (Runs{1}));
}

TEST(Buckets, ARunThatFailsIsNotCountedAndTheNextFindsItsPlan) {
  Session<kThreeBuckets> s;
  ASSERT_EQ(run_at(s, 2, 3), CAMEO_OK);
  EXPECT_EQ(run_at(s, 2, 4, false), CAMEO_INVALID_ARGUMENT);
  ASSERT_EQ(run_at(s, 2, 3), CAMEO_OK);
  EXPECT_EQ(run_at(s, 9, 3), CAMEO_INVALID_ARGUMENT);
  ASSERT_EQ(run_at(s, 4, 3), CAMEO_OK);
  EXPECT_EQ(runs_of_plans(s), (Runs{1, 2, 0, 0}));
}

TEST(Buckets, ThreadsShareThePlanOfTheRun) {
  for (int threads : {1, 2, 5}) {
    Session<kThreeBuckets> s(threads);
    for (int round = 0; round < 100; ++round)
      ASSERT_EQ(run_at(s, 2 + round % 2, 3 + round % 3), CAMEO_OK) << s.error.message;
  }
}

TEST(Buckets, AContextHasMemoryForTheLargestOfThem) {
  Counts counts;
  {
    Session<kOneBucket> s(counting(counts));
    const int before = counts.allocations;
    for (int round = 0; round < 2; ++round)
      for (const auto& [batch, n] : {std::pair{2, 3}, {4, 5}}) ASSERT_EQ(run_at(s, batch, n), CAMEO_OK);
    EXPECT_EQ(counts.allocations, before);
    size_t bytes = 0;
    ASSERT_EQ(s.api.workspace_size(s.model, nullptr, 0, &bytes, nullptr, &s.error), CAMEO_OK);
    EXPECT_GT(bytes, 2048u + 4096u);
  }
  EXPECT_TRUE(counts.live.empty());
}

TEST(Buckets, BlocksOfOneAreKeptAndReleased) {
  Counts counts;
  {
    Session<kThreeBuckets> s(counting(counts));
    ASSERT_EQ(run_at(s, 4, 4), CAMEO_OK);
    const int before = counts.allocations;
    for (const auto& [batch, n] : {std::pair{2, 3}, {2, 4}, {3, 2}, {4, 4}}) ASSERT_EQ(run_at(s, batch, n), CAMEO_OK);
    EXPECT_EQ(counts.allocations, before);
  }
  EXPECT_TRUE(counts.live.empty());
}

TEST(Buckets, ProfilesCountTheStepsThatRan) {
  Session<kThreeBuckets> s;
  uint64_t counts[4] = {};  // nanoseconds, then executions
  ASSERT_EQ(s.api.profile(s.context, counts, 4, &s.error), CAMEO_OK);
  ASSERT_EQ(run_at(s, 2, 3), CAMEO_OK);
  EXPECT_EQ(counts[3], 4u);
  EXPECT_EQ(counts[2], 0u);
  ASSERT_EQ(run_at(s, 1, 3), CAMEO_OK);
  EXPECT_EQ(counts[2], 4u);
  EXPECT_EQ(counts[3], 4u);
}

TEST(Buckets, TapsSeeTheValuesOfThePlanThatRan) {
  Session<kThreeBuckets> s;
  int seen = 0;
  const auto callback = [](void* user, const cameo_tap*) { ++*static_cast<int*>(user); };
  ASSERT_EQ(s.api.tap(s.context, callback, &seen, &s.error), CAMEO_OK) << s.error.message;
  ASSERT_EQ(run_at(s, 2, 3), CAMEO_OK);
  EXPECT_EQ(seen, 0) << "has no taps";
  ASSERT_EQ(run_at(s, 1, 3), CAMEO_OK);
  ASSERT_EQ(run_at(s, 1, 4), CAMEO_OK);
  EXPECT_EQ(seen, 2);
}

TEST(Buckets, GoldenCasesRunInTheirPlan) {
  Session<kThreeBuckets> s;
  EXPECT_EQ(s.api.selftest(nullptr, nullptr, nullptr, &s.error), CAMEO_OK) << s.error.message;
}

}  // namespace
