// The tuner: measures what the rivals of a plan's choices are worth. A trial is a whole build in which every kernel
// takes its next rival at once; trial and base run in turn, and the time of each kernel is compared with what it takes
// in the base. So a kernel meets the caches as its neighbours leave them, and as many builds as a kernel has rivals try
// those of all. What builds, runs and knows the time is a Workshop.
#pragma once
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "cli/runnable.h"
#include "cli/statistics.h"
#include "optimizer/choose/lock.h"
#include "optimizer/choose/rivals.h"

namespace cameo {

struct StepTime {
  std::string kernel;
  std::vector<std::string> nodes;
  double ns = 0;  // of one run
};
using StepTimes = std::vector<StepTime>;

/// A build that obeys a lock.
struct Trial {
  std::string target;
  std::vector<Rivalry> claims, kernels;
  std::map<std::string, std::vector<std::string>> problems;  // of each kernel, by its symbol
  std::string choices;                                       // a lock's rows, all that were made
  Runnable artifact;
};

class Workshop {
 public:
  virtual ~Workshop() = default;
  virtual Trial build(const ChoiceLock& lock) = 0;  // throws what is wrong
  /// Sees how long a run takes, before any is timed.
  virtual void prepare(const Trial& first) = 0;
  virtual StepTimes time_steps(const Trial& trial) = 0;  // a mean of few runs, by a new process
  virtual double time_run(const Trial& trial) = 0;       // nanoseconds, their median, by a new process
  virtual double seconds() const = 0;                    // since it was opened
  virtual bool is_stopped() const { return false; }      // by the user
};

/// What measuring found out about one thing that was chosen.
struct Finding {
  Rivalry rivalry;
  double ns = 0;     // of a run, by the choice that it had: the least of all rounds
  double share = 0;  // of a run's time
  size_t tried = 0;  // the first ones of its rivals
  struct Better {
    Alternative way;
    double ns = 0;
  };
  std::optional<Better> better;
};

struct Tuned {
  std::string choices;  // a lock's rows, all of them
  std::vector<Finding> findings;
  std::vector<std::string> dropped;  // trials that failed, and why
  size_t trials = 0;
  bool interrupted = false;
  /// Of whole runs, where something was found to be better: by the choices that there were, and by the better ones.
  struct Verdict {
    double before_ns = 0, after_ns = 0;  // the least of the rounds
    RatioInterval ratio;                 // after to before
    size_t rounds = 0;
    bool is_kept = false;
  };
  std::optional<Verdict> verdict;
};

/// From the choices of `start` on, within a budget. Throws what keeps the first build from being made and timed.
Tuned tune(Workshop& workshop, const ChoiceLock& start, double budget_seconds);

}  // namespace cameo
