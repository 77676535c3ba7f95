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
    case kF32: return read<float>(data, index);
    case kF64: return read<double>(data, index);
    case kF16: return half_to_float(read<uint16_t>(data, index));
    case kBf16: return bfloat_to_float(read<uint16_t>(data, index));
    case kU64: return static_cast<double>(read<uint64_t>(data, index));
    default: return static_cast<double>(integer_at(dtype, data, index));
  }
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
    default: return 0;
  }
}

void set_number(uint32_t dtype, void* data, int64_t index, double value) {
  switch (dtype) {
    case kF32: return put(data, index, static_cast<float>(value));
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
    default: return;
  }
}

void set_integer(uint32_t dtype, void* data, int64_t index, int64_t value) {
  switch (element_bytes(dtype)) {
    case 1: return put(data, index, static_cast<uint8_t>(dtype == kBool ? value != 0 : value));
    case 2: return put(data, index, static_cast<uint16_t>(value));
    case 4: return put(data, index, static_cast<uint32_t>(value));
    case 8: return put(data, index, value);
    default: return;
  }
}

}  // namespace rt
