// The tolerance rule, over one output.
#include "frontend/compare.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace cameo {
namespace {

constexpr double kTimesReference = 4, kAlwaysUlps = 32, kGoldenLimit = 1e-3, kGoldenUlpsOfOne = 16;

int mantissa_bits(DType t) {
  switch (t) {
    case DType::f16: return 10;
    case DType::bf16: return 7;
    case DType::f64: return 52;
    default: return 23;
  }
}
int least_exponent(DType t) { return t == DType::f16 ? -14 : t == DType::f64 ? -1022 : -126; }

std::string dims_text(const Tensor& t) {
  std::string s;
  for (int64_t d : t.dims()) s += (s.empty() ? "" : "x") + std::to_string(d);
  return fmt::format("{}[{}]", name(t.dtype()), s);
}

bool same_special(double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); }

/// |a - b|; infinite where one is finite and the other not, or where infinities or NaNs differ.
double error_of(double a, double b) {
  if (std::isfinite(a) && std::isfinite(b)) return std::fabs(a - b);
  return same_special(a, b) ? 0 : HUGE_VAL;
}

struct Errors {
  double max = 0;
  int64_t at = -1;
  void add(double e, int64_t i) {
    if (at >= 0 && e <= max) return;
    max = e;
    at = i;
  }
};

/// An output that is not floating: the first difference from the reference, if any.
Comparison compare_exact(const Tensor& got, const Tensor& want) {
  Comparison c;
  if (got.dtype() == DType::str) {
    auto [a, b] = std::ranges::mismatch(got.strings(), want.strings());
    if (a != got.strings().end()) c.worst = a - got.strings().begin();
  } else {
    for (int64_t i = 0; i < got.size() && c.worst < 0; ++i)
      if (got.get_int(i) != want.get_int(i)) c.worst = i;
  }
  c.pass = c.worst < 0;
  if (c.pass) return c;
  c.max_error = c.would_pass = HUGE_VAL;
  c.why = got.dtype() == DType::str
              ? fmt::format("element {} is another string", c.worst)
              : fmt::format("element {} is {}, expected {}", c.worst, got.get_int(c.worst), want.get_int(c.worst));
  return c;
}

}  // namespace

double ulp_of(DType t, double magnitude) {
  int e = least_exponent(t);
  if (magnitude > 0) e = std::max(e, std::ilogb(magnitude));
  return std::ldexp(1., e - mantissa_bits(t));
}

Comparison compare(const Tensor& got, const Tensor& rounded, const Tensor& unrounded, const Tensor* golden) {
  Comparison c;
  const Tensor& reference = golden ? *golden : rounded;
  for (const Tensor* t : {&rounded, &unrounded, &reference}) {
    bool fits = got.dims() == t->dims() && (t == &unrounded || got.dtype() == t->dtype());
    if (fits) continue;
    c.max_error = c.would_pass = HUGE_VAL;
    c.why = fmt::format("is {}, expected {}", dims_text(got), dims_text(t == &unrounded ? rounded : *t));
    return c;
  }
  if (!is_float(got.dtype())) return compare_exact(got, reference);

  Errors error, rounding, golden_error;
  double largest = 0;
  for (int64_t i = 0; i < got.size(); ++i) {
    double truth = unrounded.get(i), expected = reference.get(i), value = got.get(i);
    if (!std::isfinite(truth) || !std::isfinite(expected)) {  // overflow and NaN: as the reference has it
      error.add(error_of(value, expected), i);
      continue;
    }
    largest = std::max(largest, std::fabs(truth));
    error.add(error_of(value, truth), i);
    if (std::isfinite(rounded.get(i))) rounding.add(std::fabs(rounded.get(i) - truth), i);
    golden_error.add(std::fabs(expected - truth), i);
  }
  double least = std::max(kTimesReference * rounding.max, kAlwaysUlps * ulp_of(got.dtype(), largest));
  c.tolerance = golden ? std::max(least, kTimesReference * golden_error.max) : least;
  c.max_error = c.would_pass = error.max;
  c.worst = error.at;
  c.pass = error.max <= c.tolerance;
  if (!c.pass)
    c.why = fmt::format("element {} is {}, expected {}: error {:.3g}, tolerance {:.3g}", c.worst, got.get(c.worst),
                        unrounded.get(c.worst), c.max_error, c.tolerance);
  double limit = std::max({least, kGoldenLimit * largest, kGoldenUlpsOfOne * ulp_of(got.dtype(), 1)});
  if (golden && golden_error.max > limit) {
    c.pass = false;
    c.why =
        fmt::format("the golden values are {:.3g} away from the interpreter's at element {} ({} and {})",
                    golden_error.max, golden_error.at, golden->get(golden_error.at), unrounded.get(golden_error.at));
  }
  return c;
}

}  // namespace cameo
