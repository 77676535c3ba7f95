// Target: the machine model that every size rule asks, one row of a table for each named instruction set.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace cameo {

struct Target {
  std::string name;       // of --target=cpu:NAME
  std::string cpu;        // what the compiler is told (-target-cpu)
  std::string features;   // what the artifact asks of the CPU: a constant of runtime/program.h
  int vector_bytes = 32;  // of the widest vectors worth using
  int vector_registers = 16;
  int64_t l1_bytes = 32 << 10, l2_bytes = 1 << 20, l3_bytes = 8 << 20;
  bool operator==(const Target&) const = default;
};

/// The named targets, widest last: x86-64-v2, x86-64-v3, x86-64-v4.
const std::vector<Target>& named_targets();
const Target* find_target(std::string_view name);
/// The named target that fits this machine's instruction set best.
const Target& native_target();

}  // namespace cameo
