// See interrupt.h.
#include "cli/interrupt.h"

#include <unistd.h>

#include <csignal>

namespace cameo {
namespace {

volatile std::sig_atomic_t seen = 0, deferred = 0;

void on_interrupt(int) {
  if (!deferred || seen) ::_exit(kInterrupted);
  seen = 1;
}

}  // namespace

void watch_interrupts() {
  struct sigaction action = {};
  action.sa_handler = on_interrupt;
  ::sigaction(SIGINT, &action, nullptr);
  ::sigaction(SIGTERM, &action, nullptr);
}

bool interrupted() { return seen != 0; }

DeferInterrupts::DeferInterrupts() { deferred = deferred + 1; }
DeferInterrupts::~DeferInterrupts() { deferred = deferred - 1; }

}  // namespace cameo
