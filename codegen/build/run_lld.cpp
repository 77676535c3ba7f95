// See run_lld.h. lld writes to the name `-`, which is descriptor 1: the output is put there in the call's process.
// (Any other name makes lld create a file beside it, which an unnamed file has no place for.)
#include "codegen/build/run_lld.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <lld/Common/Driver.h>
#include <llvm/Support/ErrorHandling.h>
#include <llvm/Support/raw_ostream.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <functional>

LLD_HAS_DRIVER(elf)

namespace cameo {
namespace {

std::string take_write_error() {
  llvm::raw_fd_ostream& out = llvm::outs();
  out.flush();
  const std::string message = out.has_error() ? out.error().message() : std::string();
  out.clear_error();
  return message;
}

constexpr int kFailed = 1;

void say_fatal_error(void* said, const char* reason, bool) {
  (void)write_all(*static_cast<int*>(said), as_bytes(reason), "what the linker says");
  ::_exit(kFailed);
}

// One call of lld, which writes to descriptor 1; what it says goes to `said`. The exit status of the process.
int link_to(int target, const std::vector<const char*>& words, int said) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  llvm::remove_fatal_error_handler();  // the worker's would answer in its place
  llvm::install_fatal_error_handler(say_fatal_error, &said);
  ::dup2(target, 1);
  std::string text;
  llvm::raw_string_ostream stream(text);
  const lld::Result result = lld::lldMain(words, stream, stream, {{lld::Gnu, &lld::elf::link}});
  if (const std::string error = take_write_error(); !error.empty())
    text = fmt::format("cannot write the linked file: {}", error);
  else if (result.retCode == 0)
    return 0;
  (void)write_all(said, as_bytes(text), "what the linker says");
  return kFailed;
}

// lld keeps pointers into what a call has freed and uses them in the next one (lld 19), so each call has a process.
int run_in_child(const std::function<int()>& work) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(work());
  int status = 0x7f00;
  while (child > 0 && ::waitpid(child, &status, 0) < 0 && errno == EINTR) {}
  return status;
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

  const ScratchFile said = ScratchFile::in_memory();
  const int status = run_in_child([&] { return link_to(target.get(), words, said.descriptor()); });
  const std::string text = read_all(said.descriptor());
  Outcome outcome = Outcome::failure(with_names(text));
  if (WIFSIGNALED(status)) outcome.message = fmt::format("the linker ended with signal {}", WTERMSIG(status));
  outcome.ok = WIFEXITED(status) && WEXITSTATUS(status) == 0;
  if (outcome.ok && output_path.empty()) outcome.bytes = read_all(memory.descriptor());
  return outcome;
}

}  // namespace cameo
