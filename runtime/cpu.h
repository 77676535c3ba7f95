// What this processor can do, in the bits of rt::Cpu, and the names of those bits.
#pragma once

#include "runtime/program.h"

namespace rt {

uint64_t host_cpu_features();

struct FeatureNames {  // `avx512f, avx512bw`
  char text[320];
  explicit FeatureNames(uint64_t features);
};

}  // namespace rt
