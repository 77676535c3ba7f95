// Whether what multiplies in tile registers (AMX) may run here.
#pragma once
#include "runtime/cpu.h"
#include "runtime/program.h"
#include "tests/runtime/kernels/tile_emulator.h"

// Where the processor has no tile registers, but what else such code needs, they are emulated. Where it has them, the
// system is asked for them, as it is when a model is opened.
inline bool may_use_tile_registers() {
  constexpr uint64_t kVectors = rt::kX86V4 | rt::kAvx512vbmi | rt::kAvx512vnni | rt::kAvx512bf16;
  constexpr uint64_t kTiles = rt::kAmxTile | rt::kAmxInt8 | rt::kAmxBf16;
  const uint64_t features = rt::host_cpu_features();
  if ((features & kVectors) != kVectors) return false;
  if ((features & kTiles) != kTiles || !rt::allow_tile_registers()) emulate_tile_registers();
  return true;
}
