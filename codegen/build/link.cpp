// See link.h. Everything is one call of lld; a relocatable object then has all but its exports made local by LLVM's
// objcopy, and an archive needs no linker at all.
#include "codegen/build/link.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <llvm/ObjCopy/ConfigManager.h>
#include <llvm/ObjCopy/ObjCopy.h>
#include <llvm/Object/ArchiveWriter.h>
#include <llvm/Object/ObjectFile.h>
#include <llvm/Support/MemoryBuffer.h>
#include <llvm/Support/raw_ostream.h>

#include <cstring>

#include "codegen/build/embedded_files.h"
#include "codegen/build/files.h"
#include "codegen/build/run_lld.h"
#include "codegen/build/stub_libc.h"

namespace cameo {
namespace {

#if defined(__aarch64__)
constexpr Machine kOwnMachine = Machine::kAarch64;
#else
constexpr Machine kOwnMachine = Machine::kX86_64;
#endif

const char* interpreter(Machine machine) {
  return machine == Machine::kAarch64 ? "/lib/ld-linux-aarch64.so.1" : "/lib64/ld-linux-x86-64.so.2";
}

// Names the loader inside a shared library, which makes the kernel run it as a program.
std::string interpreter_object(Machine machine) {
  ElfObject object;
  object.machine = machine;
  object.sections.push_back(section_with(".interp", std::string(interpreter(machine)) + '\0'));
  object.sections.back().alignment = 1;
  object.sections.back().flags = kSectionAllocated | kSectionRetained;
  return elf_object_bytes(object);
}

std::string export_list(const std::vector<std::string>& exports) {
  std::string script = "{ ";
  if (!exports.empty()) script += "global: ";
  for (const std::string& name : exports) script += fmt::format("\"{}\"; ", name);
  return script + "local: *; };\n";
}

void add_inputs(LldCall& call, const LinkJob& job) {
  for (const LinkInput& input : job.inputs) {
    if (input.path.empty()) {
      call.add_input(input.name, input.bytes);
    } else {
      call.add_input_path(input.name, input.path);
    }
  }
}

std::string failure_text(llvm::Error error) { return llvm::toString(std::move(error)); }

Outcome deliver(std::string bytes, const std::string& path) {
  if (path.empty()) return Outcome::success(std::move(bytes));
  const FileDescriptor target(::open(path.c_str(), O_WRONLY | O_TRUNC | O_CLOEXEC));
  if (!target.valid()) return Outcome::failure(fmt::format("cannot write `{}`: {}", path, std::strerror(errno)));
  const Status status = write_all(target.get(), as_bytes(bytes), "the linked file");
  return status.ok() ? Outcome::success({}) : Outcome::failure(status.message);
}

void add_common(LldCall& call, const LinkJob& job) {
  call.add("--hash-style=gnu", "--build-id=none", "--gc-sections", "--no-undefined", "--fatal-warnings",
           "--error-limit=20", "-z", "noexecstack", "-z", "relro", "-z", "now", "--no-dependent-libraries",
           "-O2",         // strings that end alike are written once
           "--icf=all");  // and so are equal functions, which nothing tells apart by their addresses
  if (!job.entry.empty()) call.add("--entry=" + job.entry);
}

Outcome link_image(const LinkJob& job) {
  const Machine machine = machine_of(job.triple);
  LldCall call;
  add_common(call, job);
  if (job.page_bytes) call.add("-z", fmt::format("max-page-size={}", job.page_bytes));
  if (job.kind == LinkKind::kShared) {
    call.add("-shared");
    if (!job.soname.empty()) call.add("--soname=" + job.soname);
    if (!job.entry.empty()) call.add_input("interpreter.o", interpreter_object(machine));
  } else {
    call.add("-pie", fmt::format("--dynamic-linker={}", interpreter(machine)));
  }
  call.add("--strip-all");  // `profile` names kernels
  call.add_option_file("--version-script=", export_list(job.exports));
  add_inputs(call, job);
  if (job.with_libc) {
    const Outcome libc = stub_libc(machine);
    if (!libc.ok) return libc;
    call.add("--as-needed");
    call.add_input("libc.so.6", libc.bytes);
  }
  return call.run(machine, job.output_path);
}

// Sections stay apart and their groups dissolve: what one model calls `rt::gemm` must never replace another's.
Outcome merge(const LinkJob& job) {
  LldCall call;
  call.add("-r", "--force-group-allocation");
  add_inputs(call, job);
  return call.run(machine_of(job.triple));
}

llvm::Error keep_global(llvm::objcopy::CommonConfig& config, const std::vector<std::string>& names) {
  using llvm::objcopy::MatchStyle;
  using llvm::objcopy::NameOrPattern;
  const auto pass_on = [](llvm::Error error) { return error; };
  for (const std::string& name : names) {
    auto pattern = NameOrPattern::create(name, MatchStyle::Literal, pass_on);
    if (llvm::Error error = config.SymbolsToKeepGlobal.addMatcher(std::move(pattern))) return error;
  }
  return llvm::Error::success();
}

llvm::Error localize(const std::string& bytes, const std::vector<std::string>& exports, llvm::raw_ostream& out) {
  auto object = llvm::object::ObjectFile::createObjectFile(llvm::MemoryBufferRef(bytes, "merged object"));
  if (!object) return object.takeError();
  llvm::objcopy::ConfigManager config;
  if (llvm::Error error = keep_global(config.Common, exports)) return error;
  return llvm::objcopy::executeObjcopyOnBinary(config, **object, out);
}

Outcome link_relocatable(const LinkJob& job, const std::string& output_path) {
  Outcome merged = merge(job);
  if (!merged.ok) return merged;
  std::string bytes;
  llvm::raw_string_ostream out(bytes);
  if (llvm::Error error = localize(merged.bytes, job.exports, out))
    return Outcome::failure(failure_text(std::move(error)));
  out.flush();
  return deliver(std::move(bytes), output_path);
}

llvm::Error put_members(const std::vector<LinkInput>& inputs, llvm::raw_ostream& out) {
  std::vector<llvm::NewArchiveMember> members;
  for (const LinkInput& input : inputs) {
    if (input.path.empty()) {
      members.emplace_back(llvm::MemoryBufferRef(input.bytes, input.name));
      continue;
    }
    auto file = llvm::MemoryBuffer::getFile(input.path, false, false);
    if (!file) return llvm::createFileError(input.name, file.getError());
    members.emplace_back();
    members.back().Buf = std::move(*file);
    members.back().MemberName = input.name;
  }
  return llvm::writeArchiveToStream(out, members, llvm::SymtabWritingMode::NormalSymtab, llvm::object::Archive::K_GNU,
                                    true, false);
}

Outcome write_members(const std::vector<LinkInput>& inputs, const std::string& output_path) {
  std::string bytes;
  llvm::raw_string_ostream out(bytes);
  if (llvm::Error error = put_members(inputs, out)) return Outcome::failure(failure_text(std::move(error)));
  out.flush();
  return deliver(std::move(bytes), output_path);
}

Outcome write_archive(const LinkJob& job) {
  if (job.exports.empty()) return write_members(job.inputs, job.output_path);
  Outcome merged = link_relocatable(job, {});
  if (!merged.ok) return merged;
  return write_members({{job.exports[0] + ".o", std::move(merged.bytes), {}}}, job.output_path);
}

LinkJob job_of(LinkKind kind, std::vector<LinkInput> inputs) {
  LinkJob job;
  job.kind = kind;
  job.inputs = std::move(inputs);
  return job;
}

}  // namespace

Machine machine_of(const std::string& triple) {
  return triple.starts_with("aarch64") ? Machine::kAarch64 : Machine::kX86_64;
}

std::vector<LinkInput> runtime_objects(const std::string& triple, bool with_program, bool with_cuda) {
  std::vector<LinkInput> objects;
  if (machine_of(triple) != kOwnMachine) return objects;
  std::vector<const char*> folders = {"core/"};
  if (with_cuda) folders.push_back("cuda/");
  if (with_program) folders.push_back("program/");
  for (const char* folder : folders) {
    for (const EmbeddedFile& file : embedded_under(folder)) {
      objects.push_back({std::string(file.path), std::string(file.contents), {}});
    }
  }
  return objects;
}

LinkJob link_shared(std::vector<LinkInput> inputs, std::string soname, std::string entry,
                    std::vector<std::string> exports) {
  LinkJob job = job_of(LinkKind::kShared, std::move(inputs));
  job.soname = std::move(soname);
  job.entry = std::move(entry);
  job.exports = std::move(exports);
  return job;
}

LinkJob link_program(std::vector<LinkInput> inputs, std::string entry) {
  LinkJob job = job_of(LinkKind::kProgram, std::move(inputs));
  job.entry = std::move(entry);
  return job;
}

LinkJob relocatable(std::vector<LinkInput> inputs, std::vector<std::string> exports) {
  LinkJob job = job_of(LinkKind::kRelocatable, std::move(inputs));
  job.exports = std::move(exports);
  return job;
}

LinkJob archive(std::vector<LinkInput> inputs, std::vector<std::string> exports) {
  LinkJob job = job_of(LinkKind::kArchive, std::move(inputs));
  job.exports = std::move(exports);
  return job;
}

Outcome link(const LinkJob& job) {
  switch (job.kind) {
    case LinkKind::kRelocatable: return link_relocatable(job, job.output_path);
    case LinkKind::kArchive: return write_archive(job);
    default: return link_image(job);
  }
}

}  // namespace cameo
