// Target: the machine model that every size rule asks: one row of a table for each named instruction set of a
// processor, and one for GPUs, whose plan serves every architecture that code is wanted for.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "frontend/ir/type.h"

namespace cameo {

/// What prices are made of: the rates of one core. A row of a table for each machine that was measured, and one for
/// each instruction set.
struct MachineModel {
  std::string name;
  double clock = 3;                                    // GHz, when all cores compute
  double fmas = 2, loads = 2;                          // vectors a cycle, of the widest worth using
  double fma_latency = 4;                              // cycles until the next FMA can take its result
  int64_t l1_bytes = 32 << 10, l2_bytes = 1 << 20;     // of a core
  int64_t l3_bytes = 8 << 20;                          // that cores share
  double l2_rate = 32, l3_rate = 12, memory_rate = 5;  // bytes a cycle
  double barrier = 3e-6;                               // seconds for threads to meet
  bool dot8 = false, dot16 = false, amx = false;       // products of 8 bits, of bf16; tiles
  bool operator==(const MachineModel&) const = default;
};

/// The same of a GPU, as its data sheet has it: of a multiprocessor where no card is named.
struct CardModel {
  double clock = 1.4;                        // GHz
  double fmas = 64, tensor_fmas = 1024;      // a cycle, of f32 and of 16-bit floats
  int threads = 2048;                        // that are resident
  int64_t shared_bytes = 164 << 10;          // of all resident blocks
  int64_t block_shared_bytes = 48 << 10;     // of a block at most
  int64_t sector_bytes = 32;                 // of memory, which are read together
  double latency = 600;                      // cycles from a load of memory to its value
  double memory_rate = 1100, launch = 3e-6;  // of the card: bytes a cycle, seconds
  bool operator==(const CardModel&) const = default;
};

class ChoiceLock;

struct Target {
  std::string name;       // of --target=cpu:NAME; of a GPU's: cuda
  std::string cpu;        // what the compiler is told (-target-cpu)
  std::string features;   // what the artifact asks of the CPU: a constant of runtime/program.h
  int vector_bytes = 32;  // of the widest vectors worth using
  int vector_registers = 16;
  MachineModel machine{};
  CardModel card{};
  std::vector<std::string> extensions{};  // instructions beyond those of `cpu` (-mNAME)
  /// Runs agree with the prices; else they are shown, and between a family's candidates its rule of thumb decides.
  bool measured = true;
  std::vector<std::string> architectures{};  // of a GPU, what its code is for, the best first: sm_90a, sm_80, ptx, host
  int block_threads = 1;                     // that share a chunk
  int sm_count = 1;                          // of a GPU, that want a block each: a card has more or fewer
  bool tensor_cores = false;                 // which multiply f16 and bf16 as they stand and sum in f32
  bool host_beside = false;                  // a processor, to which a plan may leave steps
  bool shares_groups = true;                 // steps that need nothing of each other are one job of its threads
  bool forms_strips = true;                  // kernels may walk through their rows together
  bool keeps_size = false;                   // weights take no more bytes than the model's (--mode=size)
  int64_t elements_a_launch = 0;             // that are filled in less time than starting one more kernel takes
  std::shared_ptr<const ChoiceLock> lock{};  // of choices; null: the prices decide

  bool is_gpu() const { return !architectures.empty(); }
  /// Of its model, one core's or the whole card's: f32 operations a second, the seconds that starting a kernel takes,
  /// and those in which so many bytes come from the memory that holds them.
  double peak() const;
  double launch() const { return is_gpu() ? card.launch : 0; }
  double seconds_to_move(double bytes) const;
  /// Whether it multiplies 16-bit floats as they stand and sums in f32; elsewhere they are widened first.
  bool has_products_of(DType t) const { return tensor_cores && is_half(t); }
  bool widens_products_of(DType t) const { return is_half(t) && !has_products_of(t); }
  /// Whether a lane of a processor takes two products of bf16 at once, and sums them in f32.
  bool has_products_of_pairs() const { return !is_gpu() && machine.dot16; }
  /// Whether it multiplies 8-bit integers as they stand and sums in i32; elsewhere too they are widened first.
  bool has_integer_products() const { return !is_gpu(); }
  /// Its code is compiled by a card's driver, when it is first loaded.
  bool compiles_when_loaded() const { return !architectures.empty() && architectures[0] == "ptx"; }
  bool operator==(const Target&) const = default;
};

/// The named targets, widest last: x86-64-v2, x86-64-v3, x86-64-v4, x86-64-v4-vnni, x86-64-v4-bf16, x86-64-v4-amx.
const std::vector<Target>& named_targets();
const Target* find_target(std::string_view name);
/// The rates of a machine by its name: of one that was measured, or those that the target has by itself.
std::optional<MachineModel> find_machine(std::string_view name, const Target& target);
/// A GPU, with code for these architectures: `ptx`, which any card's driver compiles when it is first loaded; `sm_80`
/// and newer, which need ptxas; `host`, which a mock driver runs on this machine.
Target gpu_target(std::vector<std::string> architectures);
/// The processor beside a GPU, whose plan may leave steps to it: any.
const Target& host_target();
bool is_gpu_architecture(std::string_view name);
/// The named target that fits this machine's instruction set best, with the rates of this machine where they are known.
/// `precision`: of products of f32; those of f32 ask for no instructions on bf16, so that more processors run them,
/// but in tile registers, by which they are multiplied.
const Target& native_target(DType precision = DType::f32);

}  // namespace cameo
