// clang and lld run in workers: this same program, started again, one job at a time in each and many after one another.
// Whatever ends a worker (a crash, a lack of memory, a limit) ends one job with a sentence and not the compiler;
// whatever ends the compiler ends its workers.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <variant>
#include <vector>

#include "codegen/build/assemble.h"
#include "codegen/build/compile.h"
#include "codegen/build/link.h"
#include "codegen/build/outcome.h"

namespace cameo {

// For tests of the machinery itself.
struct TrialJob {
  enum class Kind : uint8_t { kEcho, kCrash, kAbort, kExit, kHang, kFatalError, kExhaustMemory } kind = Kind::kEcho;
  std::string text;

  template <typename Archive>
  void fields(Archive& archive) {
    archive(kind, text);
  }
};

using Job = std::variant<CompileJob, LinkJob, AssembleJob, TrialJob>;

// Every main() begins with it: `if (auto code = run_worker_if_asked(argc, argv)) return *code;`
std::optional<int> run_worker_if_asked(int argc, char** argv);

// Called after each job and about every 100 ms; false stops the rest, whose outcomes then say so.
using Progress = std::function<bool(size_t done, size_t total)>;

struct WorkerLimits {
  int seconds_per_job = 0;        // 0: none
  uint64_t bytes_per_worker = 0;  // of address space; 0: none
};

class WorkerPool {
 public:
  // With 0 the jobs run in this process, one after another: for one that is itself expendable (a test's child).
  explicit WorkerPool(int parallelism, WorkerLimits limits = {});
  ~WorkerPool();
  WorkerPool(const WorkerPool&) = delete;
  WorkerPool& operator=(const WorkerPool&) = delete;

  // Outcomes in the order of the jobs. The thread that first runs jobs must outlive the pool: workers die with it.
  std::vector<Outcome> run(std::span<const Job> jobs, const Progress& progress = {});

 private:
  class Run;
  struct Worker;
  int parallelism_;
  WorkerLimits limits_;
  std::vector<std::unique_ptr<Worker>> idle_;
};

std::vector<Outcome> run_jobs(std::span<const Job> jobs, int parallelism, const Progress& progress = {});

}  // namespace cameo
