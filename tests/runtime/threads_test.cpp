// In which order threads take the chunks of a job.
#include "runtime/threads.h"

#include <gtest/gtest.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>

#include <atomic>
#include <memory>
#include <vector>

#include "runtime/execute.h"

namespace {

std::vector<int> taken;
void take(const rt::RowCall& call) { taken.push_back(call.chunk); }

void run_alone(const rt::Stretch& stretch, int32_t worker) {
  rt::Job job;
  taken.clear();
  rt::publish(job, stretch);
  rt::drain(job, worker);
  rt::wait(job);
}

std::vector<int> taken_by(int32_t worker, uint16_t chunks, bool turned) {
  const rt::Row rows[] = {{.kind = rt::RowKind::Kernel, .chunks = chunks}, {.kind = rt::RowKind::End}};
  const rt::Schedule schedule = {.rows = rows, .row_count = 2};
  const rt::Kernel kernels[] = {take};
  rt::Fault fault = {};
  const rt::Stretch stretch = {&schedule, 0, chunks, kernels, nullptr, nullptr, &fault, nullptr, 0, nullptr, turned};
  run_alone(stretch, worker);
  return taken;
}

TEST(Jobs, EveryOtherThreadTakesChunksFromTheLastOn) {
  EXPECT_EQ(taken_by(0, 5, false), (std::vector{0, 1, 2, 3, 4}));
  EXPECT_EQ(taken_by(1, 5, false), (std::vector{4, 3, 2, 1, 0}));
  EXPECT_EQ(taken_by(2, 1, false), (std::vector{0}));
}

TEST(Jobs, RoundsThatGoBackwardsBeginInTheMiddle) {
  EXPECT_EQ(taken_by(0, 6, true), (std::vector{2, 1, 0, 5, 4, 3}));
  EXPECT_EQ(taken_by(1, 6, true), (std::vector{3, 4, 5, 0, 1, 2}));
  EXPECT_EQ(taken_by(0, 5, true), (std::vector{1, 0, 4, 3, 2}));
  EXPECT_EQ(taken_by(1, 1, true), (std::vector{0}));
}

TEST(Jobs, AThreadThatIsAloneHasOneChunkWhereEachDoesWorkAnew) {
  for (const uint32_t repeats : {0u, 1u}) {
    const rt::Row rows[] = {{.kind = rt::RowKind::Kernel, .chunks = 3, .a = repeats}, {.kind = rt::RowKind::End}};
    const rt::Schedule schedule = {.rows = rows, .row_count = 2};
    const rt::Kernel kernels[] = {take};
    rt::Execution run;
    run.schedule = &schedule;
    run.kernels = kernels;
    taken.clear();
    EXPECT_EQ(rt::execute(run), rt::Outcome::Done);
    EXPECT_EQ(taken, repeats ? std::vector{0} : (std::vector{0, 1, 2}));
  }
}

// A job that is published while a thread is still about to leave the one before: the same row, but of other numbers.
rt::Job endless;
std::vector<bool> again;
const rt::Stretch* next_job = nullptr;
void take_and_publish(const rt::RowCall& call) {
  again.push_back(call.again);
  if (call.chunk + 1 < call.chunks || !next_job) return;
  const rt::Stretch& next = *next_job;
  next_job = nullptr;
  rt::publish(endless, next);
}

TEST(Jobs, ARowOfTheNextJobIsNotTheSameAgain) {
  const rt::Row rows[] = {{.kind = rt::RowKind::Kernel, .chunks = 3}, {.kind = rt::RowKind::End}};
  const rt::Schedule schedule = {.rows = rows, .row_count = 2};
  const rt::Kernel kernels[] = {take_and_publish};
  rt::Fault fault = {};
  const rt::Stretch stretch = {&schedule, 0, 3, kernels, nullptr, nullptr, &fault, nullptr, 0};
  next_job = &stretch;
  rt::publish(endless, stretch);
  rt::drain(endless, 0);
  EXPECT_EQ(again, (std::vector{false, true, true, false, true, true}));
}

// Two strips of three steps and a step of two chunks beside them. A step of a strip says where it ran.
struct Ran {
  const void* scratch;
  uint64_t strip;
  int step;
  bool operator==(const Ran&) const = default;
};
std::vector<Ran> ran;
template <int Step>
void run_in_strip(const rt::RowCall& call) {
  ran.push_back({call.scratch, call.refs[0].offset, Step});
  EXPECT_EQ(call.chunks, 1);
  EXPECT_FALSE(call.again);
  if (Step == 1 && call.refs[0].offset == 7) rt::raise_fault(call.fault, rt::kValueFault, 0, 0);
}

/// By one thread alone, whose memory this is; `first`: what the steps of the first strip have in their refs.
rt::Fault run_strips(int32_t worker, char* scratch, uint64_t first) {
  constexpr rt::Order kBeside = rt::Order::Beside, kFollows = rt::Order::Follows;
  const auto row = [&](rt::Order order, uint32_t kernel, uint32_t refs, uint16_t chunks = 1) {
    return rt::Row{.kind = rt::RowKind::Kernel,
                   .order = order,
                   .chunks = order == kFollows ? uint16_t{0} : chunks,
                   .target = kernel,
                   .refs = refs};
  };
  const rt::Row rows[] = {row(rt::Order::Waits, 0, 0), row(kFollows, 1, 0),       row(kFollows, 2, 0),
                          row(kBeside, 3, 0, 2),       row(kBeside, 0, 1),        row(kFollows, 1, 1),
                          row(kFollows, 2, 1),         {.kind = rt::RowKind::End}};
  const rt::Ref refs[] = {{0, first}, {0, 5}};
  const rt::Schedule schedule = {.rows = rows, .row_count = 8, .refs = refs};
  const rt::Kernel kernels[] = {run_in_strip<0>, run_in_strip<1>, run_in_strip<2>, take};
  rt::Fault fault = {};
  const rt::Stretch stretch = {&schedule, 0, 4, kernels, nullptr, nullptr, &fault, scratch, 64};
  ran.clear();
  run_alone(stretch, worker);
  return fault;
}

TEST(Jobs, AStripIsAChunk) {
  char scratch[128];
  EXPECT_EQ(run_strips(0, scratch, 4).code, rt::kNoFault);
  EXPECT_EQ(ran,
            (std::vector<Ran>{
                {scratch, 4, 0}, {scratch, 4, 1}, {scratch, 4, 2}, {scratch, 5, 0}, {scratch, 5, 1}, {scratch, 5, 2}}));
  EXPECT_EQ(taken, (std::vector{0, 1}));
  char* const of_second = scratch + 64;
  (void)run_strips(1, scratch, 4);
  EXPECT_EQ(ran, (std::vector<Ran>{{of_second, 5, 0},
                                   {of_second, 5, 1},
                                   {of_second, 5, 2},
                                   {of_second, 4, 0},
                                   {of_second, 4, 1},
                                   {of_second, 4, 2}}));
}

TEST(Jobs, AStripEndsWhereItFaults) {
  char scratch[128];
  const rt::Fault fault = run_strips(0, scratch, 7);
  EXPECT_EQ(fault.code, rt::kValueFault);
  EXPECT_EQ(fault.row, 1u);
  EXPECT_EQ(ran,
            (std::vector<Ran>{{scratch, 7, 0}, {scratch, 7, 1}, {scratch, 5, 0}, {scratch, 5, 1}, {scratch, 5, 2}}));
}

std::atomic<int> running;
std::atomic<pthread_t> caller;
sigset_t blocked_by_other;
void note_signals(const rt::RowCall&) {
  ++running;
  while (running < 2) sched_yield();  // so that each of two threads has one chunk
  if (pthread_equal(pthread_self(), caller)) return;
  pthread_sigmask(SIG_BLOCK, nullptr, &blocked_by_other);
}

TEST(Pool, ItsThreadsTakeTheirOwnFaultsAndNoOtherSignals) {
  const rt::Row rows[] = {{.kind = rt::RowKind::Kernel, .chunks = 2}, {.kind = rt::RowKind::End}};
  const rt::Schedule schedule = {.rows = rows, .row_count = 2};
  const rt::Kernel kernels[] = {note_signals};
  rt::Fault fault = {};
  std::vector<char> memory(rt::Pool::bytes(2) + 64);
  void* at = memory.data();
  size_t space = memory.size();
  rt::Pool* const pool = rt::Pool::create(std::align(64, rt::Pool::bytes(2), at, space), 2);
  ASSERT_NE(pool, nullptr);
  running = 0, caller = pthread_self();
  pool->run({&schedule, 0, 2, kernels, nullptr, nullptr, &fault, nullptr, 0, nullptr, false});
  pool->destroy();
  for (const int of_its_own : {SIGILL, SIGTRAP, SIGBUS, SIGFPE, SIGSEGV})
    EXPECT_FALSE(sigismember(&blocked_by_other, of_its_own)) << of_its_own;
  for (const int of_the_host : {SIGINT, SIGTERM, SIGUSR1, SIGCHLD, SIGPROF})
    EXPECT_TRUE(sigismember(&blocked_by_other, of_the_host)) << of_the_host;
}

}  // namespace
