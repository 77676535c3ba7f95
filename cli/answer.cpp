// See answer.h.
#include "cli/answer.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cmath>
#include <csignal>
#include <cstring>

#include "cli/interrupt.h"

namespace cameo {
namespace {

using namespace nlohmann::literals;

[[noreturn]] void answer_in_child(const Runnable& runnable, const std::string& verb,
                                  const std::vector<std::string>& arguments, const int (&ends)[2]) {
  ::dup2(ends[1], STDOUT_FILENO);
  ::close(ends[0]);
  ::close(ends[1]);
  ::dup2(::open("/dev/null", O_WRONLY), STDERR_FILENO);
  try {
    become(runnable, verb, arguments);
  } catch (const Failure& f) {
    const std::string document = Json{{"diagnostics", {{{"message", f.what()}}}}}.dump();
    (void)!::write(STDOUT_FILENO, document.data(), document.size());
    ::_exit(f.code);
  }
}

/// All that comes until the other end is closed; false: it took too long.
bool read_until_closed(int end, double limit_seconds, std::string& text) {
  const auto start = std::chrono::steady_clock::now();
  char part[1 << 16];
  for (;;) {
    const double left = limit_seconds - std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    if (left <= 0) return false;
    pollfd wait{end, POLLIN, 0};
    ::poll(&wait, 1, std::isinf(left) ? -1 : static_cast<int>(std::ceil(left * 1e3)));
    if (!wait.revents) continue;
    const ssize_t bytes = ::read(end, part, sizeof part);
    if (bytes < 0 && errno == EINTR) continue;
    if (bytes <= 0) return true;
    text.append(part, static_cast<size_t>(bytes));
  }
}

}  // namespace

Json answer_of(const Runnable& runnable, const std::string& verb, std::vector<std::string> arguments,
               double limit_seconds) {
  arguments.push_back("--json");
  int ends[2];
  std::fflush(nullptr);
  if (::pipe(ends) != 0) throw Failure(kMemory, fmt::format("cannot make a pipe: {}", std::strerror(errno)));
  const pid_t child = fork_to_help();
  if (child == 0) answer_in_child(runnable, verb, arguments, ends);
  ::close(ends[1]);
  std::string text;
  const bool in_time = child < 0 || read_until_closed(ends[0], limit_seconds, text);
  ::close(ends[0]);
  if (child < 0) throw Failure(kMemory, fmt::format("cannot start a process: {}", std::strerror(errno)));
  if (!in_time) ::kill(child, SIGKILL);
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {}
  const std::string title = printable(runnable.title);
  if (!in_time) throw Failure(kBug, fmt::format("`{}` took longer than {:.0f} s", title, limit_seconds));
  if (WIFSIGNALED(status))
    throw Failure(kBug, fmt::format("`{}` ended with signal {}", title, ::strsignal(WTERMSIG(status))));
  const Json answer = Json::parse(text, nullptr, false);
  if (!answer.is_object()) throw Failure(kBug, fmt::format("`{} {}` gave no document", title, verb));
  if (WEXITSTATUS(status))
    throw Failure(WEXITSTATUS(status),
                  fmt::format("`{}`: {}", title, answer.value("/diagnostics/0/message"_json_pointer, "it failed")));
  return answer;
}

}  // namespace cameo
