// See interrupt.h.
#include "cli/interrupt.h"

#include <sys/prctl.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>

namespace cameo {
namespace {

volatile std::sig_atomic_t seen = 0, ignored = 0, deferred = 0, answered = 0;
volatile pid_t child = 0;
std::string last_words;  // changes while interrupts are blocked

void on_interrupt(int signal, siginfo_t* info, void*) {
  const int error = errno;
  if (child) {
    if (info->si_code <= 0) ::kill(child, signal);  // a terminal's reaches the child by itself
  } else if (answered && !ignored) {
    ignored = 1;
  } else if (!answered && deferred && !seen) {
    seen = 1;
  } else {
    if (!answered) (void)!::write(STDOUT_FILENO, last_words.data(), last_words.size());
    ::_exit(kInterrupted);
  }
  errno = error;
}

sigset_t both_signals() {
  sigset_t both;
  ::sigemptyset(&both);
  ::sigaddset(&both, SIGINT);
  ::sigaddset(&both, SIGTERM);
  return both;
}

class BlockInterrupts {
 public:
  BlockInterrupts() {
    const sigset_t both = both_signals();
    ::sigprocmask(SIG_BLOCK, &both, &before_);
  }
  ~BlockInterrupts() { ::sigprocmask(SIG_SETMASK, &before_, nullptr); }
  BlockInterrupts(const BlockInterrupts&) = delete;
  BlockInterrupts& operator=(const BlockInterrupts&) = delete;

 private:
  sigset_t before_;
};

}  // namespace

void watch_interrupts() {
  struct sigaction action = {};
  action.sa_sigaction = on_interrupt;
  action.sa_flags = SA_SIGINFO;
  action.sa_mask = both_signals();
  ::sigaction(SIGINT, &action, nullptr);
  ::sigaction(SIGTERM, &action, nullptr);
}

bool interrupted() { return seen != 0; }

void set_last_words(std::string document) {
  const BlockInterrupts blocked;
  last_words = std::move(document);
}

void ignore_interrupts() { answered = 1; }

pid_t fork_to_answer() {
  const BlockInterrupts blocked;
  const pid_t made = ::fork();
  if (made > 0) child = made;
  return made;
}

pid_t fork_to_help() {
  const BlockInterrupts blocked;
  const pid_t parent = ::getpid(), made = ::fork();
  if (made != 0) return made;
  last_words.clear();
  deferred = 0;
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(kInterrupted);
  return made;
}

DeferInterrupts::DeferInterrupts() { deferred = deferred + 1; }
DeferInterrupts::~DeferInterrupts() { deferred = deferred - 1; }

}  // namespace cameo
