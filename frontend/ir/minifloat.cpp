// Codes are searched for by arithmetic on doubles, which hold every value and every boundary exactly.
#include "frontend/ir/minifloat.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "frontend/ir/check.h"

namespace cameo {
namespace {

enum class Special : uint8_t { Ieee, LastIsNan, MinusZeroIsNan, None };
struct Format {
  int exponent_bits, mantissa_bits, bias;
  Special special;
  int sign() const { return 1 << (exponent_bits + mantissa_bits); }
  /// Of the largest finite value; the codes of positive values have their order.
  int largest() const {
    if (special == Special::Ieee) return sign() - (1 << mantissa_bits) - 1;
    return sign() - (special == Special::LastIsNan ? 2 : 1);
  }
};

Format format_of(DType t) {
  switch (t) {
    case DType::f8e4m3fn: return {4, 3, 7, Special::LastIsNan};
    case DType::f8e4m3fnuz: return {4, 3, 8, Special::MinusZeroIsNan};
    case DType::f8e5m2: return {5, 2, 15, Special::Ieee};
    case DType::f8e5m2fnuz: return {5, 2, 16, Special::MinusZeroIsNan};
    case DType::f4e2m1: return {2, 1, 1, Special::None};
    default: CAMEO_CHECK(false, "a float of 8 bits or less"); return {};
  }
}

/// Of a code without its sign.
double magnitude_of(const Format& f, int code) {
  const int exponent = code >> f.mantissa_bits, mantissa = code & ((1 << f.mantissa_bits) - 1);
  const int whole = exponent ? mantissa | 1 << f.mantissa_bits : mantissa;
  return std::ldexp(whole, std::max(exponent, 1) - f.bias - f.mantissa_bits);
}

/// The code of the number nearest to one that is not negative, past the last one if it is large.
int nearest(const Format& f, double v) {
  const int exponent = std::max(std::ilogb(v), 1 - f.bias), unit = exponent - f.mantissa_bits;
  const auto units = static_cast<int>(std::nearbyint(std::ldexp(v, -unit)));
  return units + ((exponent + f.bias - 1) << f.mantissa_bits);  // what rounds up to the next power carries
}

uint8_t power_of_two_code(double v) {
  if (!std::isfinite(v)) return 255;
  return static_cast<uint8_t>(v == 0 ? 0 : std::clamp(std::ilogb(v) + 127, 0, 255));
}

}  // namespace

double minifloat_value(DType t, uint8_t code) {
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  if (t == DType::f8e8m0) return code == 255 ? kNan : std::ldexp(1, code - 127);
  const Format f = format_of(t);
  const int magnitude = code & (f.sign() - 1);
  const double sign = code & f.sign() ? -1 : 1;
  if (f.special == Special::MinusZeroIsNan && code == f.sign()) return kNan;
  if (magnitude <= f.largest()) return sign * magnitude_of(f, magnitude);
  if (f.special == Special::Ieee && magnitude == f.largest() + 1) return sign * std::numeric_limits<double>::infinity();
  return std::copysign(kNan, sign);
}

uint8_t minifloat_code(DType t, double v) {
  if (t == DType::f8e8m0) return power_of_two_code(v);
  const Format f = format_of(t);
  const int sign = std::signbit(v) ? f.sign() : 0, beyond = f.special == Special::None ? f.largest() : f.largest() + 1;
  if (f.special == Special::MinusZeroIsNan) {
    const int code = std::isfinite(v) && v != 0 ? nearest(f, std::fabs(v)) : 0;
    const bool is_nan = !std::isfinite(v) || code > f.largest();
    return static_cast<uint8_t>(is_nan ? f.sign() : code ? code | sign : 0);
  }
  if (std::isnan(v)) {
    if (f.special == Special::None) return static_cast<uint8_t>(sign ^ f.sign());  // it has none: a zero, as ml_dtypes
    return static_cast<uint8_t>(sign | (f.special == Special::Ieee ? f.largest() + 3 : f.largest() + 1));
  }
  const int code = std::isinf(v) ? beyond : v == 0 ? 0 : std::min(nearest(f, std::fabs(v)), beyond);
  return static_cast<uint8_t>(code | sign);
}

double minifloat_largest(DType t) {
  if (t == DType::f8e8m0) return std::ldexp(1, 127);
  return magnitude_of(format_of(t), format_of(t).largest());
}

}  // namespace cameo
