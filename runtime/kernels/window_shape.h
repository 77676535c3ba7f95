// What the planner knows of the Window family: how many rows a tile has.
#pragma once
#include "runtime/kernels/contract_shape.h"

namespace rt {

// Half of the registers may hold sums, of so many bytes a row; the rest is for what the taps read. Eight rows share
// enough.
constexpr int window_rows(int vector_bytes, int registers, i64 row_bytes, i64 m) {
  const i64 half = i64(registers) * vector_bytes / row_bytes / 2;
  return static_cast<int>(even_part(m, half > 8 ? 8 : half));
}

// A GPU hides latency by threads rather than by rows: four share what the taps read.
constexpr int block_window_rows(i64 m) { return static_cast<int>(even_part(m, 4)); }

}  // namespace rt
