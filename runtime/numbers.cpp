// Conversions by bits: no library call, on any instruction set.
#include "runtime/numbers.h"

#include "runtime/libc.h"

namespace rt {
namespace {

template <class To, class From>
To bits_as(From from) {
  static_assert(sizeof(To) == sizeof(From));
  To to;
  __builtin_memcpy(&to, &from, sizeof to);
  return to;
}

template <class T>
T read(const void* data, int64_t index) {
  T value;
  __builtin_memcpy(&value, static_cast<const char*>(data) + index * static_cast<int64_t>(sizeof(T)), sizeof value);
  return value;
}

template <class T>
void put(void* data, int64_t index, T value) {
  __builtin_memcpy(static_cast<char*>(data) + index * static_cast<int64_t>(sizeof(T)), &value, sizeof value);
}

// A double rounded once, to nearest even, to a format of `mantissa` bits and 15 - mantissa exponent bits.
uint16_t narrow(double value, int mantissa) {
  const int exponent_bits = 15 - mantissa, bias = (1 << (exponent_bits - 1)) - 1;
  const uint64_t bits = bits_as<uint64_t>(value);
  const uint32_t sign = static_cast<uint32_t>(bits >> 63) << 15, infinity = ((1u << exponent_bits) - 1) << mantissa;
  const int64_t exponent = static_cast<int64_t>(bits >> 52 & 0x7ff);
  uint64_t fraction = bits & ((uint64_t{1} << 52) - 1);
  if (exponent == 0x7ff) return static_cast<uint16_t>(sign | infinity | (fraction ? 1u << (mantissa - 1) : 0));
  if (exponent == 0) return static_cast<uint16_t>(sign);
  fraction |= uint64_t{1} << 52;
  int64_t to = exponent - 1023 + bias;  // its biased exponent there
  int64_t drop = 52 - mantissa;
  if (to < 1) drop += 1 - to, to = 0;
  if (drop > 54) return static_cast<uint16_t>(sign);
  uint64_t kept = fraction >> drop;
  const uint64_t rest = fraction & ((uint64_t{1} << drop) - 1), half = uint64_t{1} << (drop - 1);
  if (rest > half || (rest == half && kept & 1)) ++kept;
  const uint64_t result = to ? (static_cast<uint64_t>(to - 1) << mantissa) + kept : kept;  // a carry moves the exponent
  return static_cast<uint16_t>(sign | (result < infinity ? result : infinity));
}

struct Format {  // of a float of 8 bits or less
  int exponent_bits, mantissa_bits, bias;
  char special;  // the codes behind the largest number: 'i'nfinity and NaNs, one 'n'aN, a NaN that is -'z'ero, or '-'
  int width() const { return exponent_bits + mantissa_bits; }
  uint32_t largest() const {
    const uint32_t end = 1u << width();
    return special == 'i' ? end - (1u << mantissa_bits) - 1 : special == 'n' ? end - 2 : end - 1;
  }
};

Format format_of(uint32_t dtype) {
  switch (dtype) {
    case kF8E4M3FN: return {4, 3, 7, 'n'};
    case kF8E4M3FNUZ: return {4, 3, 8, 'z'};
    case kF8E5M2: return {5, 2, 15, 'i'};
    case kF8E5M2FNUZ: return {5, 2, 16, 'z'};
    case kF8E8M0: return {8, 0, 127, 'n'};
    default: return {2, 1, 1, '-'};  // kF4E2M1
  }
}

// 2^exponent, of any exponent that a double has, without its denormals.
double power_of_two(int64_t exponent) { return bits_as<double>(static_cast<uint64_t>(exponent + 1023) << 52); }

double value_of_code(uint32_t dtype, uint32_t code) {
  const Format f = format_of(dtype);
  const uint32_t sign = 1u << f.width(), magnitude = code & (sign - 1),
                 fraction = magnitude & ((1u << f.mantissa_bits) - 1);
  if (dtype == kF8E8M0) return code == 255 ? __builtin_nan("") : power_of_two(static_cast<int64_t>(code) - 127);
  if (f.special == 'z' && code == sign) return __builtin_nan("");
  const double one = code & sign ? -1 : 1;
  if (magnitude > f.largest()) return f.special == 'i' && !fraction ? one * __builtin_inf() : __builtin_nan("");
  const int64_t exponent = magnitude >> f.mantissa_bits;
  const uint32_t whole = exponent ? fraction | 1u << f.mantissa_bits : fraction;
  return one * whole * power_of_two((exponent ? exponent : 1) - f.bias - f.mantissa_bits);
}

// The code of the nearest value, of two the even one; numbers past the largest one are that, as ONNX saturates.
uint32_t code_of_value(uint32_t dtype, double value) {
  const Format f = format_of(dtype);
  const uint32_t sign = 1u << f.width(), minus = __builtin_signbit(value) ? sign : 0;
  const bool is_nan = value != value;
  if (is_nan && f.special == 'z') return sign;
  if (is_nan && f.special != '-') return f.special == 'i' ? f.largest() + 3 : f.largest() + 1;
  if (f.special == 'i' && __builtin_fabs(value) == __builtin_inf()) return minus | (f.largest() + 1);
  const double magnitude = is_nan ? 0 : __builtin_fabs(value);
  uint32_t low = 0, high = f.largest();  // codes of positive numbers have their order
  while (high - low > 1) {
    const uint32_t middle = (low + high) / 2;
    (value_of_code(dtype, middle) <= magnitude ? low : high) = middle;
  }
  const double below = magnitude - value_of_code(dtype, low), above = value_of_code(dtype, high) - magnitude;
  const uint32_t code = below > above || (below == above && low & 1) ? high : low;
  if (dtype == kF8E8M0) return code;
  return f.special == 'z' && !code ? 0 : code | minus;
}

// Elements of less than 8 bits.
uint32_t bits_at(uint32_t dtype, const void* data, int64_t index) {
  const int64_t bits = type_info(dtype).bits, at = index * bits;
  return static_cast<uint32_t>(read<uint8_t>(data, at / 8)) >> (at % 8) & ((1u << bits) - 1);
}
void put_bits(uint32_t dtype, void* data, int64_t index, uint32_t value) {
  const int64_t bits = type_info(dtype).bits, at = index * bits;
  const uint32_t mask = ((1u << bits) - 1) << (at % 8);
  const uint32_t byte = read<uint8_t>(data, at / 8);
  put(data, at / 8, static_cast<uint8_t>((byte & ~mask) | (value << (at % 8) & mask)));
}
void put_code(uint32_t dtype, void* data, int64_t index, uint32_t code) {
  is_packed(dtype) ? put_bits(dtype, data, index, code) : put(data, index, static_cast<uint8_t>(code));
}
void put_clamped(uint32_t dtype, void* data, int64_t index, double value) {
  const int64_t end = int64_t{1} << type_info(dtype).bits, low = type_info(dtype).code ? 0 : -end / 2;
  const int64_t whole = to_integer(value);
  put_bits(dtype, data, index, static_cast<uint32_t>(whole < low ? low : whole >= low + end ? low + end - 1 : whole));
}

template <class T>
T clamp(double value) {
  constexpr double kLow = static_cast<double>(static_cast<T>(-1) < 0 ? -(1ll << (sizeof(T) * 8 - 2)) * 2.0 : 0.0);
  constexpr double kEnd = (static_cast<T>(-1) < 0 ? 2.0 : 4.0) * static_cast<double>(1ull << (sizeof(T) * 8 - 2));
  constexpr T kMax = static_cast<T>(static_cast<T>(-1) < 0 ? ~0ull >> (65 - sizeof(T) * 8) : ~0ull);
  if (!(value >= kLow)) return value < kLow ? static_cast<T>(kLow) : 0;
  return value >= kEnd ? kMax : static_cast<T>(value);
}

}  // namespace

float half_to_float(uint16_t bits) {
  const uint32_t sign = static_cast<uint32_t>(bits & 0x8000) << 16, exponent = bits >> 10 & 31, fraction = bits & 0x3ff;
  if (exponent == 31) return bits_as<float>(sign | 0x7f800000u | fraction << 13);
  if (exponent) return bits_as<float>(sign | (exponent + 112) << 23 | fraction << 13);
  const float small = static_cast<float>(fraction) * 0x1p-24f;
  return sign ? -small : small;
}

uint16_t float_to_half(double value) { return narrow(value, 10); }
float bfloat_to_float(uint16_t bits) { return bits_as<float>(static_cast<uint32_t>(bits) << 16); }
uint16_t float_to_bfloat(double value) { return narrow(value, 7); }

int64_t to_integer(double value) { return clamp<int64_t>(value); }

double number_at(uint32_t dtype, const void* data, int64_t index) {
  switch (dtype) {
    case kC64:
    case kF32: return read<float>(data, index);
    case kC128:
    case kF64: return read<double>(data, index);
    case kF16: return half_to_float(read<uint16_t>(data, index));
    case kBf16: return bfloat_to_float(read<uint16_t>(data, index));
    case kU64: return static_cast<double>(read<uint64_t>(data, index));
    default: break;
  }
  if (!is_minifloat(dtype)) return static_cast<double>(integer_at(dtype, data, index));
  return value_of_code(dtype, is_packed(dtype) ? bits_at(dtype, data, index) : read<uint8_t>(data, index));
}

int64_t integer_at(uint32_t dtype, const void* data, int64_t index) {
  switch (dtype) {
    case kU8:
    case kBool: return read<uint8_t>(data, index);
    case kI8: return read<int8_t>(data, index);
    case kU16: return read<uint16_t>(data, index);
    case kI16: return read<int16_t>(data, index);
    case kU32: return read<uint32_t>(data, index);
    case kI32: return read<int32_t>(data, index);
    case kU64: return static_cast<int64_t>(read<uint64_t>(data, index));
    case kI64: return read<int64_t>(data, index);
    case kU4:
    case kU2: return bits_at(dtype, data, index);
    case kI4: return static_cast<int8_t>(bits_at(dtype, data, index) << 4) >> 4;
    case kI2: return static_cast<int8_t>(bits_at(dtype, data, index) << 6) >> 6;
    default: return 0;
  }
}

int64_t element_in_byte(uint32_t dtype, const void* data, int64_t index) {
  return is_float(dtype) ? bits_at(dtype, data, index) : integer_at(dtype, data, index);
}

void set_number(uint32_t dtype, void* data, int64_t index, double value) {
  switch (dtype) {
    case kC64:
    case kF32: return put(data, index, static_cast<float>(value));
    case kC128:
    case kF64: return put(data, index, value);
    case kF16: return put(data, index, float_to_half(value));
    case kBf16: return put(data, index, float_to_bfloat(value));
    case kBool: return put<uint8_t>(data, index, value != 0);
    case kU8: return put(data, index, clamp<uint8_t>(value));
    case kI8: return put(data, index, clamp<int8_t>(value));
    case kU16: return put(data, index, clamp<uint16_t>(value));
    case kI16: return put(data, index, clamp<int16_t>(value));
    case kU32: return put(data, index, clamp<uint32_t>(value));
    case kI32: return put(data, index, clamp<int32_t>(value));
    case kU64: return put(data, index, clamp<uint64_t>(value));
    case kI64: return put(data, index, clamp<int64_t>(value));
    case kU4:
    case kI4:
    case kU2:
    case kI2: return put_clamped(dtype, data, index, value);
    default: break;
  }
  if (is_minifloat(dtype)) put_code(dtype, data, index, code_of_value(dtype, value));
}

void set_integer(uint32_t dtype, void* data, int64_t index, int64_t value) {
  if (is_packed(dtype)) return put_bits(dtype, data, index, static_cast<uint32_t>(value));
  switch (element_bytes(dtype)) {
    case 1: return put(data, index, static_cast<uint8_t>(dtype == kBool ? value != 0 : value));
    case 2: return put(data, index, static_cast<uint16_t>(value));
    case 4: return put(data, index, static_cast<uint32_t>(value));
    case 8: return put(data, index, value);
    default: return;
  }
}

}  // namespace rt
