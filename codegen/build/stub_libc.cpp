// See stub_libc.h. The symbols become one object, a version script gives each its version, and lld does the rest.
#include "codegen/build/stub_libc.h"

#include <fmt/format.h>

#include <map>

#include "codegen/build/files.h"
#include "codegen/build/run_lld.h"

namespace cameo {
namespace {

constexpr LibcSymbol kSymbols[] = {
#define LIBC_FUNCTION(name, version) {#name, version, 0},
#define LIBC_OBJECT(name, version, bytes) {#name, version, bytes},
#include "codegen/build/libc_symbols.def"
#undef LIBC_FUNCTION
#undef LIBC_OBJECT
};

// The first glibc there was for a machine.
std::string_view first_version(Machine machine) { return machine == Machine::kAarch64 ? "2.17" : "2.2.5"; }

std::pair<int, int> parsed(std::string_view version) {
  std::pair<int, int> number;
  std::sscanf(std::string(version).c_str(), "%d.%d", &number.first, &number.second);
  return number;
}

std::string stub_object(Machine machine) {
  ElfObject object;
  object.machine = machine;
  object.sections.push_back(section_with(".text", std::string(std::size(kSymbols), '\0')));
  object.sections.back().flags = kSectionAllocated | kSectionExecutable;
  object.sections.push_back(section_with(".data", std::string(8 * std::size(kSymbols), '\0')));
  object.sections.back().flags = kSectionAllocated | kSectionWritable;
  uint64_t row = 0;
  for (const LibcSymbol& symbol : kSymbols) {
    const bool function = symbol.object_bytes == 0;
    const uint64_t size = function ? 1 : symbol.object_bytes;
    object.symbols.push_back({.name = std::string(symbol.name),
                              .section = function ? 0 : 1,
                              .offset = function ? row : 8 * row,
                              .size = size,
                              .function = function,
                              .hidden = false});
    ++row;
  }
  return elf_object_bytes(object);
}

std::string version_script(Machine machine) {
  std::map<std::string, std::string> names;
  for (const LibcSymbol& symbol : kSymbols) {
    names[libc_version(symbol, machine)] += fmt::format("{}; ", symbol.name);
  }
  std::string script;
  for (const auto& [version, list] : names) script += fmt::format("{} {{ global: {}}};\n", version, list);
  return script;
}

}  // namespace

std::span<const LibcSymbol> libc_symbols() { return kSymbols; }

std::string libc_version(const LibcSymbol& symbol, Machine machine) {
  const std::string_view first = first_version(machine);
  return fmt::format("GLIBC_{}", parsed(symbol.version) < parsed(first) ? first : symbol.version);
}

Outcome stub_libc(Machine machine) {
  LldCall call;
  call.add("-shared", "-soname", "libc.so.6", "--hash-style=gnu", "--build-id=none");
  call.add_option_file("--version-script=", version_script(machine));
  call.add_input("libc.o", stub_object(machine));
  return call.run(machine);
}

}  // namespace cameo
