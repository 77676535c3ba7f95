// The pool: see threads.h for how a chunk is claimed.
#include "runtime/threads.h"

#include "runtime/libc.h"

namespace rt {
namespace {

constexpr int kSpins =
    4000;  // some 50-150 us: longer than the steps between two parallel ones, shorter than a time slice
#if defined(__x86_64__)
constexpr long kFutex = 202;
void relax() { __builtin_ia32_pause(); }
#else
constexpr long kFutex = 98;
void relax() { __asm__ volatile("yield"); }
#endif
constexpr int kFutexWaitPrivate = 128, kFutexWakePrivate = 129, kBlock = 0, kSetMask = 2;

uint32_t next_of(uint64_t claim) { return static_cast<uint32_t>(claim); }
uint32_t chunks_of(uint64_t claim) { return static_cast<uint32_t>(claim >> 32); }
bool is_open(uint64_t claim) { return next_of(claim) < chunks_of(claim); }

// Of all chunks that fault the lowest one's fault stays, whichever thread comes first.
void keep_fault(Job& job, int32_t chunk, const Fault& fault) {
  while (__atomic_exchange_n(&job.keeping, 1, __ATOMIC_ACQUIRE)) relax();
  if (!job.call.fault->code || chunk < job.faulted_chunk) {
    job.faulted_chunk = chunk;
    *job.call.fault = fault;
  }
  __atomic_store_n(&job.keeping, 0, __ATOMIC_RELEASE);
}

}  // namespace

void publish(Job& job, int32_t chunks) {
  __atomic_store_n(&job.done, 0, __ATOMIC_RELAXED);
  __atomic_store_n(&job.claim, static_cast<uint64_t>(chunks) << 32, __ATOMIC_SEQ_CST);
}

void drain(Job& job, int32_t worker) {
  while (is_open(__atomic_load_n(&job.claim, __ATOMIC_ACQUIRE))) {
    const uint64_t claim = __atomic_fetch_add(&job.claim, 1, __ATOMIC_ACQ_REL);
    if (!is_open(claim)) return;
    RowCall call = job.call;  // stable: the step cannot end before this chunk has
    call.chunk = static_cast<int32_t>(next_of(claim));
    call.chunks = static_cast<int32_t>(chunks_of(claim));
    Fault fault = {};
    call.fault = &fault;
    call.scratch = job.scratch + static_cast<uint64_t>(worker) * job.scratch_stride;
    job.kernel(call);
    if (fault.code) keep_fault(job, call.chunk, fault);
    __atomic_fetch_add(&job.done, 1, __ATOMIC_RELEASE);
  }
}

void wait(Job& job, int32_t chunks) {
  for (int spins = 0; __atomic_load_n(&job.done, __ATOMIC_ACQUIRE) != static_cast<uint32_t>(chunks); ++spins) {
    if (spins < kSpins)
      relax();
    else
      libc::sched_yield();  // a thread with a chunk may have lost its core
  }
}

size_t Pool::bytes(int32_t threads) { return sizeof(Pool) + static_cast<size_t>(threads) * sizeof(Worker); }

Pool* Pool::create(void* memory, int32_t threads) {
  libc::memset(memory, 0, bytes(threads));
  Pool* pool = static_cast<Pool*>(memory);
  pool->owner_ = libc::getpid();
  pool->threads_ = 1;
  uint64_t all[16], old[16];
  libc::memset(all, 255, sizeof all);
  libc::pthread_sigmask(kBlock, all, old);  // the host's signals are not for these threads
  for (int32_t i = 1; i < threads; ++i) {
    Worker& worker = pool->workers()[i];
    worker.pool = pool;
    worker.index = i;
    if (libc::pthread_create(&worker.thread, nullptr, body, &worker) != 0) break;
    ++pool->threads_;
  }
  libc::pthread_sigmask(kSetMask, old, nullptr);
  if (pool->threads_ == threads) return pool;
  pool->destroy();
  return nullptr;
}

void Pool::destroy() {
  if (owner_ != libc::getpid()) return;
  __atomic_store_n(&ending_, 1, __ATOMIC_SEQ_CST);
  wake();
  for (int32_t i = 1; i < threads_; ++i) libc::pthread_join(workers()[i].thread, nullptr);
}

bool Pool::try_acquire() { return owner_ == libc::getpid() && __atomic_exchange_n(&busy_, 1, __ATOMIC_ACQUIRE) == 0; }

void Pool::release() { __atomic_store_n(&busy_, 0, __ATOMIC_RELEASE); }

void Pool::run(Kernel kernel, const RowCall& call, int32_t chunks, char* scratch, uint64_t scratch_stride) {
  job_.kernel = kernel;
  job_.call = call;
  job_.scratch = scratch;
  job_.scratch_stride = scratch_stride;
  publish(job_, chunks);
  if (__atomic_load_n(&parked_, __ATOMIC_SEQ_CST)) wake();
  drain(job_, 0);
  wait(job_, chunks);
}

void* Pool::body(void* argument) {
  Worker* worker = static_cast<Worker*>(argument);
  worker->pool->work(worker->index);
  return nullptr;
}

void Pool::work(int32_t worker) {
  while (!__atomic_load_n(&ending_, __ATOMIC_ACQUIRE)) {
    drain(job_, worker);
    bool open = false;
    for (int spins = 0; spins < kSpins && !open && __atomic_load_n(&busy_, __ATOMIC_RELAXED); ++spins) {
      relax();
      open = is_open(__atomic_load_n(&job_.claim, __ATOMIC_RELAXED));
    }
    if (!open) park();
  }
}

// Announces itself, then looks once more: a publisher that did not see `parked_` is seen here, and the other way round.
void Pool::park() {
  const uint32_t epoch = __atomic_load_n(&epoch_, __ATOMIC_SEQ_CST);
  __atomic_fetch_add(&parked_, 1, __ATOMIC_SEQ_CST);
  if (!is_open(__atomic_load_n(&job_.claim, __ATOMIC_SEQ_CST)) && !__atomic_load_n(&ending_, __ATOMIC_SEQ_CST))
    libc::syscall(kFutex, &epoch_, kFutexWaitPrivate, epoch, nullptr, nullptr, 0);
  __atomic_fetch_sub(&parked_, 1, __ATOMIC_SEQ_CST);
}

void Pool::wake() {
  __atomic_fetch_add(&epoch_, 1, __ATOMIC_SEQ_CST);
  libc::syscall(kFutex, &epoch_, kFutexWakePrivate, __INT_MAX__, nullptr, nullptr, 0);
}

int32_t usable_threads() {
  uint64_t mask[128] = {};  // 8,192 processors
  if (libc::sched_getaffinity(0, sizeof mask, mask) != 0) return 1;
  int32_t count = 0;
  for (uint64_t word : mask)
    for (; word; word &= word - 1) ++count;  // popcount would call libgcc
  return count > 0 ? count : 1;
}

}  // namespace rt
