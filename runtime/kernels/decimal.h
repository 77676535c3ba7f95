// Floats as decimal texts and back, exactly: the fewest digits that are read as the same float (Burger and Dybvig,
// "Printing Floating-Point Numbers Quickly and Accurately", 1996), and the float nearest to a text, of two the even
// one.
#pragma once
#include "runtime/call.h"
#include "runtime/kernels/nest.h"

namespace rt {

struct FloatFormat {
  int bits;            // of the mantissa, the leading one among them
  int least_exponent;  // of a normal number that is 1.x * 2^exponent
};
template <class T>
inline constexpr FloatFormat kFormatOf = sizeof(T) == 4 ? FloatFormat{24, -126} : FloatFormat{53, -1022};

namespace detail {

// A natural number below 2^5120.
class BigNumber {
 public:
  RT_FN explicit BigNumber(u64 value) : words_{static_cast<u32>(value), static_cast<u32>(value >> 32)}, count_(2) {
    trim();
  }
  RT_FN void multiply_add(u32 factor, u32 term) {
    u64 carry = term;
    for (int i = 0; i < count_; ++i) {
      carry += u64(words_[i]) * factor;
      words_[i] = static_cast<u32>(carry);
      carry >>= 32;
    }
    if (carry) words_[count_++] = static_cast<u32>(carry);
  }
  RT_FN void multiply_by_power_of_ten(i64 power) {
    for (; power > 0; --power) multiply_add(10, 0);
  }
  RT_FN void shift_left(i64 bits) {
    const int whole = static_cast<int>(bits / 32);
    if (!count_) return;
    for (int i = count_; i-- > 0;) words_[i + whole] = words_[i];
    for (int i = 0; i < whole; ++i) words_[i] = 0;
    count_ += whole;
    multiply_add(u32(1) << bits % 32, 0);
  }
  RT_FN void halve() {
    for (int i = 0; i < count_; ++i) words_[i] = words_[i] >> 1 | (i + 1 < count_ ? words_[i + 1] << 31 : 0);
    trim();
  }
  RT_FN void subtract(const BigNumber& other) {  // which is no larger
    i64 borrow = 0;
    for (int i = 0; i < count_; ++i) {
      borrow += i64(words_[i]) - (i < other.count_ ? i64(other.words_[i]) : 0);
      words_[i] = static_cast<u32>(borrow);
      borrow >>= 32;
    }
    trim();
  }
  RT_FN i64 bits() const { return count_ ? 32 * count_ - __builtin_clz(words_[count_ - 1]) : 0; }
  RT_FN bool is_zero() const { return !count_; }
  // Negative, 0 or positive, as a + b is less than c, equal or more.
  RT_FN static int compare_sum(BigNumber a, const BigNumber& b, const BigNumber& c) {
    a.add(b);
    if (a.count_ != c.count_) return a.count_ - c.count_;
    for (int i = a.count_; i-- > 0;)
      if (a.words_[i] != c.words_[i]) return a.words_[i] < c.words_[i] ? -1 : 1;
    return 0;
  }
  RT_FN static int compare(const BigNumber& a, const BigNumber& b) { return compare_sum(a, BigNumber(0), b); }

 private:
  RT_FN void add(const BigNumber& other) {
    u64 carry = 0;
    const int most = count_ > other.count_ ? count_ : other.count_;
    for (int i = 0; i < most; ++i) {
      carry += u64(i < count_ ? words_[i] : 0) + (i < other.count_ ? other.words_[i] : 0);
      words_[i] = static_cast<u32>(carry);
      carry >>= 32;
    }
    count_ = most;
    if (carry) words_[count_++] = static_cast<u32>(carry);
  }
  RT_FN void trim() {
    while (count_ && !words_[count_ - 1]) --count_;
  }

  u32 words_[160];
  int count_;
};

}  // namespace detail

// 0.DDD * 10^point.
struct DecimalDigits {
  char digits[20];
  int count, point;
};

// Of a positive, finite number.
template <class T>
RT_CALLED DecimalDigits shortest_digits(T value) {
  using detail::BigNumber;
  constexpr FloatFormat kFormat = kFormatOf<T>;
  int exponent = 0;
  u64 mantissa;
  if constexpr (sizeof(T) == 4) {
    const u32 bits = __builtin_bit_cast(u32, value);
    mantissa = bits & 0x7fffff, exponent = static_cast<int>(bits >> 23);
  } else {
    const u64 bits = __builtin_bit_cast(u64, value);
    mantissa = bits & 0xfffffffffffff, exponent = static_cast<int>(bits >> 52);
  }
  const bool normal = exponent > 0, is_even = mantissa % 2 == 0;
  const bool power = normal && mantissa == 0 && exponent > 1;  // the float below is half as far as that above
  if (normal) mantissa |= u64(1) << (kFormat.bits - 1);
  exponent = (normal ? exponent : 1) - 1 + kFormat.least_exponent - (kFormat.bits - 1);

  // value = rest / scale; half the way to its neighbours = above / scale and below / scale
  BigNumber rest(mantissa), scale(1), above(1), below(1);
  rest.shift_left(1 + power + (exponent > 0 ? exponent : 0));
  scale.shift_left(1 + power + (exponent < 0 ? -exponent : 0));
  above.shift_left(power + (exponent > 0 ? exponent : 0));
  below.shift_left(exponent > 0 ? exponent : 0);
  const auto reaches = [&] {  // whether the value or a number that is read as it is scale / scale or more
    const int order = BigNumber::compare_sum(rest, above, scale);
    return is_even ? order >= 0 : order > 0;
  };
  DecimalDigits d{};
  for (; reaches(); ++d.point) scale.multiply_add(10, 0);
  for (;; --d.point) {
    rest.multiply_add(10, 0), above.multiply_add(10, 0), below.multiply_add(10, 0);
    if (reaches()) break;
  }
  while (true) {
    int digit = 0;
    for (; BigNumber::compare(rest, scale) >= 0; ++digit) rest.subtract(scale);
    const int order = BigNumber::compare(rest, below);
    const bool low = is_even ? order <= 0 : order < 0, high = reaches();
    if (low || high) {
      const int half = BigNumber::compare_sum(rest, rest, scale);
      const bool up = high && (!low || half > 0 || (half == 0 && digit % 2));
      d.digits[d.count++] = static_cast<char>('0' + digit + up);
      return d;
    }
    d.digits[d.count++] = static_cast<char>('0' + digit);
    rest.multiply_add(10, 0), above.multiply_add(10, 0), below.multiply_add(10, 0);
  }
}

// The digits of a number, without its sign: `text` without dots, * 10^exponent.
struct DecimalNumber {
  Text text;
  i64 exponent;
};

// The float nearest to a number whose digits begin with another one than 0.
template <class T>
RT_CALLED T nearest_float(const DecimalNumber& d) {
  using detail::BigNumber;
  constexpr FloatFormat kFormat = kFormatOf<T>;
  constexpr i64 kMostDigits = 800, kLargest = 310, kSmallest = -330;  // more digits decide nothing but ties
  i64 used = 0, digits = 0;
  BigNumber number(0), scale(1);
  bool more = false;
  for (i64 i = 0; i < d.text.bytes; ++i) {
    const char c = d.text.data[i];
    if (c == '.') continue;
    ++digits;
    if (used < kMostDigits)
      number.multiply_add(10, static_cast<u32>(c - '0')), ++used;
    else
      more |= c != '0';
  }
  if (digits + d.exponent > kLargest) return static_cast<T>(__builtin_inf());
  if (digits + d.exponent < kSmallest) return T(0);
  if (more) number.multiply_add(10, 1), ++used;
  const i64 power = d.exponent + digits - used;
  (power > 0 ? number : scale).multiply_by_power_of_ten(power > 0 ? power : -power);

  // quotient = number / scale * 2^shift has some bits more than a mantissa
  constexpr int kBits = kFormat.bits + 4;
  const i64 shift = kBits - (number.bits() - scale.bits());
  (shift > 0 ? number : scale).shift_left(shift > 0 ? shift : -shift);
  scale.shift_left(kBits);
  u64 quotient = 0;
  for (int i = 0; i <= kBits; ++i, scale.halve()) {
    quotient <<= 1;
    if (BigNumber::compare(number, scale) < 0) continue;
    number.subtract(scale);
    quotient |= 1;
  }
  const i64 width = 64 - __builtin_clzll(quotient), exponent = width - 1 - shift;
  const i64 kept =
      exponent < kFormat.least_exponent ? kFormat.bits - (kFormat.least_exponent - exponent) : kFormat.bits;
  if (kept < 0) return T(0);
  const i64 dropped = width - kept;
  u64 mantissa = dropped > 63 ? 0 : quotient >> dropped;
  const u64 left = quotient & ((u64(1) << dropped) - 1), half = u64(1) << (dropped - 1);
  if (left > half || (left == half && (!number.is_zero() || mantissa % 2))) ++mantissa;
  double value = static_cast<double>(mantissa);  // exact, and so is each step to its exponent
  for (i64 e = dropped - shift; e != 0; e += e > 0 ? -1 : 1) value *= e > 0 ? 2.0 : 0.5;
  constexpr double kLargestFloat = 3.40282346638528859812e38;
  if (sizeof(T) == 4 && value > kLargestFloat) return static_cast<T>(__builtin_inf());
  return static_cast<T>(value);
}

}  // namespace rt
