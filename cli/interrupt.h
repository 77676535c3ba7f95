// Ctrl-C: ends the program at once with 130, except while something is under way that must be undone first; that asks
// `interrupted` and ends by itself.
#pragma once

namespace cameo {

constexpr int kInterrupted = 130;

void watch_interrupts();
bool interrupted();

class DeferInterrupts {
 public:
  DeferInterrupts();
  ~DeferInterrupts();
  DeferInterrupts(const DeferInterrupts&) = delete;
  DeferInterrupts& operator=(const DeferInterrupts&) = delete;
};

}  // namespace cameo
