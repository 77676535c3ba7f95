// The tolerance rule, over one output.
#include "frontend/reference/compare.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace cameo {
namespace {

std::string dims_text(const Tensor& t) {
  std::string s;
  for (int64_t d : t.dims()) s += (s.empty() ? "" : "x") + std::to_string(d);
  return fmt::format("{}[{}]", name(t.dtype()), s);
}

/// Infinite where one is finite and the other not, or where infinities or NaNs differ.
double difference(double a, double b) {
  if (std::isfinite(a) && std::isfinite(b)) return std::fabs(a - b);
  return a == b || (std::isnan(a) && std::isnan(b)) ? 0 : HUGE_VAL;
}

/// From the exact value; where one of the runs overflows or has no number, from the nearer one.
double error_of(double value, double rounded, double exact) {
  const double error = difference(value, exact);
  if (std::isfinite(exact) && std::isfinite(rounded)) return error;
  return std::min(error, difference(value, rounded));
}

void add_error(Comparison& c, double error, int64_t element) {
  if (c.worst >= 0 && error <= c.max_error) return;
  c.max_error = error;
  c.worst = element;
}

bool same_element(const Tensor& a, const Tensor& b, int64_t i) {
  if (is_minifloat(a.dtype())) return difference(a.get(i), b.get(i)) == 0;
  return a.get_int(i) == b.get_int(i);
}
std::string element_text(const Tensor& t, int64_t i) {
  return is_float(t.dtype()) ? fmt::format("{:.9g}", t.get(i)) : fmt::format("{}", t.get_int(i));
}

/// An output that is not floating, or made of codes: the first element that neither run has, if any.
Comparison compare_exact(const Tensor& values, const Tensor& rounded, const Tensor& exact) {
  Comparison c;
  for (int64_t i = 0; i < values.size() && c.worst < 0; ++i)
    if (!same_element(values, rounded, i) && !same_element(values, exact, i)) c.worst = i;
  c.pass = c.worst < 0;
  if (c.pass) return c;
  c.max_error = HUGE_VAL;
  c.why = values.dtype() == DType::str ? fmt::format("element {} is another string", c.worst)
                                       : fmt::format("element {} is {}, expected {}", c.worst,
                                                     element_text(values, c.worst), element_text(rounded, c.worst));
  return c;
}

/// Whether there is anything to compare.
bool are_alike(const Tensor& values, const Tensor& want, Comparison& c) {
  if (values.dims() == want.dims() && values.dtype() == want.dtype()) return true;
  c.max_error = HUGE_VAL;
  c.why = fmt::format("is {}, expected {}", dims_text(values), dims_text(want));
  return false;
}

void judge(Comparison& c, const Tensor& values, const Tensor& want, double tolerance) {
  c.tolerance = tolerance;
  c.pass = c.max_error <= c.tolerance;
  if (!c.pass)
    c.why = fmt::format("element {} is {:.9g}, expected {:.9g}: error {:.3g}, tolerance {:.3g}", c.worst,
                        values.get(c.worst), want.get(c.worst), c.max_error, c.tolerance);
}

/// Golden data that the floor for tiny outputs alone excuses say nothing of rounding; but a result may be as far off.
constexpr rt::ErrorRule kCountedGolden = {rt::kGoldenRule.times_error, rt::kGoldenRule.ulps, 0};

/// Of lists, element by element: the first that does not pass, else the one of the largest error.
template <class Compare>
Comparison compare_items(const Tensor& values, const Tensor& want, const Compare& compare_item) {
  Comparison all;
  if (!values.is_list() || !want.is_list() || values.items().size() != want.items().size()) {
    all.max_error = HUGE_VAL;
    all.why = "has other elements than are expected";
    return all;
  }
  all.pass = true;
  for (size_t i = 0; i < values.items().size() && all.pass; ++i) {
    Comparison c = compare_item(i);
    if (!c.why.empty()) c.why = fmt::format("element {}: {}", i, c.why);
    if (!c.pass || c.max_error >= all.max_error) all = std::move(c);
  }
  return all;
}

Comparison compare_by(const rt::ErrorRule& rule, const Tensor& values, const Tensor& rounded, const Tensor& exact,
                      double golden_error) {
  if (values.is_list() || rounded.is_list())
    return compare_items(values, rounded, [&](size_t i) {
      return compare_by(rule, values.items()[i], rounded.items()[i], exact.items()[i], golden_error);
    });
  Comparison c;
  if (!are_alike(values, rounded, c)) return c;
  if (is_complex(values.dtype())) return compare_by(rule, values.parts(), rounded.parts(), exact.parts(), golden_error);
  if (!is_float(values.dtype()) || is_minifloat(values.dtype())) return compare_exact(values, rounded, exact);
  double error = 0, largest = 0;
  for (int64_t i = 0; i < values.size(); ++i) {
    add_error(c, error_of(values.get(i), rounded.get(i), exact.get(i)), i);
    if (!std::isfinite(exact.get(i)) || !std::isfinite(rounded.get(i))) continue;
    largest = std::max(largest, std::fabs(exact.get(i)));
    error = std::max(error, std::fabs(rounded.get(i) - exact.get(i)));
  }
  const auto type = static_cast<uint32_t>(values.dtype());
  if (golden_error <= rt::tolerance_of(kCountedGolden, type, error, largest)) error = std::max(error, golden_error);
  judge(c, values, exact, std::max(rt::tolerance_of(rule, type, error, largest), golden_error));
  return c;
}

}  // namespace

double ulp_of(DType t, double magnitude) { return rt::ulp_of(static_cast<uint32_t>(t), magnitude); }

double magnitude_of(const Tensor& t) {
  double largest = 0;
  if (t.is_list())
    for (const Tensor& item : t.items()) largest = std::max(largest, magnitude_of(item));
  if (is_complex(t.dtype())) return magnitude_of(t.parts());
  for (int64_t i = 0; is_float(t.dtype()) && i < t.size(); ++i)
    if (const double v = std::fabs(t.get(i)); std::isfinite(v)) largest = std::max(largest, v);
  return largest;
}

Comparison compare(const Tensor& values, const Tensor& rounded, const Tensor& exact, const Comparison* golden) {
  return compare_by(rt::kResultRule, values, rounded, exact, golden ? golden->max_error : 0);
}

Comparison compare_golden(const Tensor& values, const Tensor& rounded, const Tensor& exact) {
  return compare_by(rt::kGoldenRule, values, rounded, exact, 0);
}

Comparison compare_within(const Tensor& values, const Tensor& want, double tolerance) {
  if (values.is_list() || want.is_list())
    return compare_items(values, want,
                         [&](size_t i) { return compare_within(values.items()[i], want.items()[i], tolerance); });
  Comparison c;
  if (!are_alike(values, want, c)) return c;
  if (is_complex(values.dtype())) return compare_within(values.parts(), want.parts(), tolerance);
  if (!is_float(values.dtype()) || is_minifloat(values.dtype())) return compare_exact(values, want, want);
  for (int64_t i = 0; i < values.size(); ++i) add_error(c, difference(values.get(i), want.get(i)), i);
  judge(c, values, want, tolerance);
  return c;
}

}  // namespace cameo
