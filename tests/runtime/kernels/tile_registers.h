// Whether what multiplies in tile registers (AMX) may run here.
#pragma once
#include "runtime/cpu.h"
#include "runtime/program.h"

// The system is asked for them, as it is when a model is opened.
inline bool has_tile_registers() {
  constexpr uint64_t kAll =
      rt::kX86V4 | rt::kAvx512vbmi | rt::kAvx512vnni | rt::kAvx512bf16 | rt::kAmxTile | rt::kAmxInt8 | rt::kAmxBf16;
  return (rt::host_cpu_features() & kAll) == kAll && rt::allow_tile_registers();
}
