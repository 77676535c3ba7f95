// See run_lld.h. lld writes to the name `-`, which is descriptor 1: the output is put there for the time of the call.
// (Any other name makes lld create a file beside it, which an unnamed file has no place for.)
#include "codegen/build/run_lld.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <lld/Common/Driver.h>
#include <llvm/Support/raw_ostream.h>
#include <unistd.h>

#include <cstring>

LLD_HAS_DRIVER(elf)

namespace cameo {
namespace {

// Descriptor 1 is `target` while this lives.
class StandardOutput {
 public:
  explicit StandardOutput(int target) : before_(::fcntl(1, F_DUPFD_CLOEXEC, 3)) { ::dup2(target, 1); }
  StandardOutput(const StandardOutput&) = delete;
  StandardOutput& operator=(const StandardOutput&) = delete;
  ~StandardOutput() {
    ::close(1);
    if (before_.valid()) ::dup2(before_.get(), 1);
  }

 private:
  FileDescriptor before_;
};

std::string take_write_error() {
  llvm::raw_fd_ostream& out = llvm::outs();
  out.flush();
  const std::string message = out.has_error() ? out.error().message() : std::string();
  out.clear_error();
  return message;
}

const char* emulation(Machine machine) { return machine == Machine::kAarch64 ? "aarch64linux" : "elf_x86_64"; }

void replace_all(std::string& text, const std::string& from, const std::string& to) {
  for (size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
    text.replace(at, from.size(), to);
}

}  // namespace

std::string LldCall::scratch(std::string_view bytes) {
  files_.push_back(ScratchFile::in_memory());
  (void)files_.back().write(as_bytes(bytes));  // a short file is refused by lld
  return files_.back().path();
}

void LldCall::add_input(const std::string& name, std::string_view bytes) { add_input_path(name, scratch(bytes)); }

void LldCall::add_input_path(const std::string& name, const std::string& path) {
  names_[path] = name;
  words_.push_back(path);
}

void LldCall::add_option_file(const std::string& option, std::string_view text) {
  words_.push_back(option + scratch(text));
}

std::string LldCall::with_names(std::string text) const {
  for (auto row = names_.rbegin(); row != names_.rend(); ++row) replace_all(text, row->first, row->second);
  replace_all(text, "ld.lld: ", "");
  return text;
}

Outcome LldCall::run(Machine machine, const std::string& output_path) {
  const ScratchFile memory = ScratchFile::in_memory();
  const FileDescriptor target(output_path.empty() ? ::dup(memory.descriptor())
                                                  : ::open(output_path.c_str(), O_WRONLY | O_TRUNC | O_CLOEXEC));
  if (!target.valid()) return Outcome::failure(fmt::format("cannot write `{}`: {}", output_path, std::strerror(errno)));
  add("-m", emulation(machine), "--threads=1", "--color-diagnostics=never", "-o", "-");
  std::vector<const char*> words;
  for (const std::string& word : words_) words.push_back(word.c_str());

  std::string text;
  llvm::raw_string_ostream text_stream(text);
  lld::Result result;
  std::string write_error;
  {
    const StandardOutput redirected(target.get());
    result = lld::lldMain(words, text_stream, text_stream, {{lld::Gnu, &lld::elf::link}});
    write_error = take_write_error();
  }
  Outcome outcome = Outcome::failure(with_names(text));
  if (!write_error.empty()) outcome.message = fmt::format("cannot write the linked file: {}", write_error);
  outcome.stop_worker = !result.canRunAgain;
  outcome.ok = result.retCode == 0 && write_error.empty();
  if (outcome.ok && output_path.empty()) outcome.bytes = read_all(memory.descriptor());
  return outcome;
}

}  // namespace cameo
