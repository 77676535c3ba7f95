// See peak.h. The same loop measures both: multiply-adds, one factor of which stays in a register where the arithmetic
// is to bound it, and comes from memory where the bytes are.
#include "runtime/program/peak.h"

#include "runtime/model.h"
#include "runtime/threads.h"

namespace rt::program {
namespace {

constexpr int64_t kSums =
    12;  // at once, each a vector: more than an FMA's latency in cycles times how many begin in one
constexpr int64_t kLargest = 64 << 20, kWalked = 32 << 20;  // bytes of all threads; that each walks

struct Walk {
  char* memory;
  int64_t vector_bytes, stride;  // bytes from one round of `kSums` vectors to the next; 0: nothing is read
  int64_t rounds, times;         // of a thread, whose part lies `rounds * stride` bytes behind the one before
};

#define RT_WALK(SUM, FACTOR)                                                                                     \
  asm volatile(                                                                                                  \
      "vzeroall\n"                                                                                               \
      "1:\n"                                                                                                     \
      ".irp n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11\n"                                                           \
      "vfmadd231ps " FACTOR ", " SUM "15, " SUM                                                                  \
      "\\n\n"                                                                                                    \
      ".endr\n"                                                                                                  \
      "add %2, %0\n"                                                                                             \
      "dec %1\n"                                                                                                 \
      "jnz 1b\n"                                                                                                 \
      "vzeroupper"                                                                                               \
      : "+r"(at), "+r"(rounds)                                                                                   \
      : "r"(walk.stride)                                                                                         \
      : "memory", "cc", "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", \
        "xmm11", "xmm15")

void walk_part(const RowCall& call) {
  const Walk& walk = *static_cast<const Walk*>(call.bases[0]);
  for (int64_t i = 0; i < walk.times; ++i) {
    int64_t rounds = walk.rounds;
    const char* at = walk.memory + call.chunk * rounds * walk.stride;
    if (walk.vector_bytes == 64 && walk.stride)
      RT_WALK("%%zmm", "64*\\n(%0)");
    else if (walk.vector_bytes == 64)
      RT_WALK("%%zmm", "%%zmm15");
    else if (walk.stride)
      RT_WALK("%%ymm", "32*\\n(%0)");
    else
      RT_WALK("%%ymm", "%%ymm15");
  }
}

// Bytes of one factor a nanosecond, of all threads; the best of a few.
double rate_of(const cameo_model& model, Walk& walk) {
  void* const bases[] = {&walk};
  const Kernel kernels[] = {walk_part};
  Row row = {};
  row.chunks = static_cast<uint16_t>(model.threads);
  Schedule schedule = {};
  schedule.rows = &row;
  const Stretch stretch = {&schedule, 0, row.chunks, kernels, bases, nullptr, nullptr, nullptr, 0};
  int64_t least = INT64_MAX;
  for (int i = 0; i < 4; ++i) {
    const uint64_t start = now_ns();
    model.pool ? model.pool->run(stretch) : walk_part(call_of(stretch, row));
    const int64_t ns = static_cast<int64_t>(now_ns() - start);
    if (ns < least) least = ns;
  }
  return static_cast<double>(model.threads * walk.rounds * walk.times * walk.vector_bytes * kSums) /
         static_cast<double>(least);
}

}  // namespace

Peak measure_peak(Tool& tool, const cameo_context& context) {
  const cameo_model& model = *context.model;
  const Image& image = *model.image;
  if (image.device || !(image.cpu_features & kFma) || (model.pool && !model.pool->try_acquire())) return {};
  const int64_t vector = image.cpu_features & kAvx512f ? 64 : 32, round = kSums * vector;
  const int64_t used = static_cast<int64_t>(model.program->weights_bytes + context.run.schedule->arena_bytes);
  const int64_t rounds = (used < kLargest ? used : kLargest) / model.threads / round + 1;
  const uint64_t bytes = static_cast<uint64_t>(model.threads * rounds * round);
  Walk walk = {static_cast<char*>(tool.arena.take(bytes)), vector, 0, 1 << 19, 1};
  libc::memset(walk.memory, 0, bytes);
  Peak peak;
  peak.flops = rate_of(model, walk) / 2;  // two of each 4 bytes
  walk.stride = round, walk.rounds = rounds, walk.times = kWalked / (rounds * round) + 1;
  peak.bytes = rate_of(model, walk);
  if (model.pool) model.pool->release();
  return peak;
}

}  // namespace rt::program
