// See guard.h. Both ways out are jumps to where the call began; signals are handled on a stack of their own, so that an
// endless recursion is one of them.
#include "frontend/custom/guard.h"

#include <fmt/format.h>

#include <array>
#include <csetjmp>
#include <csignal>
#include <cstring>
#include <exception>
#include <vector>

#include "frontend/ir/diagnostic.h"

namespace cameo {
namespace {

struct Call {
  sigjmp_buf begin;
  std::exception_ptr refusal;
};
thread_local Call* running = nullptr;

void end_by_signal(int signal) {
  if (running) siglongjmp(running->begin, signal);
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

/// While it lives, the signals of wrong code end the running call.
class Watch {
 public:
  explicit Watch(Call& call) : outer_(running), stack_(64 * 1024) {
    running = &call;
    stack_t stack{};
    stack.ss_sp = stack_.data();
    stack.ss_size = stack_.size();
    sigaltstack(&stack, &old_stack_);
    struct sigaction action{};
    action.sa_handler = end_by_signal;
    action.sa_flags = SA_ONSTACK;
    for (size_t i = 0; i < kSignals.size(); ++i) sigaction(kSignals[i], &action, &old_[i]);
  }
  ~Watch() {
    for (size_t i = 0; i < kSignals.size(); ++i) sigaction(kSignals[i], &old_[i], nullptr);
    sigaltstack(&old_stack_, nullptr);
    running = outer_;
  }
  Watch(const Watch&) = delete;

 private:
  static constexpr std::array kSignals{SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP};
  Call* outer_;
  std::vector<char> stack_;
  stack_t old_stack_{};
  std::array<struct sigaction, kSignals.size()> old_{};
};

}  // namespace

void guarded(const std::string& who, const std::function<void()>& call) {
  constexpr int kRefused = -1;
  Call here{};
  const Watch watch(here);
  const int ended = sigsetjmp(here.begin, 1);
  if (ended == 0) return call();
  if (ended == kRefused) std::rethrow_exception(here.refusal);
  throw CompileError(Code::E0704, fmt::format("{} ended with a signal: {}", who, strsignal(ended)));
}

void answer_by(void (*call)(const void* answer), const void* answer) {
  Call* const asking = running;
  try {
    return call(answer);
  } catch (...) { asking->refusal = std::current_exception(); }
  siglongjmp(asking->begin, -1);
}

}  // namespace cameo
