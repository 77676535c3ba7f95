// How values are judged, said once for the artifact's `test` and for the compiler's, which has the reference
// interpreter (frontend/reference/compare.h). Integers, bools and floats of 8 bits and less are equal, NaN equals NaN,
// an infinity itself. Other floats have a tolerance, and so have the parts of complex numbers, which are compared one
// by one:
//   golden data, from the exact values: 16 times the error that rounding alone makes; at least 256 ULP of the output's
//     largest magnitude (32 of f16 and bf16); at least 4 ULP of 1 of an f32, for whoever computes 1 - x where it comes
//     close to 0 keeps the error that it had at 1. Beyond that they are wrong;
//   a result, from the exact values: 4 times the larger of that error and the one of golden data that are right without
//     the last of these; at least the error of golden data that are right, and 32 ULP of the largest magnitude;
//   a result, from golden data, where nothing knows the exact values: a thousandth of the largest magnitude; at least
//     those 32 ULP, and those 4 ULP of 1.
#pragma once

#include "runtime/call.h"

namespace rt {

struct ErrorRule {
  double times_error, ulps, absolute;  // the tolerance is the largest of the three
};
inline constexpr double kUlpsOfOne = 4 * 0x1p-23;
inline constexpr ErrorRule kResultRule = {4, 32, 0}, kGoldenRule = {16, 256, kUlpsOfOne};
// Golden data from the golden case that an artifact carries with its tolerance, of which 32 ULP are the least.
inline constexpr ErrorRule kCarriedGoldenRule = {4, 288, kUlpsOfOne};
inline constexpr double kDefaultShare = 1e-3;

/// The distance from `magnitude` to the next number of a floating type.
double ulp_of(uint32_t dtype, double magnitude);
/// `error` is what there is anyhow, `magnitude` the output's largest.
double tolerance_of(const ErrorRule& rule, uint32_t dtype, double error, double magnitude);

struct Tolerance {
  double absolute = -1;  // used if not negative, but at least 32 ULP of the largest magnitude expected
  double share = -1;     // else, if not negative, exactly this share of that magnitude; else the rule above
};
double tolerance_of(const Tolerance& tolerance, uint32_t dtype, double magnitude);

struct Comparison {
  bool passed;
  double max_error;
  double magnitude;  // largest finite absolute value expected
  double tolerance;  // absolute
  uint64_t mismatches, worst_index;
  double expected, got;  // at the worst index
};

Comparison compare(uint32_t dtype, int64_t elements, const void* got, const void* expected, Tolerance tolerance);

}  // namespace rt
