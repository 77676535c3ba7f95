// The files that travel inside cameo: `runtime/...` the runtime as text, `clang/...` the few headers of the compiler
// itself, `core/...` and `program/...` the runtime as objects, compiled when cameo was. CMake writes the table
// (embed.cmake).
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace cameo {

struct EmbeddedFile {
  std::string_view path;
  std::string_view contents;
};

// Sorted by path.
std::span<const EmbeddedFile> embedded_files();
std::span<const EmbeddedFile> embedded_under(std::string_view folder);  // "runtime/"

// Headers of kernels as clang has parsed them (codegen/precompile), compressed, by compile.h's name_of_headers; none in
// the program that makes them.
std::span<const EmbeddedFile> precompiled_headers();

}  // namespace cameo
