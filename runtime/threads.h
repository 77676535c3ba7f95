// A pool of threads for the chunks of one job at a time: a row, or a stretch of rows that wait for nothing of each
// other. One atomic word holds how many chunks there are and how many are taken: a thread claims a chunk by adding to
// it, and a claim is good or not by what the addition returned, so a late thread can do no harm. Every other thread
// takes chunks from the last one on: where two share a job, each finds in its cache what it wrote in the job before.
// Idle threads spin for a while, then offer their core to others, then park on a futex. No lock, no allocation in use.
#pragma once

#include "runtime/program.h"

namespace rt {

// Kernel rows, one behind the other in the table; their chunks are counted through.
struct Stretch {
  const Schedule* schedule;
  uint32_t begin;   // the first row
  uint32_t chunks;  // of all rows
  const Kernel* kernels;
  void* const* bases;
  const int64_t* sizes;  // the table of the run
  Fault* fault;          // of the whole run
  char* scratch;         // one piece a thread
  uint64_t scratch_stride;
  StringHeap* strings = nullptr;
  bool turned = false;  // Call::turned
};
// How many of a Kernel row's chunks there are in a run.
inline uint32_t chunks_of(const Row& row, const int64_t* sizes) {
  return __builtin_expect(row.b != 0, 0) ? static_cast<uint32_t>(sizes[row.b - 1]) : row.chunks;
}
// Everything but which chunk it is.
RowCall call_of(const Stretch& stretch, const Row& row);

inline constexpr uint32_t kMostOfJob =
    1 << 19;  // chunks, from which on no row joins; a row has fewer, and so have the strips of a group

struct Job {
  alignas(64) uint64_t claim = 0;  // threads.cpp has its parts
  alignas(64) uint32_t done = 0;
  alignas(64) const Stretch* stretch = nullptr;
  uint64_t number = 0;         // of all that were published
  uint32_t keeping = 0;        // a thread is in keep_fault
  uint32_t faulted_chunk = 0;  // of the fault that stretch->fault holds
};

void publish(Job& job, const Stretch& stretch);  // which stays until all has ended
void drain(Job& job, int32_t worker);            // runs chunks until none is left to claim
void wait(Job& job);                             // until all have ended

class Pool {
 public:
  static size_t bytes(int32_t threads);
  static Pool* create(void* memory, int32_t threads);  // null: a thread could not be started
  void destroy();                                      // ends the threads; the memory is the caller's

  int32_t threads() const { return threads_; }
  bool try_acquire();  // false: busy, or this is a forked child, which has no threads
  void release();
  void run(const Stretch& stretch);

 private:
  struct Worker {
    Pool* pool;
    int32_t index;
    unsigned long thread;
  };
  static void* body(void* worker);
  void work(int32_t worker);
  void park();
  void wake();
  Worker* workers() { return reinterpret_cast<Worker*>(this + 1); }

  Job job_;
  alignas(64) uint32_t busy_ = 0;   // a run holds the pool
  alignas(64) uint32_t epoch_ = 0;  // the futex: changes with every wake
  alignas(64) uint32_t parked_ = 0;
  uint32_t ending_ = 0;
  int32_t threads_ = 1;
  int32_t owner_ = 0;  // the process that has the threads
};

int32_t usable_threads();

}  // namespace rt
