// How long a child of a test may take: processor time, since a busy machine makes nothing wrong.
#pragma once
#include <sys/time.h>
#include <unistd.h>

#include <csignal>

namespace cameo::test {

constexpr int kTimeUp = SIGPROF;      // what ends a process that used up its time
constexpr unsigned kClockTimes = 30;  // by the clock it may take so many times as long; only what waits for ever does

#ifdef CAMEO_SANITIZED
constexpr unsigned kSlower = 20;  // a sanitizer makes everything
#else
constexpr unsigned kSlower = 1;
#endif

/// Begins anew at each call, and survives exec.
inline void limit_time(unsigned processor_seconds) {
  processor_seconds *= kSlower;
  const itimerval timer{{}, {processor_seconds, 0}};
  setitimer(ITIMER_PROF, &timer, nullptr);
  alarm(kClockTimes * processor_seconds);
}
inline bool ended_by_time(int signal) { return signal == kTimeUp || signal == SIGALRM; }

}  // namespace cameo::test
