// Compares a result with what was expected. Integers and bools exactly; floats by an absolute tolerance; NaN equals
// NaN, an infinity equals itself.
#pragma once

#include "runtime/call.h"

namespace rt {

struct Tolerance {
  double absolute = -1;       // used if not negative
  double relative = 1e-3;     // else this share of the largest magnitude expected
  bool at_least_ulps = true;  // 32 ULP of that magnitude always pass
};

struct Comparison {
  bool passed;
  double max_error;
  double magnitude;  // largest finite absolute value expected
  double tolerance;  // absolute
  uint64_t mismatches, worst_index;
  double expected, got;  // at the worst index
};

Comparison compare(uint32_t dtype, int64_t count, const void* got, const void* expected, Tolerance tolerance);

}  // namespace rt
