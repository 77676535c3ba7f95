// The table of machine models, and which of them this machine is.
#include "optimizer/target.h"

namespace cameo {

const std::vector<Target>& named_targets() {
  static const std::vector<Target> table = {
      {"x86-64-v2", "x86-64-v2", "rt::kX86V2", 16, 16},
      {"x86-64-v3", "x86-64-v3", "rt::kX86V3", 32, 16},
      {"x86-64-v4", "x86-64-v4", "rt::kX86V4", 64, 32},
  };
  return table;
}

const Target* find_target(std::string_view name) {
  for (const Target& t : named_targets())
    if (t.name == name) return &t;
  return nullptr;
}

const Target& native_target() {
  __builtin_cpu_init();
  bool v4 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
            __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512cd");
  bool v3 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi2");
  return *find_target(v4 ? "x86-64-v4" : v3 ? "x86-64-v3" : "x86-64-v2");
}

}  // namespace cameo
