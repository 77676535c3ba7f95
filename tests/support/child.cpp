// See child.h.
#include "tests/support/child.h"

#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <stdexcept>

#include "tests/support/time_limit.h"

namespace cameo::test {
namespace {

[[noreturn]] void work_in_child(const std::function<std::string()>& work, int out, int seconds) {
  rlimit no_core{0, 0};
  setrlimit(RLIMIT_CORE, &no_core);
  limit_time(static_cast<unsigned>(seconds));
  std::string text;
  try {
    text = work();
  } catch (const std::exception& e) { text = fmt::format("exception: {}", e.what()); }
  text += '.';  // the end is complete
  for (size_t at = 0; at < text.size();) {
    ssize_t n = write(out, text.data() + at, text.size() - at);
    if (n <= 0) break;
    at += static_cast<size_t>(n);
  }
  _exit(0);
}

std::string ending(int status) {
  if (WIFSIGNALED(status))
    return ended_by_time(WTERMSIG(status)) ? "it took too long"
                                           : fmt::format("it crashed: {}", strsignal(WTERMSIG(status)));
  return fmt::format("it ended with exit code {}", WEXITSTATUS(status));
}

}  // namespace

std::string in_child(const std::function<std::string()>& work, int seconds) {
  int ends[2];
  if (pipe(ends) != 0) throw std::runtime_error("no pipe");
  std::fflush(nullptr);  // or the child prints it again
  pid_t child = fork();
  if (child < 0) throw std::runtime_error("no process");
  if (child == 0) work_in_child(work, ends[1], seconds);
  close(ends[1]);
  std::string text;
  char buffer[4096];
  for (ssize_t n; (n = read(ends[0], buffer, sizeof buffer)) > 0;) text.append(buffer, static_cast<size_t>(n));
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  if (text.empty() || WIFSIGNALED(status)) return ending(status);
  text.pop_back();
  return text;
}

}  // namespace cameo::test
