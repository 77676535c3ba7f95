// A libc.so.6 that is nothing but names and versions, for artifacts to be linked against: what they then ask of a
// machine is written in libc_symbols.def and does not depend on the machine that built them.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "codegen/build/elf_object.h"
#include "codegen/build/outcome.h"

namespace cameo {

struct LibcSymbol {
  std::string_view name;
  std::string_view version;  // "2.14"
  int object_bytes = 0;      // 0: a function
};

std::span<const LibcSymbol> libc_symbols();
// "GLIBC_2.17" for memcpy on aarch64.
std::string libc_version(const LibcSymbol& symbol, Machine machine);

// The shared object. Links in this process, so only in a worker.
Outcome stub_libc(Machine machine);

}  // namespace cameo
