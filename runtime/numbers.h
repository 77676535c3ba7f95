// One element of any type as a number, and back: for readers, writers and comparisons, not for kernels. Of complex
// numbers `index` counts the parts: 2n is the real one of the n-th.
#pragma once

#include "runtime/dtype.h"

namespace rt {

float half_to_float(uint16_t bits);
uint16_t float_to_half(double value);  // to nearest even
float bfloat_to_float(uint16_t bits);
uint16_t float_to_bfloat(double value);

int64_t to_integer(double value);  // truncated, clamped; NaN is 0

double number_at(uint32_t dtype, const void* data, int64_t index);           // 64-bit integers are rounded
int64_t integer_at(uint32_t dtype, const void* data, int64_t index);         // of integer types and bool; u64 wraps
int64_t element_in_byte(uint32_t dtype, const void* data, int64_t index);    // of a packed type: its number or code
void set_number(uint32_t dtype, void* data, int64_t index, double value);    // integers: truncated, clamped; NaN is 0
void set_integer(uint32_t dtype, void* data, int64_t index, int64_t value);  // of integers, bool, codes: wraps

}  // namespace rt
