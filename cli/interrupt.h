// Ctrl-C: ends the program at once with 130, except while something is under way that must be undone first; that asks
// `interrupted` and ends by itself. A second one always ends it at once.
#pragma once
#include <sys/types.h>

#include <string>

namespace cameo {

constexpr int kInterrupted = 130;

void watch_interrupts();
bool interrupted();
/// What an end at once writes to stdout, so that who waits for a document gets one.
void set_last_words(std::string document);
/// From here on stdout holds what the program ends with: an interrupt changes nothing any more.
void ignore_interrupts();
/// fork(); the child answers for both: an interrupt of this process alone is handed to it.
pid_t fork_to_answer();
/// fork(); this process answers for both: an interrupt ends the child without a word, and so does the end of this one.
pid_t fork_to_help();

class DeferInterrupts {
 public:
  DeferInterrupts();
  ~DeferInterrupts();
  DeferInterrupts(const DeferInterrupts&) = delete;
  DeferInterrupts& operator=(const DeferInterrupts&) = delete;
};

}  // namespace cameo
