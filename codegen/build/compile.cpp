// See compile.h. A job becomes clang's own (cc1) command line, read over a file system in memory: one layer with the
// embedded headers, made once, and one with the job's files.
#include "codegen/build/compile.h"

#include <clang/Basic/Version.h>
#include <clang/CodeGen/CodeGenAction.h>
#include <clang/Frontend/CompilerInstance.h>
#include <clang/Frontend/CompilerInvocation.h>
#include <clang/Frontend/FrontendActions.h>
#include <clang/Frontend/TextDiagnosticPrinter.h>
#include <fmt/format.h>
#include <llvm/Support/MemoryBuffer.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/Support/VirtualFileSystem.h>
#include <llvm/Support/raw_ostream.h>
#include <zstd.h>

#include <algorithm>

#include "codegen/build/embedded_files.h"

namespace cameo {
namespace {

using FileSystem = llvm::IntrusiveRefCntPtr<llvm::vfs::InMemoryFileSystem>;

void initialize_targets() {
  static const bool once = [] {
#define CAMEO_TARGET(name)            \
  LLVMInitialize##name##TargetInfo(); \
  LLVMInitialize##name##Target();     \
  LLVMInitialize##name##TargetMC();   \
  LLVMInitialize##name##AsmPrinter();
    CAMEO_TARGET(X86)
    CAMEO_TARGET(AArch64)
    CAMEO_TARGET(NVPTX)
#undef CAMEO_TARGET
    LLVMInitializeX86AsmParser();
    LLVMInitializeAArch64AsmParser();
    return true;
  }();
  (void)once;
}

void add_file(llvm::vfs::InMemoryFileSystem& files, std::string_view path, std::string_view text) {
  const std::string full = fmt::format("/cameo/{}", path);
  files.addFile(full, 0, llvm::MemoryBuffer::getMemBufferCopy({text.data(), text.size()}, full));
}

FileSystem embedded_headers() {
  static const FileSystem files = [] {
    FileSystem made(new llvm::vfs::InMemoryFileSystem);
    for (const char* folder : {"runtime/", "clang/"}) {
      for (const EmbeddedFile& file : embedded_under(folder)) add_file(*made, file.path, file.contents);
    }
    return made;
  }();
  return files;
}

bool is_cuda(const CompileJob& job) { return job.target.triple.starts_with("nvptx"); }

// What most models' kernels include.
constexpr const char kKernelHeaders[] =
    "#include \"runtime/kernels/attention.h\"\n#include \"runtime/kernels/bf16x3.h\"\n"
    "#include \"runtime/kernels/contract.h\"\n#include \"runtime/kernels/depthwise.h\"\n"
    "#include \"runtime/kernels/grouped.h\"\n#include \"runtime/kernels/transpose.h\"\n"
    "#include \"runtime/kernels/window.h\"\n#include \"runtime/kernels/winograd.h\"\n";
constexpr const char* kKernelsHeader = "kernels.h";
constexpr const char* kPrecompiled = "/cameo/kernels.pch";
/// The headers that a job begins with, as they were parsed when cameo was built; empty: there are none. Only jobs of
/// the same language take them, and text of custom operators, which is compiled with loops vectorised, has its own
/// names.
std::string_view precompiled_for(const CompileJob& job) {
  if (is_cuda(job) || job.vectorize || job.optimize != CompileJob().optimize || !job.defines.empty()) return {};
  const auto found = std::ranges::find(precompiled_headers(), name_of_headers(job.target), &EmbeddedFile::path);
  return found == precompiled_headers().end() ? std::string_view() : found->contents;
}
std::unique_ptr<llvm::MemoryBuffer> decompressed(std::string_view packed) {
  const auto bytes = ZSTD_getFrameContentSize(packed.data(), packed.size());
  auto buffer = llvm::WritableMemoryBuffer::getNewUninitMemBuffer(bytes, kPrecompiled);
  ZSTD_decompress(buffer->getBufferStart(), bytes, packed.data(), packed.size());
  return buffer;
}

llvm::IntrusiveRefCntPtr<llvm::vfs::FileSystem> files_of(const CompileJob& job) {
  FileSystem own(new llvm::vfs::InMemoryFileSystem);
  add_file(*own, "source/" + job.name, job.source);
  for (const SourceFile& header : job.headers) add_file(*own, "source/" + header.path, header.text);
  if (const std::string_view packed = precompiled_for(job); !packed.empty()) {
    own->addFile(kPrecompiled, 0, decompressed(packed));
    add_file(*own, fmt::format("source/{}", kKernelsHeader), kKernelHeaders);  // clang looks whether it has changed
  }
  llvm::IntrusiveRefCntPtr<llvm::vfs::OverlayFileSystem> all(new llvm::vfs::OverlayFileSystem(embedded_headers()));
  all->pushOverlay(own);
  all->setCurrentWorkingDirectory("/cameo");
  return all;
}

class Arguments {
 public:
  template <typename... Words>
  void add(Words&&... words) {
    (words_.emplace_back(std::forward<Words>(words)), ...);
  }
  std::vector<const char*> pointers() const {
    std::vector<const char*> pointers;
    for (const std::string& word : words_) pointers.push_back(word.c_str());
    return pointers;
  }

 private:
  std::vector<std::string> words_;
};

void add_target(Arguments& arguments, const CodeTarget& target) {
  arguments.add("-triple", target.triple, "-target-cpu", target.cpu);
  if (target.cpu.starts_with("x86-64")) arguments.add("-tune-cpu", "generic");
  for (const std::string& feature : target.features) arguments.add("-target-feature", feature);
  if (target.vector_bits) arguments.add(fmt::format("-mprefer-vector-width={}", target.vector_bits));
}

// What the language is: no contraction (an explicit Fma alone is fused), no libc, no exceptions, no hidden run-time
// support.
void add_language(Arguments& arguments, const CompileJob& job) {
  arguments.add("-std=c++20", "-ffreestanding", "-ffp-contract=off", "-fno-rtti", "-fno-threadsafe-statics",
                "-fvisibility=hidden", "-nostdsysteminc", "-nobuiltininc", "-nostdinc++");
  if (!is_cuda(job)) return arguments.add("-x", "c++");
  arguments.add("-x", "cuda", "-fcuda-is-device", "-aux-triple", "x86_64-unknown-linux-gnu");
}

void add_code_generation(Arguments& arguments, const CompileJob& job) {
  arguments.add(fmt::format("-O{}", job.optimize), job.assembly ? "-S" : "-emit-obj", "-ffunction-sections",
                "-fdata-sections", "-clear-ast-before-backend", "-Qn", "-ferror-limit", "20");
  if (!is_cuda(job)) arguments.add("-mrelocation-model", "pic", "-pic-level", "2", "-mframe-pointer=none");
  if (job.vectorize) arguments.add("-vectorize-loops", "-vectorize-slp");
}

// `rt/x.h` and `runtime/x.h` resolve, and so do the compiler's stddef.h, stdint.h and kin.
void add_files(Arguments& arguments, const CompileJob& job, const std::string& output) {
  if (!precompiled_for(job).empty()) arguments.add("-include-pch", kPrecompiled);
  arguments.add("-resource-dir", "/cameo/clang", "-internal-isystem", "/cameo/clang/include", "-I", "/cameo/runtime",
                "-I", "/cameo", "-fdebug-compilation-dir=/cameo", "-main-file-name", job.name, "-o", output);
  for (const std::string& define : job.defines) arguments.add("-D", define);
  arguments.add("/cameo/source/" + job.name);
}

Arguments arguments_of(const CompileJob& job, const std::string& output) {
  Arguments arguments;
  add_target(arguments, job.target);
  add_language(arguments, job);
  add_code_generation(arguments, job);
  add_files(arguments, job, output);
  return arguments;
}

/// Runs an action on a job; what it makes goes to `bytes`, or, of an action that names its file, to `output`.
Outcome run(const CompileJob& job, clang::FrontendAction& action, const std::string& output = "-") {
  initialize_targets();
  std::string text;
  llvm::raw_string_ostream text_stream(text);
  llvm::IntrusiveRefCntPtr<clang::DiagnosticOptions> options(new clang::DiagnosticOptions);
  clang::TextDiagnosticPrinter printer(text_stream, options.get());
  clang::DiagnosticsEngine diagnostics(new clang::DiagnosticIDs, options, &printer, false);

  const Arguments arguments = arguments_of(job, output);
  auto invocation = std::make_shared<clang::CompilerInvocation>();
  if (!clang::CompilerInvocation::CreateFromArgs(*invocation, arguments.pointers(), diagnostics)) {
    return Outcome::failure(text);
  }
  clang::CompilerInstance compiler;
  compiler.setInvocation(std::move(invocation));
  compiler.createDiagnostics(&printer, false);
  compiler.createFileManager(files_of(job));
  compiler.setVerboseOutputStream(text_stream);

  llvm::SmallString<0> bytes;
  if (output == "-") compiler.setOutputStream(std::make_unique<llvm::raw_svector_ostream>(bytes));
  const bool ok = compiler.ExecuteAction(action);
  return ok ? Outcome::success(std::string(bytes), text) : Outcome::failure(text);
}

}  // namespace

std::string name_of_headers(const CodeTarget& target) {
  return fmt::format("{} {} {} {} {}", target.triple, target.cpu, fmt::join(target.features, ","), target.vector_bits,
                     clang::getClangFullVersion());
}

Outcome precompile_headers(const CodeTarget& target, const std::string& path) {
  CompileJob job;
  job.name = kKernelsHeader;
  job.target = target;
  job.vectorize = false;
  job.source = kKernelHeaders;
  clang::GeneratePCHAction action;
  return run(job, action, path);
}

std::vector<CompileJob> runtime_jobs(const CodeTarget& target) {
  constexpr std::string_view kFolder = "runtime/";
  std::vector<CompileJob> jobs;
  for (const EmbeddedFile& file : embedded_under(kFolder)) {
    const std::string_view name = file.path.substr(kFolder.size());
    if (!name.ends_with(".cpp") || name.find('/') != name.npos) continue;
    CompileJob& job = jobs.emplace_back();
    job.name = name;
    job.source = file.contents;
    job.target = target;
  }
  return jobs;
}

Outcome compile(const CompileJob& job) {
  if (job.assembly) {
    clang::EmitAssemblyAction action;
    return run(job, action);
  }
  clang::EmitObjAction action;
  return run(job, action);
}

}  // namespace cameo
