// A pool of child processes, one case each: the verdict comes back through a pipe; what dies without one has failed.
#include <fmt/format.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

#include "tests/suite/suite.h"
#include "tests/support/time_limit.h"

namespace cameo::suite {
namespace {

constexpr size_t kReason = 1500;  // bytes; what a pipe takes at once
constexpr rlim_t kMemory = rlim_t{6} << 30;

struct Child {
  size_t index;
  pid_t pid;
  int pipe;
  std::string text;
};

[[noreturn]] void run_child(const Case& c, const Engine& engine, int out, std::chrono::seconds limit) {
  [[maybe_unused]] rlimit memory{kMemory, kMemory};
  rlimit no_core{0, 0};
#ifndef CAMEO_SANITIZED  // which maps terabytes
  setrlimit(RLIMIT_AS, &memory);
#endif
  setrlimit(RLIMIT_CORE, &no_core);
  test::limit_time(static_cast<unsigned>(limit.count()));
  Verdict v;
  try {
    v = run_case(c, engine);
  } catch (CompileError& e) {
    v = {Verdict::Failed, fmt::format("CompileError outside of the engine: {}", e.diagnostic.message)};
  } catch (std::exception& e) { v = {Verdict::Failed, fmt::format("exception: {}", e.what())}; }
  std::string text = fmt::format("{}{}", static_cast<int>(v.kind), v.reason.substr(0, kReason));
  (void)!write(out, text.data(), text.size());
  _exit(0);
}

Verdict finish(const Child& c) {
  int status = 0;
  waitpid(c.pid, &status, 0);
  if (!c.text.empty()) return {static_cast<Verdict::Kind>(c.text[0] - '0'), c.text.substr(1)};
  if (WIFSIGNALED(status) && test::ended_by_time(WTERMSIG(status))) return {Verdict::Failed, "time-out"};
  if (WIFSIGNALED(status)) return {Verdict::Failed, fmt::format("signal {}", strsignal(WTERMSIG(status)))};
  return {Verdict::Failed, fmt::format("an internal error (exit {})", WEXITSTATUS(status))};
}

}  // namespace

std::vector<Verdict> run_cases(std::span<const Case> cases, const Engine& engine, int jobs, std::chrono::seconds limit,
                               const std::function<void(const Case&, const Verdict&)>& done) {
  std::vector<Verdict> verdicts(cases.size());
  std::vector<Child> running;
  size_t next = 0;
  while (next < cases.size() || !running.empty()) {
    while (next < cases.size() && running.size() < static_cast<size_t>(jobs)) {
      int ends[2];
      if (pipe(ends) != 0) throw std::runtime_error("no pipe");
      std::fflush(nullptr);  // or the child prints it again
      pid_t pid = fork();
      if (pid < 0) throw std::runtime_error("no process");
      if (pid == 0) run_child(cases[next], engine, ends[1], limit);
      close(ends[1]);
      running.push_back({next++, pid, ends[0], {}});
    }
    std::vector<pollfd> fds;
    for (auto& c : running) fds.push_back({c.pipe, POLLIN, 0});
    poll(fds.data(), fds.size(), -1);
    for (size_t i = running.size(); i-- > 0;) {
      if (!fds[i].revents) continue;
      char buffer[4096];
      ssize_t n = read(running[i].pipe, buffer, sizeof buffer);
      if (n > 0) {
        running[i].text.append(buffer, static_cast<size_t>(n));
        continue;
      }
      close(running[i].pipe);
      size_t index = running[i].index;
      verdicts[index] = finish(running[i]);
      done(cases[index], verdicts[index]);
      running.erase(running.begin() + static_cast<std::ptrdiff_t>(i));
    }
  }
  return verdicts;
}

}  // namespace cameo::suite
