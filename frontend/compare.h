// Comparing a computed output with the interpreter's two runs, by error and not by habit: it passes when its error
// against the unrounded run is at most 4 times the larger of the golden values' and the rounded run's, and always
// within 32 ULP of the output's largest magnitude. Everything but floats is exact.
#pragma once
#include <string>

#include "frontend/tensor.h"

namespace cameo {

struct Comparison {
  bool pass = false;
  double max_error = 0;   // against the unrounded run; infinite where a NaN, an infinity or a discrete value differs
  double tolerance = 0;   // that was used
  double would_pass = 0;  // the tolerance that would pass; infinite when none would
  int64_t worst = -1;     // the element of the largest error
  std::string why;        // empty when it passes
};
/// `golden`, if given, are values of another implementation; they must themselves agree with the interpreter to 1e-3 of
/// the largest magnitude (or to what rounding explains, or to 4 ULP of one), or a wrong meaning would widen its own
/// tolerance.
Comparison compare(const Tensor& got, const Tensor& rounded, const Tensor& unrounded, const Tensor* golden = nullptr);

/// The distance from `magnitude` to the next number of a floating type.
double ulp_of(DType t, double magnitude);

}  // namespace cameo
