// format_numbers: numbers as Python writes them: integers, and floats by the fewest digits that tell them apart from
// others of their type, `0.25`, `1.0`, from 1e16 on and below 1e-4 as `1.5e+20`, `1e-05`; `NaN`, `INF` and `-INF` as
// ONNX has them.
#pragma once
#include "runtime/kernels/decimal.h"

namespace rt {
namespace detail {

inline constexpr i64 kLongestNumber = 32;

struct NumberText {
  char data[kLongestNumber];
  i64 bytes = 0;
  RT_FN void put(char c) { data[bytes++] = c; }
  RT_FN void put(const char* text) {
    while (*text) put(*text++);
  }
  RT_FN void put_integer(u64 value, int least_digits = 1) {
    char digits[20];
    int count = 0;
    for (; value || count < least_digits; value /= 10) digits[count++] = static_cast<char>('0' + value % 10);
    while (count) put(digits[--count]);
  }
  RT_FN void put_digits(const DecimalDigits& d, int from, int to) {
    for (int i = from; i < to; ++i) put(i >= 0 && i < d.count ? d.digits[i] : '0');
  }
};

template <class T>
RT_FN void put_float(NumberText& to, T value) {
  constexpr int kLeastPlain = -4, kMostPlain = 16;  // exponents of ten
  if (value != value) return to.put("NaN");
  if (__builtin_signbit(value)) to.put('-'), value = -value;
  if (value == static_cast<T>(__builtin_inf())) return to.put("INF");
  if (value == T(0)) return to.put("0.0");
  const DecimalDigits d = shortest_digits(value);
  const int exponent = d.point - 1;
  if (exponent >= kLeastPlain && exponent < kMostPlain) {
    const int whole = d.point > 0 ? 0 : d.point - 1;  // the first digit that is written
    to.put_digits(d, whole, d.point > 0 ? d.point : whole + 1);
    to.put('.');
    return to.put_digits(d, d.point > 0 ? d.point : whole + 1, d.count > d.point ? d.count : d.point + 1);
  }
  to.put_digits(d, 0, 1);
  if (d.count > 1) to.put('.');
  to.put_digits(d, 1, d.count);
  to.put(exponent < 0 ? "e-" : "e+");
  to.put_integer(static_cast<u64>(exponent < 0 ? -exponent : exponent), 2);
}

RT_FN void put_number(NumberText& to, f32 value) { put_float(to, value); }
RT_FN void put_number(NumberText& to, f64 value) { put_float(to, value); }
RT_FN void put_number(NumberText& to, u64 value) { to.put_integer(value); }
RT_FN void put_number(NumberText& to, i64 value) {
  if (value < 0) to.put('-');
  to.put_integer(value < 0 ? -static_cast<u64>(value) : static_cast<u64>(value));
}

}  // namespace detail

template <class T>
RT_FN void format_numbers(const RowCall& call, i64* y, const T* x, i64 count) {
  LockedStrings strings(call);
  for (i64 i = 0; i < count; ++i) {
    detail::NumberText text;
    detail::put_number(text, x[i]);
    char* const room = strings.room(text.bytes);
    if (!room) return;
    __builtin_memcpy(room, text.data, static_cast<size_t>(text.bytes));
    y[i] = strings.code({room, text.bytes});
  }
}

}  // namespace rt
