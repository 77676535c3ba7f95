// CPUID by rows: leaf, sub-leaf, register, bit; and what the operating system saves (XCR0) for those that need it.
#include "runtime/cpu.h"

#include "runtime/libc.h"

namespace rt {
namespace {

struct Feature {
  char name[12];
  uint32_t leaf, subleaf;
  int8_t reg, bit;  // register: eax 0, ebx 1, ecx 2, edx 3
  uint32_t state;   // bits of XCR0 that must be set
};

constexpr uint32_t kYmm = 0x6, kZmm = 0xe6, kTile = 0x60000;

constexpr Feature kFeatures[] = {
    // in the order of rt::Cpu
    {"sse3", 1, 0, 2, 0, 0},           {"ssse3", 1, 0, 2, 9, 0},         {"sse4.1", 1, 0, 2, 19, 0},
    {"sse4.2", 1, 0, 2, 20, 0},        {"popcnt", 1, 0, 2, 23, 0},       {"avx", 1, 0, 2, 28, kYmm},
    {"avx2", 7, 0, 1, 5, kYmm},        {"fma", 1, 0, 2, 12, kYmm},       {"f16c", 1, 0, 2, 29, kYmm},
    {"bmi1", 7, 0, 1, 3, 0},           {"bmi2", 7, 0, 1, 8, 0},          {"lzcnt", 0x80000001, 0, 2, 5, 0},
    {"movbe", 1, 0, 2, 22, 0},         {"avx512f", 7, 0, 1, 16, kZmm},   {"avx512bw", 7, 0, 1, 30, kZmm},
    {"avx512cd", 7, 0, 1, 28, kZmm},   {"avx512dq", 7, 0, 1, 17, kZmm},  {"avx512vl", 7, 0, 1, 31, kZmm},
    {"avx512vnni", 7, 0, 2, 11, kZmm}, {"avx512bf16", 7, 1, 0, 5, kZmm}, {"avx512fp16", 7, 0, 3, 23, kZmm},
    {"amx-tile", 7, 0, 3, 24, kTile},  {"amx-int8", 7, 0, 3, 25, kTile}, {"amx-bf16", 7, 0, 3, 22, kTile},
    {"avx-vnni", 7, 1, 0, 4, kYmm},    {"avx512vbmi", 7, 0, 2, 1, kZmm},
};

#if defined(__x86_64__)
void cpuid(uint32_t leaf, uint32_t subleaf, uint32_t* out) {
  __asm__ volatile("cpuid" : "=a"(out[0]), "=b"(out[1]), "=c"(out[2]), "=d"(out[3]) : "a"(leaf), "c"(subleaf));
}

uint32_t saved_state() {
  uint32_t regs[4], low, high;
  cpuid(1, 0, regs);
  if (!(regs[2] >> 27 & 1)) return 0;
  __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return low;
}

[[gnu::cold]] bool has(const Feature& feature, uint32_t state) {
  uint32_t regs[4];
  cpuid(feature.leaf & 0x80000000, 0, regs);
  if (regs[0] < feature.leaf || (state & feature.state) != feature.state) return false;
  if (feature.subleaf) {
    cpuid(feature.leaf, 0, regs);
    if (regs[0] < feature.subleaf) return false;
  }
  cpuid(feature.leaf, feature.subleaf, regs);
  return regs[feature.reg] >> feature.bit & 1;
}
#else
uint32_t saved_state() { return 0; }
bool has(const Feature&, uint32_t) { return false; }
#endif

}  // namespace

[[gnu::cold]] uint64_t host_cpu_features() {
  const uint32_t state = saved_state();
  uint64_t features = 0, bit = 1;
  for (const Feature& feature : kFeatures) {
    if (has(feature, state)) features |= bit;
    bit <<= 1;
  }
  return features;
}

[[gnu::cold]] bool allow_tile_registers() {
  constexpr long kArchPrctl = 158, kRequestPermission = 0x1023, kTileData = 18;
  return libc::syscall(kArchPrctl, kRequestPermission, kTileData) == 0;
}

FeatureNames::FeatureNames(uint64_t features) {
  size_t n = 0;
  text[0] = 0;
  for (const Feature& feature : kFeatures) {
    if (features & 1)
      n += static_cast<size_t>(libc::snprintf(text + n, sizeof text - n, n ? ", %s" : "%s", feature.name));
    features >>= 1;
  }
}

}  // namespace rt
