// Judging values, computed or golden, by the interpreter's two runs: the exact one says what is right, the rounded one
// how far rounding alone goes. The tolerances are runtime/compare.h's; what is not floating is as one of the runs has
// it.
#pragma once
#include <string>

#include "frontend/ir/tensor.h"
#include "runtime/compare.h"

namespace cameo {

struct Comparison {
  bool pass = false;
  double max_error = 0;  // from the exact run; infinite where a NaN, an infinity or a discrete value differs
  double tolerance = 0;  // that was used
  int64_t worst = -1;    // the element of the largest error
  std::string why;       // empty when it passes
};
/// Of a result. `golden`, if given, passed.
Comparison compare(const Tensor& values, const Tensor& rounded, const Tensor& exact,
                   const Comparison* golden = nullptr);
/// Of golden data, another implementation's.
Comparison compare_golden(const Tensor& values, const Tensor& rounded, const Tensor& exact);

/// Of values that nothing but `want` judges.
Comparison compare_within(const Tensor& values, const Tensor& want, double tolerance);

/// The distance from `magnitude` to the next number of a floating type.
double ulp_of(DType t, double magnitude);
/// The largest finite one; 0 of what is not floating.
double magnitude_of(const Tensor& t);

}  // namespace cameo
