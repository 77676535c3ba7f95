// Kernels in x86-64 libraries, compiled with RT_FIBERS.
#pragma once
#include <vector>

#include "runtime/rt/grid.h"

namespace cameo::test {

/// From its bytes in memory; null: it is none, or cannot be loaded.
void* load_library(const void* image);

struct Kernel {
  void* entry;
  rt::Fibers* words;
  /// Throws std::runtime_error where threads of a block part at a barrier.
  void run(int blocks, const std::vector<void*>& parameters) const;
};
/// `entry` is null where the library has none of that name.
Kernel find_kernel(void* library, const char* name);

}  // namespace cameo::test
