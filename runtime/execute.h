// Walks a program's rows for one run. All state of a run is an Execution, which a context owns; tables are constant.
#pragma once

#include "runtime/program.h"
#include "runtime/threads.h"

namespace rt {

struct LoopState {
  int64_t trip;
  int64_t counter;
};

struct Execution {
  const Program* program = nullptr;
  const Schedule* schedule = nullptr;
  const Kernel* kernels = nullptr;
  void** bases = nullptr;
  LoopState* loops = nullptr;
  char* scratch = nullptr;  // one piece a thread
  uint64_t scratch_stride = 0;
  Fault fault = {};
  int32_t cancelled = 0;  // set by other threads
  int32_t threads = 1;    // that parallel_for may use
  Pool* pool = nullptr;   // null for a run that stays on its own thread
  void (*parallel_for)(void* user, int32_t count, void (*body)(void*, int32_t), void* arg) = nullptr;
  void* parallel_user = nullptr;
  Job job;  // of parallel_for

  bool observed = false;            // any of the next two
  uint64_t* nanoseconds = nullptr;  // by node
  void (*tap)(void* user, const Tap& tap, const void* value) = nullptr;
  void* tap_user = nullptr;
};

enum class Outcome { Done, Cancelled, Fault };

Outcome execute(Execution& run);  // bases of weights, arena, inputs and outputs are set

uint64_t now_ns();

}  // namespace rt
