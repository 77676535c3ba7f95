// The kernels of tests/runtime/programs.h, sized_programs.h and decided_program.h with a GPU's frame.
#include "runtime/call.h"

using namespace rt;

RT_KERNEL linear(const float* x, const float* w, const float* b, float* y, Fault*) {
  const int j = thread();
  if (j >= 4) return;
  float sum = b[j];
  for (int k = 0; k < 3; ++k) sum += x[block() * 3 + k] * w[k * 4 + j];
  y[block() * 4 + j] = sum > 0 ? sum : 0;
}

RT_KERNEL sum(const float* y, int64_t* to, Fault*) {
  RT_SHARED float all[kBlockThreads];
  all[thread()] = thread() < 8 ? y[thread()] : 0;
  for (int half = kBlockThreads / 2; half; half /= 2) {
    barrier();
    if (thread() < half) all[thread()] += all[thread() + half];
  }
  if (thread() == 0) *to = static_cast<int64_t>(all[0]);
}

RT_KERNEL zero(int64_t* x, Fault*) {
  if (thread() == 0) *x = 0;
}
RT_KERNEL count(int64_t* x, Fault*) {
  if (thread() == 0) *x += 1;
}
RT_KERNEL twice(const float* from, float* to, const int64_t* inner, Fault*) {
  if (thread() < 4) to[thread()] = 2 * from[thread()] + static_cast<float>(*inner);
}
RT_KERNEL below(const float* x, bool* answer, const float* limit, Fault*) {
  if (thread() == 0) *answer = x[0] + x[1] + x[2] + x[3] < *limit;
}

RT_KERNEL pick(const int64_t* index, float* out, Fault* fault) {
  const Call call = block_call(fault);
  const int64_t i = index[call.chunk];
  if (thread()) return;
  if (i < -5 || i >= 5) return raise_fault(call.fault, kIndexFault, i, 5);
  out[call.chunk] = static_cast<float>(10 + (i < 0 ? i + 5 : i));
}
RT_KERNEL increment(float* out, Fault*) {
  if (thread() < 2) out[thread()] += 1;
}

RT_KERNEL columns(float* to, Fault*) {
  if (thread() == 0) to[block()] = static_cast<float>(block());
}
RT_KERNEL scale(const float* x, const float* bias, float* y, int64_t* rows, const int64_t n, Fault*) {
  for (int64_t i = thread(); i < n; i += kBlockThreads) y[block() * n + i] = 2 * x[block() * n + i] + bias[i];
  if (block() == 0 && thread() == 0) *rows = blocks();
}
RT_KERNEL mask(const float* y, const bool* kept, float* to, const int64_t count, Fault*) {
  for (int64_t i = thread(); i < count; i += kBlockThreads) to[i] = kept[i] ? y[i] : 0;
}

RT_KERNEL fill(float* y, const int64_t count, const int64_t value, const int64_t flag, Fault*) {
  for (int64_t i = thread(); i < count; i += kBlockThreads) y[i] = flag ? static_cast<float>(value) : 0;
}

RT_KERNEL add_one(const float* from, float* to, Fault*) {
  if (thread() == 0) *to = *from + 1;
}
RT_KERNEL stray(float*, Fault*) {
  if (thread() == 0) barrier();
}
