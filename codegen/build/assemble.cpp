// See assemble.h. ptxas reads and writes files without names, through its own descriptors of them.
#include "codegen/build/assemble.h"

#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <vector>

#include "codegen/build/files.h"

extern char** environ;

namespace cameo {
namespace {

/// The exit status, or -1 where it could not be started.
int run_tool(std::vector<std::string> words, const ScratchFile& output) {
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_adddup2(&actions, output.descriptor(), 1);
  ::posix_spawn_file_actions_adddup2(&actions, output.descriptor(), 2);
  pid_t process = -1;
  const int error = ::posix_spawn(&process, arguments[0], &actions, nullptr, arguments.data(), environ);
  ::posix_spawn_file_actions_destroy(&actions);
  if (error != 0) return -1;
  int status = 0;
  while (::waitpid(process, &status, 0) < 0 && errno == EINTR) {}
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

}  // namespace

std::string find_ptxas() {
  const char *path = std::getenv("PATH"), *toolkit = std::getenv("CUDA_HOME");
  const std::string folders = fmt::format("{}:{}/bin", path ? path : "", toolkit ? toolkit : "/usr/local/cuda");
  for (size_t at = 0; at <= folders.size();) {
    const size_t end = std::min(folders.find(':', at), folders.size());
    const std::string file = folders.substr(at, end - at) + "/ptxas";
    if (file[0] == '/' && file.size() > 6 && ::access(file.c_str(), X_OK) == 0) return file;
    at = end + 1;
  }
  return "";
}

Outcome assemble(const AssembleJob& job) {
  ScratchFile ptx = ScratchFile::in_memory(), cubin = ScratchFile::in_memory(), words = ScratchFile::in_memory();
  if (Status status = ptx.write(as_bytes(job.ptx)); !status.ok()) return Outcome::failure(status.message);
  const int code = run_tool({job.ptxas, "-arch=" + job.architecture, ptx.path(), "-o", cubin.path()}, words);
  if (code == 0) return Outcome::success(read_all(cubin.descriptor()), read_all(words.descriptor()));
  return Outcome::failure(
      fmt::format("`{}` ended with exit code {}\n{}", job.ptxas, code, read_all(words.descriptor())));
}

}  // namespace cameo
