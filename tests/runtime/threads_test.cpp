// In which order threads take the chunks of a job.
#include "runtime/threads.h"

#include <gtest/gtest.h>

#include <vector>

namespace {

std::vector<int> taken;
void take(const rt::RowCall& call) { taken.push_back(call.chunk); }

std::vector<int> taken_by(int32_t worker, uint16_t chunks, bool turned) {
  const rt::Row rows[] = {{.kind = rt::RowKind::Kernel, .chunks = chunks}, {.kind = rt::RowKind::End}};
  const rt::Schedule schedule = {.rows = rows, .row_count = 2};
  const rt::Kernel kernels[] = {take};
  rt::Fault fault = {};
  const rt::Stretch stretch = {&schedule, 0, chunks, kernels, nullptr, nullptr, &fault, nullptr, 0, nullptr, turned};
  rt::Job job;
  taken.clear();
  rt::publish(job, stretch);
  rt::drain(job, worker);
  rt::wait(job);
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

}  // namespace
