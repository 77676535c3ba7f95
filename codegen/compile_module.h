// The road after the plan: a Module becomes text, objects and one file.
#pragma once
#include <filesystem>
#include <functional>

#include "codegen/build/files.h"
#include "codegen/print_module.h"

namespace cameo {

enum class OutputKind { SharedLibrary, Program, Object, Archive, Sources };

struct BuildOptions {
  int jobs = 2;  // workers; 0: in this process
  bool with_program = true;
  std::filesystem::path weights;  // the file that holds them; empty: the artifact does
  std::function<bool(std::string_view stage, size_t done, size_t total)>
      progress;  // stages: print, device, compile, link; false: stop
};

/// Writes the artifact to `path`, or throws CompileError (E0601, E0602) and leaves nothing behind. What became of the
/// file of weights, if there is one.
std::optional<WeightsFate> compile_module(const Module& m, const std::vector<GoldenCase>& goldens, OutputKind kind,
                                          const std::filesystem::path& path, const BuildOptions& options);

/// A shared library that is a program, in a file without a name. Throws CompileError.
FileDescriptor compile_in_memory(const Module& m, const BuildOptions& options);

/// The PTX of a module's GPU plans. Throws CompileError (E0601).
std::string ptx_of_module(const Module& m, const BuildOptions& options);

}  // namespace cameo
