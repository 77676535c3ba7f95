// What this processor can do, in the bits of rt::Cpu, and the names of those bits.
#pragma once

#include "runtime/program.h"

namespace rt {

uint64_t host_cpu_features();
/// The system gives a process tile registers (AMX) only when it asks for them; they are then part of its threads'
/// state. False: it does not, for instance because a thread's stack for signals is too small for that state.
bool allow_tile_registers();

struct FeatureNames {  // `avx512f, avx512bw`
  char text[320];
  explicit FeatureNames(uint64_t features);
};

}  // namespace rt
