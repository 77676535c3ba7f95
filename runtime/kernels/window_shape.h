// What the planner knows of the Window family: how many rows a tile has.
#pragma once
#include "runtime/kernels/contract_shape.h"

namespace rt {

// Half of the registers may hold sums, the rest is for what the taps read; eight rows share enough.
constexpr int window_rows(int vector_bytes, int registers, i64 m) {
  const i64 half = i64(registers) * vector_bytes / (kPanel * 4) / 2;
  return static_cast<int>(even_part(m, half > 8 ? 8 : half));
}

}  // namespace rt
