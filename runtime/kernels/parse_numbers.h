// parse_numbers: texts as numbers of f32, f64, i64 or u64: `[+-]digits[.digits][e[+-]digits]`, and INF and NaN in any
// case. An integer with a fraction or an exponent is read as f64 and truncated. Other texts, and integers that the type
// does not hold, end the run.
#pragma once
#include "runtime/kernels/decimal.h"

namespace rt {
namespace detail {

class NumberReader {
 public:
  RT_FN explicit NumberReader(Text text) : text_(text) {
    if (text_.bytes && (*text_.data == '+' || *text_.data == '-')) minus_ = *text_.data == '-', skip(1);
  }
  RT_FN bool minus() const { return minus_; }
  RT_FN bool is(const char* word) const {  // in capitals
    i64 i = 0;
    for (; word[i]; ++i)
      if (i >= text_.bytes || (text_.data[i] & ~0x20) != word[i]) return false;
    return i == text_.bytes;
  }
  // Without leading zeros. False: it is no number.
  RT_FN bool digits(DecimalNumber* number) {
    const char* const begin = text_.data;
    i64 digits = 0, fraction = 0;
    for (bool behind = false; text_.bytes && (is_digit() || (*text_.data == '.' && !behind)); skip(1)) {
      if (*text_.data == '.')
        behind = true;
      else
        ++digits, fraction += behind;
    }
    *number = {{begin, text_.data - begin}, -fraction};
    while (number->text.bytes && (*number->text.data == '0' || *number->text.data == '.'))
      ++number->text.data, --number->text.bytes;
    return digits && exponent(&number->exponent) && !text_.bytes;
  }

 private:
  RT_FN bool is_digit() const { return text_.bytes && *text_.data >= '0' && *text_.data <= '9'; }
  RT_FN void skip(i64 bytes) { text_.data += bytes, text_.bytes -= bytes; }
  RT_FN bool exponent(i64* sum) {
    constexpr i64 kMost = 1 << 20;  // beyond it a number is 0 or infinite
    if (!text_.bytes || (*text_.data & ~0x20) != 'E') return true;
    skip(1);
    const bool minus = text_.bytes && *text_.data == '-';
    if (minus || (text_.bytes && *text_.data == '+')) skip(1);
    if (!is_digit()) return false;
    i64 value = 0;
    for (; is_digit(); skip(1)) value = value < kMost ? 10 * value + (*text_.data - '0') : value;
    *sum += minus ? -value : value;
    return true;
  }

  Text text_;
  bool minus_ = false;
};

template <class T>
RT_FN bool parse(Text text, T* value) {
  NumberReader reader(text);
  const T sign = reader.minus() ? T(-1) : T(1);
  if (reader.is("INF")) return *value = sign * static_cast<T>(__builtin_inf()), true;
  if (reader.is("NAN")) return *value = static_cast<T>(__builtin_nan("")), true;
  DecimalNumber number;
  if (!reader.digits(&number)) return false;
  *value = sign * (number.text.bytes ? nearest_float<T>(number) : T(0));
  return true;
}
// An integer that 64 bits hold, beside its sign.
RT_FN bool parse_integer(Text text, u64* value, bool* minus) {
  NumberReader reader(text);
  DecimalNumber number;
  *minus = reader.minus(), *value = 0;
  if (!reader.digits(&number)) return false;
  bool whole = number.exponent == 0;
  for (i64 i = 0; i < number.text.bytes; ++i) whole &= number.text.data[i] != '.';
  if (!whole) {
    constexpr f64 kEnd = 0x1p64;
    const f64 close = number.text.bytes ? nearest_float<f64>(number) : 0;
    if (close < kEnd) *value = static_cast<u64>(close);
    return close < kEnd;
  }
  for (i64 i = 0; i < number.text.bytes; ++i)
    if (__builtin_mul_overflow(*value, u64(10), value) ||
        __builtin_add_overflow(*value, static_cast<u64>(number.text.data[i] - '0'), value))
      return false;
  return true;
}
RT_FN bool parse(Text text, u64* value) {
  bool minus;
  return parse_integer(text, value, &minus) && (!minus || *value == 0);
}
RT_FN bool parse(Text text, i64* value) {
  u64 magnitude;
  bool minus;
  if (!parse_integer(text, &magnitude, &minus) || magnitude > (u64(1) << 63) - !minus) return false;
  *value = static_cast<i64>(minus ? -magnitude : magnitude);
  return true;
}

}  // namespace detail

template <class T>
RT_FN void parse_numbers(const RowCall& call, T* y, const i64* x, i64 count) {
  LockedStrings strings(call);
  for (i64 i = 0; i < count; ++i)
    if (!detail::parse(strings.text(x[i]), &y[i]))
      return raise_sentence(call.fault, "a text is no number of this type");
}

}  // namespace rt
