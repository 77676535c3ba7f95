// What the emulator of blocks is for: kernels that lack a barrier, or wait too little for what they copy, do not get
// by, and with an address sanitizer neither do those that leave their operands.
#include <gtest/gtest.h>

#include <numeric>
#include <vector>

#include "runtime/call.h"
#include "runtime/rt/tensor_core.h"
#include "tests/support/fibers.h"

namespace {

constexpr size_t kThreads = rt::kBlockThreads;
using Kernel = void (*)(const float* from, float* to);

/// On numbers that no other seed has: what a run before it left in shared memory is wrong.
std::vector<float> run(Kernel kernel, uint64_t seed) {
  std::vector<float> from(4 * kThreads), to(kThreads);
  std::iota(from.begin(), from.end(), static_cast<float>(seed * from.size()));
  cameo::test::run_blocks(rt::cameo_fibers, 1, [&] { kernel(from.data(), to.data()); }, seed);
  return to;
}
/// Of the first seeds, under how many a kernel hands on from[index(thread)].
int right_under_seeds(Kernel kernel, size_t (*index)(size_t thread)) {
  int right = 0;
  for (uint64_t seed = 1; seed <= 8; ++seed) {
    const std::vector<float> to = run(kernel, seed);
    bool all = true;
    for (size_t t = 0; t < to.size(); ++t) all &= to[t] == static_cast<float>(seed * 4 * kThreads + index(t));
    right += all;
  }
  return right;
}

enum class Lacks { Nothing, Barrier, WarpBarrier, Wait };

// Threads read what other warps wrote, twice in the same place.
template <Lacks kLacks>
void rotate(const float* from, float* to) {
  RT_SHARED float all[kThreads];
  float own = from[rt::thread()];
  for (int round = 0; round < 2; ++round) {
    all[rt::thread()] = own;
    rt::barrier();
    own = all[(static_cast<size_t>(rt::thread()) + rt::kWarpThreads) % kThreads];
    if (kLacks != Lacks::Barrier) rt::barrier();
  }
  to[rt::thread()] = own;
}
// Threads read what their neighbour in the warp has copied.
template <Lacks kLacks>
void copy(const float* from, float* to) {
  RT_SHARED __attribute__((aligned(16))) float all[2][kThreads * 4];
  for (int i = 0; i < 2; ++i) {
    rt::begin_copy<16>(all[i] + 4 * rt::thread(), from + 4 * rt::thread(), 16);
    rt::commit_copies();
  }
  rt::wait_for_copies<kLacks == Lacks::Wait ? 1 : 0>();
  if (kLacks != Lacks::WarpBarrier) rt::cameo_fibers.warp_barrier();
  to[rt::thread()] = all[1][4 * (rt::thread() ^ 1)];
  rt::wait_for_copies<0>();
}

TEST(Fibers, AMissingBarrierShows) {
  const auto rotated = [](size_t t) { return (t + 2 * rt::kWarpThreads) % kThreads; };
  EXPECT_EQ(right_under_seeds(rotate<Lacks::Nothing>, rotated), 8);
  EXPECT_LT(right_under_seeds(rotate<Lacks::Barrier>, rotated), 2);
}
TEST(Fibers, ACopyThatIsNotWaitedForShows) {
  const auto neighbour = [](size_t t) { return 4 * (t ^ 1); };
  EXPECT_EQ(right_under_seeds(copy<Lacks::Nothing>, neighbour), 8);
  EXPECT_EQ(right_under_seeds(copy<Lacks::WarpBarrier>, neighbour), 0);
  EXPECT_EQ(right_under_seeds(copy<Lacks::Wait>, neighbour), 0);
}
TEST(Fibers, EqualSeedsAreEqualOrders) {
  const Kernel order = [](const float*, float* to) {
    RT_SHARED int turn;
    if (rt::thread() == 0) turn = 0;
    rt::barrier();
    to[rt::thread()] = static_cast<float>(turn++);
    rt::barrier();
  };
  EXPECT_EQ(run(order, 5), run(order, 5));
  EXPECT_NE(run(order, 5), run(order, 6));
}
TEST(Fibers, ThreadsThatPartAreSaid) {
  for (const Kernel kernel : {Kernel([](const float*, float*) {
                                if (rt::thread() != 5) rt::barrier();
                              }),
                              Kernel([](const float*, float*) {
                                if (rt::thread() % 2) rt::cameo_fibers.warp_barrier();
                                rt::barrier();
                              }),
                              Kernel([](const float* from, float*) {
                                RT_SHARED __attribute__((aligned(16))) float all[kThreads];
                                rt::barrier();
                                rt::begin_copy<4>(all + rt::thread(), from, 4);
                              })})
    for (uint64_t seed = 1; seed <= 4; ++seed) EXPECT_THROW(run(kernel, seed), std::runtime_error);
}

#if defined(__SANITIZE_ADDRESS__)
TEST(SanitizerDeathTest, SeesOperandsAndSharedMemory) {
  EXPECT_DEATH(run([](const float* from, float* to) { to[rt::thread() + 1] = from[0]; }, 1), "heap-buffer-overflow");
  EXPECT_DEATH(run(
                   [](const float* from, float* to) {
                     RT_SHARED float all[kThreads];
                     all[rt::thread()] = from[0];
                     rt::barrier();
                     to[rt::thread()] = all[rt::thread() + 1];
                   },
                   1),
               "global-buffer-overflow");
  EXPECT_DEATH(run(
                   [](const float* from, float* to) {
                     RT_SHARED __attribute__((aligned(16))) float all[4 * kThreads];
                     rt::begin_copy<16>(all + 4 * rt::thread(), from + 4 * rt::thread() + 4, 16);
                     rt::wait_for_copies<-1>();
                     rt::barrier();
                     to[rt::thread()] = all[rt::thread()];
                   },
                   1),
               "heap-buffer-overflow");
}
#endif

}  // namespace
