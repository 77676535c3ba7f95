// The table of machine models, and which of them this machine is.
#include "optimizer/target.h"

#include <cpuid.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>

#include "runtime/rt/grid.h"

namespace cameo {
namespace {

/// sm_90a is 901, sm_90 is 900: a card takes the newest code that it can run, and the narrower one of that.
int rank_of(std::string_view architecture) {
  if (architecture == "ptx") return 1;
  if (!architecture.starts_with("sm_")) return 0;
  int number = 0;
  bool letter = false;
  for (char c : architecture.substr(3))
    std::isdigit(static_cast<unsigned char>(c)) ? number = number * 10 + (c - '0') : letter = true;
  return number * 10 + letter;
}

}  // namespace

const std::vector<Target>& named_targets() {
  static const std::vector<Target> table = {
      // mul, then add
      {"x86-64-v2", "x86-64-v2", "rt::kX86V2", 16, 16, {.name = "x86-64-v2", .fmas = 1, .fma_latency = 5}},
      {"x86-64-v3", "x86-64-v3", "rt::kX86V3", 32, 16, {.name = "x86-64-v3"}},
      {"x86-64-v4", "x86-64-v4", "rt::kX86V4", 64, 32, {.name = "x86-64-v4"}},
      {"x86-64-v4-vnni",
       "x86-64-v4",
       "rt::kX86V4 | rt::kAvx512vnni",
       64,
       32,
       {.name = "x86-64-v4-vnni", .dot8 = true},
       {},
       {"avx512vnni"}},
      {"x86-64-v4-bf16",
       "x86-64-v4",
       "rt::kX86V4 | rt::kAvx512vnni | rt::kAvx512bf16",
       64,
       32,
       {.name = "x86-64-v4-bf16", .dot8 = true, .dot16 = true},
       {},
       {"avx512vnni", "avx512bf16"}},
      {"x86-64-v4-amx",
       "x86-64-v4",
       "rt::kX86V4 | rt::kAvx512vbmi | rt::kAvx512vnni | rt::kAvx512bf16 | rt::kAmxTile | rt::kAmxInt8 | rt::kAmxBf16",
       64,
       32,
       {.name = "x86-64-v4-amx", .l2_bytes = 2 << 20, .dot8 = true, .dot16 = true, .amx = true},
       {},
       {"avx512vbmi", "avx512vnni", "avx512bf16", "amx-tile", "amx-int8", "amx-bf16"}},
  };
  return table;
}

const Target* find_target(std::string_view name) {
  for (const Target& t : named_targets())
    if (t.name == name) return &t;
  return nullptr;
}

Target gpu_target(std::vector<std::string> architectures) {
  std::ranges::sort(architectures, std::greater(), rank_of);
  architectures.erase(std::unique(architectures.begin(), architectures.end()), architectures.end());
  Target t{"cuda", "sm_80", "0"};
  t.architectures = std::move(architectures);
  t.block_threads = rt::kBlockThreads;
  t.sm_count = 128;
  t.measured = false;
  t.tensor_cores = t.host_beside = true;  // from sm_80 on
  t.shares_groups = false;                // one step after another
  constexpr int64_t kElementsOfAThread = 64;
  t.elements_a_launch = int64_t(t.sm_count) * t.block_threads * kElementsOfAThread;
  return t;
}

double Target::peak() const {
  if (is_gpu()) return card.clock * 1e9 * sm_count * card.fmas * 2;
  return machine.clock * 1e9 * machine.fmas * 2 * vector_bytes / 4;
}

double Target::seconds_to_move(double bytes) const {
  if (is_gpu()) return bytes / (card.memory_rate * card.clock * 1e9);
  const double rate = bytes <= static_cast<double>(machine.l1_bytes)   ? 64
                      : bytes <= static_cast<double>(machine.l2_bytes) ? machine.l2_rate
                      : bytes <= static_cast<double>(machine.l3_bytes) ? machine.l3_rate
                                                                       : machine.memory_rate;
  return bytes / rate / (machine.clock * 1e9);
}

const Target& host_target() { return *find_target("x86-64-v2"); }
bool is_gpu_architecture(std::string_view name) {
  if (name == "ptx" || name == "host") return true;
  if (!name.starts_with("sm_") || name.size() < 5 || name.size() > 7) return false;
  const std::string_view version = name.substr(3);
  const size_t digits = std::min(version.find_first_not_of("0123456789"), version.size());
  return digits >= 2 && (digits == version.size() ||
                         (digits + 1 == version.size() && (version.back() == 'a' || version.back() == 'f')));
}

namespace {

/// Machines that were measured.
const std::vector<MachineModel>& measured_machines() {
  static const std::vector<MachineModel> table = {
      {.name = "zen4", .clock = 3.7, .fmas = 1, .loads = 1, .l3_bytes = 32 << 20},
      {.name = "zen5", .clock = 4.1, .l1_bytes = 48 << 10, .l3_bytes = 32 << 20, .l2_rate = 64},
      {.name = "granite-rapids",
       .clock = 3.2,
       .l1_bytes = 48 << 10,
       .l2_bytes = 2 << 20,
       .l3_bytes = 4 << 20,  // of 480 MB, which many machines share: weights come at the rate of memory
       .l2_rate = 48,
       .l3_rate = 10},
      {.name = "emerald-rapids",
       .clock = 3,
       .l1_bytes = 48 << 10,
       .l2_bytes = 2 << 20,
       .l3_bytes = 32 << 20,  // of 260 MB, which many machines share: more come more slowly
       .l2_rate = 48,
       .l3_rate = 9},
      {.name = "cascade-lake", .clock = 2.8, .l3_bytes = 24 << 20, .l2_rate = 40},
  };
  return table;
}

/// Whether the processor has AMX for f16, which came with Granite Rapids.
bool has_tiles_of_f16() {
  constexpr unsigned kAmxF16 = 1u << 21;
  unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
  return __get_cpuid_count(7, 1, &eax, &ebx, &ecx, &edx) && (eax & kAmxF16);
}

/// The one that this machine is or is most like, told by what it can do: clouds hide their names.
std::string_view name_of_this_machine(const Target& t) {
  const bool intel = __builtin_cpu_is("intel"), amd = __builtin_cpu_is("amd");
  if (t.vector_bytes < 64 || (!intel && !amd)) return t.name;
  if (amd) return __builtin_cpu_is("amdfam19h") ? "zen4" : "zen5";
  if (has_tiles_of_f16()) return "granite-rapids";
  return __builtin_cpu_supports("avx512vbmi2") ? "emerald-rapids" : "cascade-lake";
}

}  // namespace

std::optional<MachineModel> find_machine(std::string_view name, const Target& target) {
  const Target* own = find_target(target.name);
  if (own && name == own->machine.name) return own->machine;
  const auto& measured = measured_machines();
  const auto it = std::ranges::find(measured, name, &MachineModel::name);
  if (!own || it == measured.end()) return std::nullopt;
  MachineModel m = *it;
  m.dot8 = own->machine.dot8, m.dot16 = own->machine.dot16, m.amx = own->machine.amx;
  return m;
}

namespace {

/// Whether the processor has AMX for 8-bit integers and bf16, and the system lets this process use it.
bool has_tile_registers() {
  constexpr unsigned kAll = 1u << 22 | 1u << 24 | 1u << 25;  // amx-bf16, amx-tile, amx-int8
  constexpr long kRequestPermission = 0x1023, kTileData = 18;
  unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
  return __get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx) && (edx & kAll) == kAll &&
         syscall(SYS_arch_prctl, kRequestPermission, kTileData) == 0;
}

Target find_native(bool for_bf16) {
  __builtin_cpu_init();
  const bool v4 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                  __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
                  __builtin_cpu_supports("avx512cd");
  const bool v3 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi2");
  const bool vnni = v4 && __builtin_cpu_supports("avx512vnni");
  const bool bf16 = vnni && __builtin_cpu_supports("avx512bf16");
  const bool amx = bf16 && __builtin_cpu_supports("avx512vbmi") && has_tile_registers();
  Target t = *find_target(amx                ? "x86-64-v4-amx"
                          : bf16 && for_bf16 ? "x86-64-v4-bf16"
                          : vnni             ? "x86-64-v4-vnni"
                          : v4               ? "x86-64-v4"
                          : v3               ? "x86-64-v3"
                                             : "x86-64-v2");
  t.machine = *find_machine(name_of_this_machine(t), t);
  return t;
}

}  // namespace

const Target& native_target(DType precision) {
  static const Target wide = find_native(false), narrow = find_native(true);
  return precision == DType::bf16 ? narrow : wide;
}

}  // namespace cameo
