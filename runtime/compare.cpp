// Two passes: the magnitude, which the tolerance depends on, then the differences.
#include "runtime/compare.h"

#include "runtime/numbers.h"

namespace rt {
namespace {

constexpr double kInfinity = __builtin_inf();

double magnitude_of(uint32_t dtype, int64_t count, const void* data) {
  double largest = 0;
  for (int64_t i = 0; i < count; ++i) {
    const double value = __builtin_fabs(number_at(dtype, data, i));
    if (value > largest && value < kInfinity) largest = value;
  }
  return largest;
}

double ulp_of(uint32_t dtype, double magnitude) {
  const double epsilon = dtype == kF64 ? 0x1p-52 : dtype == kF32 ? 0x1p-23 : dtype == kF16 ? 0x1p-10 : 0x1p-7;
  double power = 1;  // the largest power of two not above the magnitude
  if (magnitude == 0) return 0;
  while (power > magnitude) power *= 0.5;
  while (power * 2 <= magnitude) power *= 2;
  return power * epsilon;
}

double allowed(uint32_t dtype, double magnitude, const Tolerance& tolerance) {
  if (!is_float(dtype)) return 0;
  const double asked = tolerance.absolute >= 0 ? tolerance.absolute : tolerance.relative * magnitude;
  const double ulps = tolerance.at_least_ulps ? 32 * ulp_of(dtype, magnitude) : 0;
  return asked > ulps ? asked : ulps;
}

double difference(uint32_t dtype, int64_t i, const void* a, const void* b) {
  const double x = number_at(dtype, a, i), y = number_at(dtype, b, i);
  if (!is_float(dtype)) {
    if (integer_at(dtype, a, i) == integer_at(dtype, b, i)) return 0;
    return x == y ? 1 : __builtin_fabs(x - y);  // 64-bit integers that differ below a double's precision
  }
  if (x == y || (x != x && y != y)) return 0;
  const double gap = __builtin_fabs(x - y);
  return gap < kInfinity ? gap : kInfinity;  // NaN too
}

}  // namespace

Comparison compare(uint32_t dtype, int64_t count, const void* got, const void* expected, Tolerance tolerance) {
  Comparison result = {};
  result.magnitude = magnitude_of(dtype, count, expected);
  result.tolerance = allowed(dtype, result.magnitude, tolerance);
  double worst = -1;
  for (int64_t i = 0; i < count; ++i) {
    const double gap = difference(dtype, i, got, expected);
    result.mismatches += gap > result.tolerance;
    if (gap > worst) worst = gap, result.worst_index = static_cast<uint64_t>(i);
  }
  if (count) {
    const int64_t at = static_cast<int64_t>(result.worst_index);
    result.max_error = worst;
    result.expected = number_at(dtype, expected, at);
    result.got = number_at(dtype, got, at);
  }
  result.passed = result.mismatches == 0;
  return result;
}

}  // namespace rt
