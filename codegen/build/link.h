// Objects -> shared library, program, single object or archive, by the lld and LLVM inside this program. Results depend
// on the inputs alone: no build id, no paths, the stub libc (stub_libc.h) instead of the host's.
#pragma once

#include <string>
#include <vector>

#include "codegen/build/compile.h"
#include "codegen/build/elf_object.h"
#include "codegen/build/outcome.h"

namespace cameo {

struct LinkInput {
  std::string name;   // what messages call it, and a member's name in an archive
  std::string bytes;  // the object, or
  std::string path;   // where it lies (ScratchFile::path() for large ones)

  template <typename Archive>
  void fields(Archive& archive) {
    archive(name, bytes, path);
  }
};

enum class LinkKind : uint8_t {
  kShared,       // with `entry`: also a program
  kProgram,      // position independent executable
  kRelocatable,  // one object that shows nothing but `exports`, so that several models link into one program
  kArchive,      // the inputs as members, or one relocatable object where there are `exports`
};

struct LinkJob {
  LinkKind kind = LinkKind::kShared;
  std::vector<LinkInput> inputs;
  std::string triple = "x86_64-unknown-linux-gnu";
  std::string soname;
  std::string entry;                 // the first instruction when run as a program
  std::vector<std::string> exports;  // defined with default visibility in the inputs
  bool with_libc = true;             // link against the stub
  uint64_t page_bytes = 0;           // of the largest pages that can map an image's segments; 0: any processor's
  std::string output_path;           // where the bytes go; empty: into the Outcome

  template <typename Archive>
  void fields(Archive& archive) {
    archive(kind, inputs, triple, soname, entry, exports, with_libc, page_bytes, output_path);
  }
};

LinkJob link_shared(std::vector<LinkInput> inputs, std::string soname, std::string entry,
                    std::vector<std::string> exports);
LinkJob link_program(std::vector<LinkInput> inputs, std::string entry);
LinkJob relocatable(std::vector<LinkInput> inputs, std::vector<std::string> exports);
// With `exports` the members become one relocatable object first, so that several archives go into one program.
LinkJob archive(std::vector<LinkInput> inputs, std::vector<std::string> exports = {});

Machine machine_of(const std::string& triple);

// The runtime as this cameo carries it; none for a machine that it was not compiled for. `with_cuda`: the driver of
// images for a GPU.
std::vector<LinkInput> runtime_objects(const std::string& triple, bool with_program, bool with_cuda);

// Links in this process, once at a time (lld holds global state); `run_jobs` (worker.h) is the way to call it.
Outcome link(const LinkJob& job);

}  // namespace cameo
