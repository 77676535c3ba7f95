// Walks a program's rows for one run. All state of a run is an Execution, which a context owns; tables are constant.
#pragma once

#include "runtime/program.h"
#include "runtime/threads.h"

namespace rt {

struct LoopState {
  int64_t trip;
  int64_t counter;
};

struct Execution;

// What rows do where `bases` hold addresses of a memory that is not the CPU's. Work is queued; `wait`, `read` and
// `end_row` wait for it. What fails is a fault of the run, kDeviceFault, and kernels' faults come to light when
// something waits.
struct DeviceRows {
  void (*launch)(Execution& run, const Row& row);
  // Launches all rows of the graph that begins at `row` and returns the row behind them; `row` where none does.
  uint32_t (*launch_segment)(Execution& run, uint32_t row);
  void (*wait)(Execution& run);
  void (*copy)(Execution& run, void* to, const void* from, uint64_t bytes);
  void (*read)(Execution& run, void* to, const void* from, uint64_t bytes);  // to the CPU's memory
  void (*write)(Execution& run, void* to, int64_t value);
  void (*begin_row)(Execution& run);
  uint64_t (*end_row)(Execution& run);  // nanoseconds since begin_row
};
inline constexpr int32_t kDeviceFault = -1;

struct Execution {
  const Program* program = nullptr;
  const Schedule* schedule = nullptr;
  const Kernel* kernels = nullptr;
  void** bases = nullptr;
  const int64_t* sizes = nullptr;                           // the table of this run
  uint64_t fits = 0;                                        // how often it has been filled in
  void (*learn)(Execution& run, const Row& row) = nullptr;  // a Sizes row
  LoopState* loops = nullptr;
  StringHeap* strings = nullptr;
  bool turned = false;      // Call::turned
  char* scratch = nullptr;  // one piece a thread
  uint64_t scratch_stride = 0;
  Fault fault = {};
  int32_t cancelled = 0;  // set by other threads
  int32_t threads = 1;    // that parallel_for may use
  Pool* pool = nullptr;   // null for a run that stays on its own thread
  void (*parallel_for)(void* user, int32_t count, void (*body)(void*, int32_t), void* arg) = nullptr;
  void* parallel_user = nullptr;
  Job job;                             // of parallel_for
  const DeviceRows* device = nullptr;  // null: the CPU
  void* device_state = nullptr;
  ListHeap* lists = nullptr;  // of a program that has some

  bool observed = false;            // any of the next two
  uint64_t* nanoseconds = nullptr;  // by node
  uint64_t* executions = nullptr;   // likewise
  void (*tap)(void* user, const Tap& tap, const void* value) = nullptr;
  void* tap_user = nullptr;
};

inline uint64_t bytes_of(const Execution& run, const Row& row) {  // of a Copy or Advance, whose last ref has them
  const Ref* refs = run.schedule->refs + row.refs;
  return static_cast<uint64_t>(row.b ? run.sizes[row.b - 1] : number_in(refs[row.kind == RowKind::Copy ? 2 : 0]));
}

enum class Outcome { Done, Cancelled, Fault };

Outcome execute(Execution& run);  // bases of weights, arena, inputs and outputs are set
// To the CPU's memory, from where kernels wrote it: a GPU is waited for, and what failed until then is the run's fault.
void read_back(Execution& run, void* to, const void* from, uint64_t bytes);

uint64_t now_ns();

}  // namespace rt
