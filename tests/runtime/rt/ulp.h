// How far a result is from the truth, in units of its last place: the error over the spacing of T around the true
// value. The truth comes in a wider type (f64 for f32, long double for f64), itself far within half a unit of T.
#pragma once
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

namespace rt_test {

template <class T>
double ulp_error(T got, long double want) {
  constexpr double never = std::numeric_limits<double>::infinity();
  using L = std::numeric_limits<T>;
  if (std::isnan(want) || std::isnan(got)) return std::isnan(want) && std::isnan(got) ? 0 : never;
  const T nearest = static_cast<T>(want);
  if (got == nearest && std::isinf(got)) return 0;
  if (want == 0) return got == 0 && std::signbit(got) == std::signbit(want) ? 0 : never;
  // Infinity counts as the number that would follow the largest, so that an early overflow is a small error.
  const long double end = std::ldexp(1.0L, L::max_exponent);
  if (std::isinf(got) && std::isinf(want)) return never;
  const long double g = std::isinf(got) ? std::copysign(end, static_cast<long double>(got)) : got;
  const long double w = std::isinf(want) ? std::copysign(end, want) : want;
  int exponent = 0;
  std::frexp(w, &exponent);
  exponent = std::max(exponent, L::min_exponent);
  exponent = std::min(exponent, L::max_exponent);
  return static_cast<double>(std::fabs(g - w) / std::ldexp(1.0L, exponent - L::digits));
}

template <class To, class From>
To same_bits(From x) {
  static_assert(sizeof(To) == sizeof(From));
  To r;
  std::memcpy(&r, &x, sizeof r);
  return r;
}

template <class T>
bool identical(T a, T b) {  // the same bits, any NaN equal to any other
  if constexpr (std::numeric_limits<T>::is_iec559) {
    if (std::isnan(a) && std::isnan(b)) return true;
  }
  return std::memcmp(&a, &b, sizeof a) == 0;
}

class Random {  // xorshift64: the same numbers everywhere
 public:
  uint64_t next() {
    state_ ^= state_ << 13, state_ ^= state_ >> 7, state_ ^= state_ << 17;
    return state_;
  }
  double unit() { return static_cast<double>(next() >> 11) * 0x1p-53; }
  template <class T>
  T any_bits() {
    using U = std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>;
    return same_bits<T>(static_cast<U>(next()));
  }
  template <class T>
  T around_one() {  // either sign, 2^-30 to 2^10
    return static_cast<T>(std::ldexp(1 + unit(), static_cast<int>(next() % 40) - 30) * (next() & 1 ? 1 : -1));
  }

 private:
  uint64_t state_ = 88172645463325252ull;
};

}  // namespace rt_test
