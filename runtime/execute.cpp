// One function a kind of row; `next` returns the row to go on at. Between two of them: cancel and faults, nothing else.
#include "runtime/execute.h"

#include "runtime/libc.h"

namespace rt {
namespace {

char* at(const Execution& run, const Ref& ref) { return static_cast<char*>(run.bases[ref.base]) + ref.offset; }

template <class T>
T load(Execution& run, const Ref& ref) {
  T value = 0;
  const uint32_t sizes_base = run.schedule->sizes_base;  // on the host, whatever runs the rows
  if (sizes_base && ref.base == sizes_base)
    libc::memcpy(&value, at(run, ref), sizeof value);
  else
    read_back(run, &value, at(run, ref), sizeof value);
  return value;
}

void for_each_body(void* job, int32_t worker) { drain(*static_cast<Job*>(job), worker); }

void run_parallel(Execution& run, const Stretch& stretch) {
  if (run.pool) return run.pool->run(stretch);
  publish(run.job, stretch);
  const int32_t chunks = static_cast<int32_t>(stretch.chunks);
  run.parallel_for(run.parallel_user, chunks < run.threads ? chunks : run.threads, for_each_body, &run.job);
  drain(run.job, 0);  // a host that called fewer bodies than asked for
  wait(run.job);
}

void copy(Execution& run, char* to, const char* from, uint64_t bytes) {
  if (run.device) return run.device->copy(run, to, from, bytes);
  libc::memcpy(to, from, bytes);
}

void set_counter(Execution& run, const Ref& ref, int64_t counter) {
  if (run.device) return run.device->write(run, at(run, ref), counter);
  libc::memcpy(at(run, ref), &counter, sizeof counter);
}

// Whether a step of a device's plan is the host's to run; if so, all before it has ended.
bool comes_to_host(Execution& run, const Row& row) {
  if (!run.kernels || !run.kernels[row.target]) return run.device->launch(run, row), false;
  run.device->wait(run);
  return !run.fault.code;
}

void run_alone(Execution& run, uint32_t index, uint32_t chunks) {
  const Row& row = run.schedule->rows[index];
  RowCall call = {{&run.fault, run.scratch, 0, static_cast<int32_t>(chunks), run.lists, run.turned},
                  run.bases,
                  run.schedule->refs + row.refs,
                  run.strings};
  run.fault.row = index;
  for (int32_t place = 0; place < call.chunks; ++place) {
    call.chunk = run.turned ? call.chunks - 1 - place : place;
    call.again = place > 0;
    run.kernels[row.target](call);
  }
}

// This row, or with threads to share them the stretch that begins with it; the row behind. An observed run has rows by
// themselves.
uint32_t run_kernels(Execution& run, uint32_t begin) {
  const Row* rows = run.schedule->rows;
  if (run.device && !comes_to_host(run, rows[begin])) return begin + 1;
  const uint32_t chunks = chunks_of(rows[begin], run.sizes) + (rows[begin].order == Order::Follows);
  if (run.pool || run.parallel_for) {
    uint32_t end = begin + 1, all = chunks;
    if (!run.device && !run.observed)
      for (; rows[end].order != Order::Waits && all < kMostOfJob; ++end) all += chunks_of(rows[end], run.sizes);
    if (all > 1) {
      run_parallel(run, {run.schedule, begin, all, run.kernels, run.bases, run.sizes, &run.fault, run.scratch,
                         run.scratch_stride, run.strings, run.turned});
      return end;
    }
  }
  run_alone(run, begin, rows[begin].a ? 1 : chunks);
  return begin + 1;
}

uint32_t test_loop(Execution& run, uint32_t begin) {
  const Row& row = run.schedule->rows[begin];
  const Ref* ref = run.schedule->refs + row.refs + 1;
  const LoopState& loop = run.loops[row.a];
  run.turned = false;
  if (loop.counter >= loop.trip) return row.target;
  if (row.b & kConditionRef && !load<uint8_t>(run, *ref++)) return row.target;
  if (row.b & kCounterRef) set_counter(run, *ref, loop.counter);
  run.turned = loop.counter % 2;
  return begin + 1;
}

uint32_t begin_loop(Execution& run, uint32_t index) {
  const Row& row = run.schedule->rows[index];
  const Ref& trips = run.schedule->refs[row.refs];
  run.loops[row.a] = {row.b & kTripRef ? load<int64_t>(run, trips) : number_in(trips), 0};
  return test_loop(run, index);
}

uint32_t end_loop(Execution& run, uint32_t begin) {
  ++run.loops[run.schedule->rows[begin].a].counter;
  return test_loop(run, begin);
}

void swap_bases(Execution& run, const Row& row) {
  void* old = run.bases[row.a];
  run.bases[row.a] = run.bases[row.b];
  run.bases[row.b] = old;
}

void advance_base(Execution& run, const Row& row) {  // through integers: one past the last step may lie outside
  run.bases[row.a] = reinterpret_cast<void*>(reinterpret_cast<uint64_t>(run.bases[row.a]) + bytes_of(run, row));
}

// A part of the loop over rows: a call of it would take as long as some kernels.
[[gnu::always_inline]] inline uint32_t next(Execution& run, uint32_t index) {
  const Row& row = run.schedule->rows[index];
  const Ref* refs = run.schedule->refs + row.refs;
  switch (row.kind) {
    case RowKind::Kernel: return run_kernels(run, index);
    case RowKind::Jump: return row.target;
    case RowKind::JumpIfFalse:
      if (!load<uint8_t>(run, refs[0])) return row.target;
      break;
    case RowKind::LoopBegin: return begin_loop(run, index);
    case RowKind::LoopEnd: return end_loop(run, row.target);
    case RowKind::Swap: swap_bases(run, row); break;
    case RowKind::SetBase: run.bases[row.a] = at(run, refs[0]); break;
    case RowKind::Advance: advance_base(run, row); break;
    case RowKind::Copy: copy(run, at(run, refs[0]), at(run, refs[1]), bytes_of(run, row)); break;
    case RowKind::Sizes:
      run.fault.row = index;
      run.learn(run, row);
      break;
    case RowKind::End: break;
  }
  return index + 1;
}

[[gnu::cold]] void tap_row(Execution& run, uint32_t index) {
  const Schedule& schedule = *run.schedule;
  uint32_t low = 0, high = schedule.tap_count;
  while (low < high) {
    const uint32_t middle = (low + high) / 2;
    if (schedule.taps[middle].row < index)
      low = middle + 1;
    else
      high = middle;
  }
  for (; low < schedule.tap_count && schedule.taps[low].row == index; ++low)
    run.tap(run.tap_user, schedule.taps[low], at(run, schedule.refs[schedule.taps[low].ref]));
}

uint32_t next_unobserved(Execution& run, uint32_t index) {
  const uint32_t behind = run.device ? run.device->launch_segment(run, index) : index;
  return behind == index ? next(run, index) : behind;
}

[[gnu::cold]] uint32_t next_observed(Execution& run, uint32_t index) {
  if (run.device) run.device->begin_row(run);
  const uint64_t start = now_ns();
  const uint32_t result = next(run, index);
  const uint64_t ns = run.device ? run.device->end_row(run) : now_ns() - start;
  const uint32_t node = run.schedule->rows[index].node;
  if (run.nanoseconds && run.program->node_count) run.nanoseconds[node] += ns;
  if (run.executions && run.program->node_count) ++run.executions[node];
  if (run.tap && !__atomic_load_n(&run.fault.code, __ATOMIC_RELAXED)) tap_row(run, index);
  return result;
}

}  // namespace

void read_back(Execution& run, void* to, const void* from, uint64_t bytes) {
  if (run.device) return run.device->read(run, to, from, bytes);
  libc::memcpy(to, from, bytes);
}

uint64_t now_ns() {
  libc::Timespec time;
  libc::clock_gettime(libc::kMonotonic, &time);
  return static_cast<uint64_t>(time.seconds) * 1000000000u + static_cast<uint64_t>(time.nanoseconds);
}

Outcome execute(Execution& run) {
  for (uint32_t index = 0; run.schedule->rows[index].kind != RowKind::End;) {
    if (__atomic_load_n(&run.cancelled, __ATOMIC_RELAXED)) return Outcome::Cancelled;
    index = run.observed ? next_observed(run, index) : next_unobserved(run, index);
    if (__atomic_load_n(&run.fault.code, __ATOMIC_ACQUIRE)) return Outcome::Fault;
  }
  return Outcome::Done;
}

}  // namespace rt
