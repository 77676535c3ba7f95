// Blocks of GPU threads on a CPU: each thread of a block is a fiber that runs until it comes to a barrier or to its
// end, then another one does. The order is drawn anew between barriers, so that a missing one shows, sooner or later:
// it is the same for the same seed.
#pragma once
#include <cstdint>
#include <functional>

#include "runtime/rt/grid.h"

namespace cameo::test {

/// CAMEO_MOCK_SEED, or 1.
uint64_t fiber_seed();

/// Runs `kernel` once for each thread of each block; `words` is the `cameo_fibers` of the kernel's library. Throws
/// std::runtime_error where threads wait at a barrier that the others do not come to, or end before their copies do.
void run_blocks(rt::Fibers& words, int blocks, const std::function<void()>& kernel, uint64_t seed = fiber_seed());

}  // namespace cameo::test
