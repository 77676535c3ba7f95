// Blocks of GPU threads on a CPU: each thread of a block is a fiber that runs until it comes to a barrier or to its
// end, then another one does. The order changes from barrier to barrier, so that a missing barrier shows.
#pragma once
#include <cstdint>
#include <functional>

#include "runtime/rt/grid.h"

namespace cameo::test {

/// Runs `kernel` once for each thread of each block; `words` is the `cameo_fibers` of the kernel's library. Throws
/// std::runtime_error where some threads of a block end while others wait at a barrier.
void run_blocks(rt::Fibers& words, int blocks, const std::function<void()>& kernel);

}  // namespace cameo::test
