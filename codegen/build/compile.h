// C++ or CUDA text -> object or assembly (PTX), by the clang inside this program. Nothing outside the job and the
// embedded headers is read, so the same job gives the same bytes on every machine.
#pragma once

#include <string>
#include <vector>

#include "codegen/build/outcome.h"

namespace cameo {

// The machine that code is for, in LLVM's words.
struct CodeTarget {
  std::string triple = "x86_64-unknown-linux-gnu";  // aarch64-unknown-linux-gnu, nvptx64-nvidia-cuda
  std::string cpu = "x86-64-v2";                    // znver4, sm_80 ...
  std::vector<std::string> features;                // "+avx512fp16", "-amx-tile", "+ptx70"
  int vector_bits = 0;                              // preferred vector width; 0: the cpu's own preference

  template <typename Archive>
  void fields(Archive& archive) {
    archive(triple, cpu, features, vector_bits);
  }
};

struct SourceFile {
  std::string path;
  std::string text;

  template <typename Archive>
  void fields(Archive& archive) {
    archive(path, text);
  }
};

struct CompileJob {
  std::string name;                 // "k003.cpp": what diagnostics and the object's file symbol say
  std::string source;               // finds runtime/ as the include root, as "rt/..." and as "runtime/..."
  std::vector<SourceFile> headers;  // further files beside the source
  CodeTarget target;
  bool assembly = false;  // text (PTX for NVPTX) instead of an object
  int optimize = 2;
  bool vectorize = true;             // loop and straight-line vectorisers; kernels written in vectors do not need them
  std::vector<std::string> defines;  // NAME or NAME=VALUE

  template <typename Archive>
  void fields(Archive& archive) {
    archive(name, source, headers, target, assembly, optimize, vectorize, defines);
  }
};

/// What the headers of kernels as parsed for a target are called in embedded_files.h: another clang, which a system may
/// be given after cameo was built, does not take them, and finds none.
std::string name_of_headers(const CodeTarget& target);

/// Parses the headers of a processor's kernels into the file `path`, which jobs of that target begin with where it is
/// embedded.
Outcome precompile_headers(const CodeTarget& target, const std::string& path);

// The jobs that make the runtime's core for a machine that `runtime_objects` (link.h) has none for.
std::vector<CompileJob> runtime_jobs(const CodeTarget& target);

// Compiles in this process; `run_jobs` (worker.h) is the way to call it that survives a crash in clang.
Outcome compile(const CompileJob& job);

}  // namespace cameo
