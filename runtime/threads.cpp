// The pool: see threads.h for how a chunk is claimed. What no run waits for is cold: compiled to be small.
#include "runtime/threads.h"

#include "runtime/libc.h"

namespace rt {
namespace {

// Some 50 us together where a thread has its core to itself: longer than the rows between two parallel ones, and
// than a caller's pause between runs of a small model.
constexpr int kSpins = 1000, kYields = 100;
#if defined(__x86_64__)
constexpr long kFutex = 202;
void relax() { __builtin_ia32_pause(); }
#else
constexpr long kFutex = 98;
void relax() { __asm__ volatile("yield"); }
#endif
constexpr int kFutexWaitPrivate = 128, kFutexWakePrivate = 129, kBlock = 0, kSetMask = 2;
// SIGILL, SIGTRAP, SIGBUS, SIGFPE and SIGSEGV: where they are blocked, no handler of the host's hears of a fault.
constexpr uint64_t kFaults = 1u << 3 | 1u << 4 | 1u << 6 | 1u << 7 | 1u << 10;

// The `turn`th pause of a thread that waits: at first it spins, then it offers its core to others. The system may have
// put two threads of a run on one core, where each turn that one of them spins is lost to the other.
void pause(int turn) {
  if (turn < kSpins)
    relax();
  else
    libc::sched_yield();
}

// Of Job::claim: how many chunks are taken from the first on, how many from the last on, and, above these, all.
constexpr int kBits = 21;
constexpr uint64_t kOneFirst = 1, kOneLast = uint64_t{1} << kBits, kMask = kOneLast - 1;
static_assert(kMostOfJob < kMask / 2, "claims that came too late are counted, too");
uint32_t all_of(uint64_t claim) { return static_cast<uint32_t>(claim >> 2 * kBits); }
uint32_t first_of(uint64_t claim) { return static_cast<uint32_t>(claim & kMask); }
uint32_t last_of(uint64_t claim) { return static_cast<uint32_t>(claim >> kBits & kMask); }
bool is_open(uint64_t claim) { return first_of(claim) + last_of(claim) < all_of(claim); }
// The chunk at a place of the order in which a job's chunks are taken, from both ends. A round of a loop that goes
// backwards begins in the middle, with what either end's thread took last in the round before.
uint32_t chunk_at(uint32_t place, uint32_t chunks, bool turned) {
  const uint32_t half = chunks / 2;
  if (!turned) return place;
  return place < half ? half - 1 - place : chunks - 1 - (place - half);
}

// Of all chunks that fault the lowest one's fault stays, whichever thread comes first.
[[gnu::cold]] void keep_fault(Job& job, uint32_t chunk, const Fault& fault) {
  while (__atomic_exchange_n(&job.keeping, 1, __ATOMIC_ACQUIRE)) relax();
  if (!job.stretch->fault->code || chunk < job.faulted_chunk) {
    job.faulted_chunk = chunk;
    *job.stretch->fault = fault;
  }
  __atomic_store_n(&job.keeping, 0, __ATOMIC_RELEASE);
}

// The row that the chunk is of, or the last one that follows it; `last`: what this gave for this thread's chunk before.
uint32_t run_chunk(Job& job, uint32_t chunk, int32_t worker, uint32_t last) {
  const Stretch& stretch = *job.stretch;  // stable: the job cannot end before this chunk has
  const Row* rows = stretch.schedule->rows;
  uint32_t row = stretch.begin, of_row = chunk;
  for (uint32_t chunks; of_row >= (chunks = chunks_of(rows[row], stretch.sizes)); ++row) of_row -= chunks;
  Fault fault = {};
  RowCall call = call_of(stretch, rows[row]);
  call.chunk = static_cast<int32_t>(of_row);
  call.again = row == last;
  call.fault = &fault;
  call.scratch = stretch.scratch + static_cast<uint64_t>(worker) * stretch.scratch_stride;
  for (;;) {
    stretch.kernels[rows[row].target](call);
    if (fault.code || rows[row + 1].order != Order::Follows) break;
    call.refs = stretch.schedule->refs + rows[++row].refs;  // all of one chunk
  }
  fault.row = row;
  if (fault.code) keep_fault(job, chunk, fault);
  return row;
}

}  // namespace

RowCall call_of(const Stretch& stretch, const Row& row) {
  const Schedule& schedule = *stretch.schedule;
  const int32_t chunks = static_cast<int32_t>(chunks_of(row, stretch.sizes));
  return {{stretch.fault, stretch.scratch, 0, chunks, nullptr, stretch.turned},
          stretch.bases,
          schedule.refs + row.refs,
          stretch.strings};
}

void publish(Job& job, const Stretch& stretch) {
  job.stretch = &stretch;
  ++job.number;
  __atomic_store_n(&job.done, 0, __ATOMIC_RELAXED);
  __atomic_store_n(&job.claim, static_cast<uint64_t>(stretch.chunks) << 2 * kBits, __ATOMIC_SEQ_CST);
}

void drain(Job& job, int32_t worker) {
  const bool backwards = worker % 2;
  uint32_t row = ~0U;
  uint64_t number = 0;
  while (is_open(__atomic_load_n(&job.claim, __ATOMIC_ACQUIRE))) {
    const uint64_t claim = __atomic_fetch_add(&job.claim, backwards ? kOneLast : kOneFirst, __ATOMIC_ACQ_REL);
    if (!is_open(claim)) return;
    if (job.number != number) row = ~0U;  // the next job was published before this thread left the one before
    number = job.number;
    const uint32_t chunks = all_of(claim), place = backwards ? chunks - 1 - last_of(claim) : first_of(claim);
    row = run_chunk(job, chunk_at(place, chunks, job.stretch->turned), worker, row);
    __atomic_fetch_add(&job.done, 1, __ATOMIC_RELEASE);
  }
}

void wait(Job& job) {
  for (int turn = 0; __atomic_load_n(&job.done, __ATOMIC_ACQUIRE) != job.stretch->chunks; ++turn) pause(turn);
}

size_t Pool::bytes(int32_t threads) { return sizeof(Pool) + static_cast<size_t>(threads) * sizeof(Worker); }

[[gnu::cold]] Pool* Pool::create(void* memory, int32_t threads) {
  libc::memset(memory, 0, bytes(threads));
  Pool* pool = static_cast<Pool*>(memory);
  pool->owner_ = libc::getpid();
  pool->threads_ = 1;
  uint64_t blocked[16], old[16];
  libc::memset(blocked, 255, sizeof blocked);
  blocked[0] &= ~kFaults;
  libc::pthread_sigmask(kBlock, blocked, old);  // the host's signals are not for these threads
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

[[gnu::cold]] void Pool::destroy() {
  if (owner_ != libc::getpid()) return;
  __atomic_store_n(&ending_, 1, __ATOMIC_SEQ_CST);
  wake();
  for (int32_t i = 1; i < threads_; ++i) libc::pthread_join(workers()[i].thread, nullptr);
}

bool Pool::try_acquire() { return owner_ == libc::getpid() && __atomic_exchange_n(&busy_, 1, __ATOMIC_ACQUIRE) == 0; }

void Pool::release() { __atomic_store_n(&busy_, 0, __ATOMIC_RELEASE); }

void Pool::run(const Stretch& stretch) {
  publish(job_, stretch);
  if (__atomic_load_n(&parked_, __ATOMIC_SEQ_CST)) wake();
  drain(job_, 0);
  wait(job_);
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
    for (int turn = 0; turn < kSpins + kYields && !open; ++turn) {
      pause(turn);
      open = is_open(__atomic_load_n(&job_.claim, __ATOMIC_RELAXED));
    }
    if (!open) park();
  }
}

// Announces itself, then looks once more: a publisher that did not see `parked_` is seen here, and the other way round.
[[gnu::cold]] void Pool::park() {
  const uint32_t epoch = __atomic_load_n(&epoch_, __ATOMIC_SEQ_CST);
  __atomic_fetch_add(&parked_, 1, __ATOMIC_SEQ_CST);
  if (!is_open(__atomic_load_n(&job_.claim, __ATOMIC_SEQ_CST)) && !__atomic_load_n(&ending_, __ATOMIC_SEQ_CST))
    libc::syscall(kFutex, &epoch_, kFutexWaitPrivate, epoch, nullptr, nullptr, 0);
  __atomic_fetch_sub(&parked_, 1, __ATOMIC_SEQ_CST);
}

[[gnu::cold]] void Pool::wake() {
  __atomic_fetch_add(&epoch_, 1, __ATOMIC_SEQ_CST);
  libc::syscall(kFutex, &epoch_, kFutexWakePrivate, __INT_MAX__, nullptr, nullptr, 0);
}

[[gnu::cold]] int32_t usable_threads() {
  uint64_t mask[128] = {};  // 8,192 processors
  if (libc::sched_getaffinity(0, sizeof mask, mask) != 0) return 1;
  int32_t count = 0;
  for (uint64_t word : mask)
    for (; word; word &= word - 1) ++count;  // popcount would call libgcc
  return count > 0 ? count : 1;
}

}  // namespace rt
