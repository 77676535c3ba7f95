// A library comes without its size, which its own headers tell; it is loaded from a file that has no name.
#include "tests/gpu/mock/kernels.h"

#include <dlfcn.h>
#include <elf.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <stdexcept>
#include <string>

#include "tests/support/fibers.h"

namespace cameo::test {
namespace {

size_t elf_bytes(const Elf64_Ehdr& header) {
  const char* base = reinterpret_cast<const char*>(&header);
  size_t end = header.e_shoff + size_t{header.e_shnum} * header.e_shentsize;
  for (int i = 0; i < header.e_phnum; ++i) {
    const auto& segment = *reinterpret_cast<const Elf64_Phdr*>(base + header.e_phoff + i * header.e_phentsize);
    end = std::max<size_t>(end, segment.p_offset + segment.p_filesz);
  }
  return end;
}

template <size_t>
using Pointer = void*;
/// A function that takes fewer pointers does not see the rest.
template <size_t... I>
void call_with(void* entry, void* const* p, std::index_sequence<I...>) {
  reinterpret_cast<void (*)(Pointer<I>...)>(entry)(p[I]...);
}
void call_with(void* entry, std::vector<void*> p) {
  const size_t count = p.size();
  p.resize(512);
  if (count <= 8) return call_with(entry, p.data(), std::make_index_sequence<8>());
  if (count <= 64) return call_with(entry, p.data(), std::make_index_sequence<64>());
  if (count <= 512) return call_with(entry, p.data(), std::make_index_sequence<512>());
  throw std::runtime_error("a kernel with more than 512 parameters");
}

}  // namespace

void* load_library(const void* image) {
  const auto& header = *static_cast<const Elf64_Ehdr*>(image);
  if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_machine == 190) return nullptr;
  const int file = memfd_create("kernels", 0);
  const size_t bytes = elf_bytes(header);
  const bool written = write(file, image, bytes) == static_cast<ssize_t>(bytes);
  static size_t serial = 0;  // of a path that no open library has: dlopen takes equal paths for one file
  const std::string path = "/proc/self/fd" + std::string(1 + serial++ % 1000, '/') + std::to_string(file);
  void* library = written ? dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL) : nullptr;
  close(file);
  return library;
}

void Kernel::run(int blocks, const std::vector<void*>& parameters) const {
  run_blocks(*words, blocks, [&] { call_with(entry, parameters); });
}

Kernel find_kernel(void* library, const char* name) {
  Kernel kernel = {dlsym(library, name), static_cast<rt::Fibers*>(dlsym(library, "cameo_fibers"))};
  if (!kernel.words) kernel.entry = nullptr;
  return kernel;
}

}  // namespace cameo::test
