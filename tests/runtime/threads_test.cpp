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

}  // namespace
