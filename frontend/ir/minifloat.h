// Floats of 8 and 4 bits, by their codes: the formats of ONNX's tables.
#pragma once
#include <cstdint>

#include "frontend/ir/type.h"

namespace cameo {

/// What a code stands for, exactly.
double minifloat_value(DType t, uint8_t code);
/// The code of the nearest value, of two the one with an even code; beyond the largest one infinity or NaN where the
/// type has it, else the largest. f8e8m0 has powers of two alone, from 2^-127 on: it is the one below, the sign is
/// lost.
uint8_t minifloat_code(DType t, double v);
/// The largest finite value.
double minifloat_largest(DType t);

}  // namespace cameo
