// Writes relocatable ELF64 objects that hold data: weights become a section without ever passing through a compiler.
// Sizes are known first, so everything is laid out before the first byte is written, and contents are streamed from
// where they lie; several GB are never copied. Same description, same bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "codegen/build/outcome.h"

namespace cameo {

enum class Machine : uint16_t { kX86_64 = 62, kAarch64 = 183 };

// Section flags as ELF numbers them.
constexpr uint64_t kSectionWritable = 0x1;
constexpr uint64_t kSectionAllocated = 0x2;
constexpr uint64_t kSectionExecutable = 0x4;
constexpr uint64_t kSectionRetained = 0x200000;  // survives --gc-sections
constexpr uint64_t kSectionLarge = 0x10000000;   // x86-64: may lie beyond the 2 GB that code reaches

using ByteSink = std::function<Status(std::span<const std::byte>)>;

struct ElfSection {
  std::string name;
  uint64_t size = 0;
  std::function<Status(const ByteSink&)>
      content;  // gives exactly `size` bytes, in any number of calls; empty: zeros that no file holds
  uint64_t alignment = 64;
  uint64_t flags = kSectionAllocated;
};

struct ElfSymbol {
  std::string name;
  int section = -1;  // index into `sections`; -1: defined elsewhere
  uint64_t offset = 0;
  uint64_t size = 0;
  bool function = false;
  bool hidden = true;
};

struct ElfObject {
  Machine machine = Machine::kX86_64;
  std::vector<ElfSection> sections;
  std::vector<ElfSymbol> symbols;
};

// A section that is these pieces one after the other; the pieces must live until the object is written.
ElfSection section_of(std::string name, std::vector<std::span<const std::byte>> pieces);
// A section with a copy of `bytes`.
ElfSection section_with(std::string name, std::string bytes);
// The section that weights belong in, and the flags it needs: `.lrodata.NAME` where the machine has large data.
ElfSection weight_section(Machine machine, std::string_view name, std::vector<std::span<const std::byte>> pieces);

Status write_elf_object(const ElfObject& object, const ByteSink& sink);
std::string elf_object_bytes(const ElfObject& object);  // for small ones

}  // namespace cameo
