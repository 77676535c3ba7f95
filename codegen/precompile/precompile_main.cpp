// precompile FOLDER: the headers of kernels as clang has parsed them, a file for each processor that has a name, and
// FOLDER/list.txt, in which embed.cmake reads what they are called.
#include <zstd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "codegen/code_target.h"

namespace {

std::string compressed(const std::string& bytes) {
  constexpr int kLevel = 19;
  std::string packed(ZSTD_compressBound(bytes.size()), '\0');
  packed.resize(ZSTD_compress(packed.data(), packed.size(), bytes.data(), bytes.size(), kLevel));
  return packed;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  const std::filesystem::path folder = argv[1];
  std::filesystem::create_directories(folder);
  std::ofstream list(folder / "list.txt");
  for (const cameo::Target& target : cameo::named_targets()) {
    if (target.is_gpu()) continue;
    const cameo::CodeTarget code = cameo::code_target(target);
    const std::string path = (folder / (target.name + ".pch")).string();
    const cameo::Outcome made = cameo::precompile_headers(code, path);
    if (!made.ok) return std::fprintf(stderr, "precompile: %s\n", made.message.c_str()), 1;
    std::ifstream in(path, std::ios::binary);
    const std::string bytes{std::istreambuf_iterator<char>(in), {}};
    std::ofstream(path, std::ios::binary) << compressed(bytes);
    list << cameo::name_of_headers(code) << '=' << path << '\n';
  }
  return list.flush() ? 0 : 1;
}
