// What the planner knows of the Window family: how many rows a tile has.
#pragma once
#include "runtime/kernels/contract_shape.h"

namespace rt {

// A quarter of the registers hold sums; the rest is for what the taps read.
constexpr int window_rows(int vector_bytes, int registers, i64 m) {
  const i64 most = i64(registers) * vector_bytes / (kPanel * 4) / 4;
  return static_cast<int>(even_part(m, most < 2 ? 2 : most));
}

}  // namespace rt
