// A GPU plan's kernels as code: PTX by the clang inside cameo, cubins of it by ptxas where there is one, and for
// machines without a GPU a library of the same text over fibers. All of it becomes bytes that no compiler reads again.
#pragma once
#include "codegen/build/elf_object.h"
#include "codegen/build/worker.h"
#include "codegen/print_module.h"

namespace cameo {

struct DeviceImage {  // of one architecture
  std::string symbol;
  std::string bytes;  // packed (pack_code.h)
  size_t unpacked_bytes = 0;
};

/// What the program's tables include: how many bytes each symbol has, as `SYMBOL_bytes` and `SYMBOL_unpacked_bytes`.
inline constexpr std::string_view kDeviceHeader = "device_code.h";

/// For each architecture of each GPU plan, in their order. Throws CompileError.
std::vector<DeviceImage> compile_device_code(const Module& m, const EmittedModule& text, WorkerPool& pool,
                                             const Progress& progress);
/// The PTX of all GPU plans, as text.
std::string print_ptx(const Module& m, const EmittedModule& text, WorkerPool& pool, const Progress& progress);
SourceFile device_header(const std::vector<DeviceImage>& images);
ElfObject device_object(const std::vector<DeviceImage>& images);

/// How clang is told to make PTX of a file of kernels, and code for fibers.
CompileJob ptx_job(const SourceFile& file);
CompileJob fiber_job(const SourceFile& file);
/// One module of several: each has the same header, and may have the same variables.
std::string merge_ptx(std::span<const std::string> modules);

}  // namespace cameo
