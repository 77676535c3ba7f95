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

double larger(double a, double b) { return a > b ? a : b; }

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

double ulp_of(uint32_t of, double magnitude) {
  const uint32_t dtype = type_of_parts(of);
  const double epsilon = dtype == kF64 ? 0x1p-52 : dtype == kF32 ? 0x1p-23 : dtype == kF16 ? 0x1p-10 : 0x1p-7;
  const double least = dtype == kF64 ? 0x1p-1022 : dtype == kF16 ? 0x1p-14 : 0x1p-126;
  double power = 1;  // the largest power of two not above the magnitude
  while (power > magnitude && power > least) power *= 0.5;
  while (power <= magnitude / 2) power *= 2;
  return power * epsilon;
}

double tolerance_of(const ErrorRule& rule, uint32_t dtype, double error, double magnitude) {
  const bool half = dtype == kF16 || dtype == kBf16;
  const double ulps = half && rule.ulps > kResultRule.ulps ? kResultRule.ulps : rule.ulps;
  return larger(larger(rule.times_error * error, ulps * ulp_of(dtype, magnitude)), rule.absolute);
}

double tolerance_of(const Tolerance& tolerance, uint32_t dtype, double magnitude) {
  if (!is_float(dtype) || is_minifloat(dtype)) return 0;
  if (tolerance.absolute < 0 && tolerance.share >= 0) return tolerance.share * magnitude;
  const double ulps = tolerance_of(kResultRule, dtype, 0, magnitude);
  if (tolerance.absolute >= 0) return larger(tolerance.absolute, ulps);
  return larger(larger(kDefaultShare * magnitude, ulps), kUlpsOfOne);
}

Comparison compare(uint32_t dtype, int64_t elements, const void* got, const void* expected, Tolerance tolerance) {
  const int64_t count = elements * parts_of_one(dtype);
  Comparison result = {};
  result.magnitude = magnitude_of(dtype, count, expected);
  result.tolerance = tolerance_of(tolerance, dtype, result.magnitude);
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
