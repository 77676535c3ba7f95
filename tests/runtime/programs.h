// Programs written by hand, as the compiler would print them: small enough to know every answer.
#pragma once

#include <cstdint>
#include <vector>

#include "runtime/cameo.h"
#include "runtime/dtype.h"
#include "runtime/execute.h"

namespace programs {

using rt::address;
using Call = rt::RowCall;
using rt::Io;
using rt::Program;
using rt::Ref;
using rt::Row;
using rt::RowKind;
using rt::Schedule;

constexpr Io tensor(const char* name, uint32_t dtype, int32_t rank, const int64_t* dims,
                    const char* const* dim_names = nullptr) {
  return {name, CAMEO_KIND_TENSOR, dtype, rank, dims, nullptr, nullptr, nullptr, dim_names};
}

template <class T, uint32_t kCount>
constexpr uint32_t length(const T (&)[kCount]) {
  return kCount;
}

// ---- linear: y = relu(x * w + b), one chunk a row; then s = the sum of y, as an integer
inline const int64_t kX[] = {2, 3}, kY[] = {2, 4};
inline const char* const kXNames[] = {"batch", nullptr};
inline const Io kLinearInputs[] = {tensor("x", rt::kF32, 2, kX, kXNames)};
inline const Io kLinearOutputs[] = {tensor("y", rt::kF32, 2, kY), tensor("sum:0", rt::kI64, 0, nullptr)};
alignas(64) inline const float kLinearWeights[] = {1, 0, 2, -1, 0, 1, 1, -1, 3, 1, 0, -1, 0.5f, -1, 0, 0};  // w, then b

inline void linear_kernel(const Call& c) {
  const float *x = address<const float>(c, 0) + c.chunk * 3, *w = address<const float>(c, 1);
  const float* b = address<const float>(c, 2);
  float* y = address<float>(c, 3) + c.chunk * 4;
  for (int j = 0; j < 4; ++j) {
    float sum = b[j];
    for (int k = 0; k < 3; ++k) sum += x[k] * w[k * 4 + j];
    y[j] = sum > 0 ? sum : 0;
  }
}

inline void sum_kernel(const Call& c) {
  float sum = 0;
  for (int i = 0; i < 8; ++i) sum += address<const float>(c, 0)[i];
  *address<int64_t>(c, 1) = static_cast<int64_t>(sum);
}

inline const Ref kLinearRefs[] = {{2, 0}, {0, 0}, {0, 48}, {1, 64}, {4, 0}, {3, 0}, {1, 64}, {0, 32}};
inline const Row kLinearRows[] = {
    {.kind = RowKind::Kernel, .chunks = 2, .target = 0, .refs = 0, .node = 0},
    {.kind = RowKind::Copy, .refs = 5, .node = 0},
    {.kind = RowKind::Kernel, .chunks = 1, .target = 1, .refs = 3, .node = 1},
    {.kind = RowKind::End},
};
inline const rt::Kernel kLinearKernels[] = {linear_kernel, sum_kernel};
inline const uint32_t kLinearNames[] = {42, 51, 60};
inline const char* linear_names[3];
inline const rt::Node kLinearNodes[] = {{0, 2, 0, 48, 160}, {2, 1, 15, 8, 40}};
inline const rt::TapAxis kLinearTapAxes[] = {{2, 1}, {4, 2}};  // the tap takes what stands there for columns
inline const rt::Tap kLinearTaps[] = {{0, 3, 24, rt::kF32, 2, 0}};
inline const char kLinearText[] = "k000_gemm_relu\0k001_sum\0/fc/Relu_output_0\0/fc/Gemm\0/fc/Relu\0/sum";
inline const float kGoldenX[] = {1, 2, 3, -1, 0, 1}, kGoldenY[] = {10.5f, 4, 4, 0, 2.5f, 0, 0, 0};
inline const int64_t kGoldenSum = 21;
inline const void* const kGoldenIn[] = {kGoldenX};
inline const void* const kGoldenOut[] = {kGoldenY, &kGoldenSum};
inline const double kGoldenTolerances[] = {1e-6, 0};
inline const rt::Golden kLinearGoldens[] = {{"case_0", kGoldenIn, kGoldenOut, kGoldenTolerances}};
inline constexpr char kLinearManifest[] = R"({"schema":"cameo.manifest","version":1,"name":"linear"})";

inline constexpr Schedule kLinearSchedule = {
    .rows = kLinearRows,
    .row_count = length(kLinearRows),
    .refs = kLinearRefs,
    .taps = kLinearTaps,
    .tap_count = 1,
    .tap_axes = kLinearTapAxes,
    .base_count = 5,
    .arena_bytes = 96,
};
inline const rt::Image kLinearImages[] = {{"x86-64-v9", ~uint64_t{0}, nullptr, nullptr},
                                          {"baseline", 0, kLinearKernels, &kLinearSchedule}};

inline constexpr Program kLinear = {
    .name = "linear",
    .manifest = kLinearManifest,
    .manifest_bytes = sizeof kLinearManifest - 1,
    .inputs = kLinearInputs,
    .input_count = 1,
    .outputs = kLinearOutputs,
    .output_count = 2,
    .nodes = kLinearNodes,
    .node_count = 2,
    .node_names = kLinearNames,
    .named = linear_names,
    .text = kLinearText,
    .images = kLinearImages,
    .image_count = 2,
    .weights = kLinearWeights,
    .weights_bytes = sizeof kLinearWeights,
    .goldens = kLinearGoldens,
    .golden_count = 1,
    .threads = 0,
};

// ---- loops: v = x; n times: v = 2 * v + (the number of inner rounds, 3), while sum(v) < limit; scan[i] = v[0]; last =
// i bases: 2 n, 3 x, 4 limit | 5 y, 6 scan, 7 last | 8 read slot, 9 write slot, 10 scan slot arena: 0 v (16 B), 64 v'
// (16 B), 128 condition, 136 counter, 192 inner count
inline const int64_t kFour[] = {4}, kScan[] = {8};
inline const Io kLoopInputs[] = {tensor("n", rt::kI64, 0, nullptr), tensor("x", rt::kF32, 1, kFour),
                                 tensor("limit", rt::kF32, 0, nullptr)};
inline const Io kLoopOutputs[] = {tensor("y", rt::kF32, 1, kFour), tensor("scan", rt::kF32, 1, kScan),
                                  tensor("last", rt::kI64, 0, nullptr)};
inline std::vector<bool> turns;  // Call::turned of the next two, in the order of their calls
inline void zero_kernel(const Call& c) {
  *address<int64_t>(c, 0) = 0;
  turns.push_back(c.turned);
}
inline void count_kernel(const Call& c) {
  *address<int64_t>(c, 0) += 1;
  turns.push_back(c.turned);
}
inline void double_kernel(const Call& c) {  // write slot <- 2 * read slot + inner count
  for (int i = 0; i < 4; ++i)
    address<float>(c, 1)[i] = 2 * address<const float>(c, 0)[i] + static_cast<float>(*address<const int64_t>(c, 2));
}
inline void below_kernel(const Call& c) {
  float sum = 0;
  for (int i = 0; i < 4; ++i) sum += address<const float>(c, 0)[i];
  *address<bool>(c, 1) = sum < *address<const float>(c, 2);
}
inline const Ref kLoopRefs[] = {
    /* 0 SetBase */ {1, 0},
    {1, 64},
    {6, 0},
    /* 3 v <- x */ {8, 0},
    {3, 0},
    {0, 16},
    /* 6 loop: trip, condition, counter */ {2, 0},
    {1, 128},
    {1, 136},
    /* 9 inner count */ {1, 192},
    /* 10 double */ {8, 0},
    {9, 0},
    {1, 192},
    /* 13 below: write slot, condition, limit */ {9, 0},
    {1, 128},
    {4, 0},
    /* 16 scan */ {10, 0},
    {9, 0},
    {0, 4},
    /* 19 y <- read slot */ {5, 0},
    {8, 0},
    {0, 16},
    /* 22 last <- counter */ {7, 0},
    {1, 136},
    {0, 8},
    /* 25 below at first: read slot, condition, limit */ {8, 0},
    {1, 128},
    {4, 0},
    /* 28 counter = 0 */ {1, 136},
    /* 29 inner trips */ {0, 3},
    /* 30 of the scan's step */ {0, 4},
};
inline const Row kLoopRows[] = {
    /* 0 */ {.kind = RowKind::SetBase, .refs = 0, .a = 8},
    /* 1 */ {.kind = RowKind::SetBase, .refs = 1, .a = 9},
    /* 2 */ {.kind = RowKind::SetBase, .refs = 2, .a = 10},
    /* 3 */ {.kind = RowKind::Copy, .refs = 3},
    /* 4 */ {.kind = RowKind::Kernel, .target = 3, .refs = 25},
    /* 5 */ {.kind = RowKind::Kernel, .target = 0, .refs = 28},
    /* 6 */
    {.kind = RowKind::LoopBegin,
     .target = 17,
     .refs = 6,
     .a = 0,
     .b = rt::kTripRef | rt::kConditionRef | rt::kCounterRef},
    /* 7 */ {.kind = RowKind::Kernel, .target = 0, .refs = 9},
    /* 8 */ {.kind = RowKind::LoopBegin, .target = 11, .refs = 29, .a = 1},
    /* 9 */ {.kind = RowKind::Kernel, .target = 1, .refs = 9},
    /* 10 */ {.kind = RowKind::LoopEnd, .target = 8},
    /* 11 */ {.kind = RowKind::Kernel, .target = 2, .refs = 10},
    /* 12 */ {.kind = RowKind::Kernel, .target = 3, .refs = 13},
    /* 13 */ {.kind = RowKind::Copy, .refs = 16},
    /* 14 */ {.kind = RowKind::Advance, .refs = 30, .a = 10},
    /* 15 */ {.kind = RowKind::Swap, .a = 8, .b = 9},
    /* 16 */ {.kind = RowKind::LoopEnd, .target = 6},
    /* 17 */ {.kind = RowKind::Copy, .refs = 19},
    /* 18 */ {.kind = RowKind::Copy, .refs = 22},
    /* 19 */ {.kind = RowKind::End},
};
inline const rt::Kernel kLoopKernels[] = {zero_kernel, count_kernel, double_kernel, below_kernel};
inline constexpr Schedule kLoopSchedule = {
    .rows = kLoopRows,
    .row_count = length(kLoopRows),
    .refs = kLoopRefs,
    .base_count = 11,
    .loop_count = 2,
    .arena_bytes = 256,
};
inline const rt::Image kLoopImages[] = {{"baseline", 0, kLoopKernels, &kLoopSchedule}};

inline const Program kLoop = {
    .name = "loop",
    .manifest = "{}",
    .manifest_bytes = 2,
    .inputs = kLoopInputs,
    .input_count = 3,
    .outputs = kLoopOutputs,
    .output_count = 3,
    .nodes = nullptr,
    .node_count = 0,
    .text = "",
    .images = kLoopImages,
    .image_count = 1,
    .weights = nullptr,
    .weights_bytes = 0,
    .goldens = nullptr,
    .golden_count = 0,
    .threads = 1,
};

// ---- pick: out = table[index], which may be out of range; if flag, 1 is added. The step before spins until it is
// told.
inline const int64_t kTwo[] = {2};
inline const Io kPickInputs[] = {tensor("index", rt::kI64, 1, kTwo), tensor("flag", rt::kBool, 0, nullptr)};
inline const Io kPickOutputs[] = {tensor("out", rt::kF32, 1, kTwo)};
alignas(64) inline const float kTable[] = {10, 11, 12, 13, 14};
inline void pick_kernel(const Call& c) {
  const int64_t i = address<const int64_t>(c, 0)[c.chunk];
  if (i < -5 || i >= 5) return rt::raise_fault(c.fault, rt::kIndexFault, i, 5);
  address<float>(c, 1)[c.chunk] = kTable[i < 0 ? i + 5 : i];
}
inline void increment_kernel(const Call& c) {
  for (int i = 0; i < 2; ++i) address<float>(c, 0)[i] += 1;
}
inline const Ref kPickRefs[] = {{2, 0}, {4, 0}, {3, 0}};
inline const Row kPickRows[] = {
    {.kind = RowKind::Kernel, .chunks = 2, .target = 0, .refs = 0, .node = 0},
    {.kind = RowKind::JumpIfFalse, .target = 3, .refs = 2, .node = 1},
    {.kind = RowKind::Kernel, .chunks = 1, .target = 1, .refs = 1, .node = 1},
    {.kind = RowKind::End},
};
inline const rt::Kernel kPickKernels[] = {pick_kernel, increment_kernel};
inline const uint32_t kPickNames[] = {6, 19};
inline const char* pick_names[2];
inline const char kPickText[] = "k0\0k1\0gather\n\x1b[31m\0if";
inline const rt::Node kPickNodes[] = {{0, 1, 0, 0, 0}, {1, 1, 3, 0, 0}};
inline constexpr Schedule kPickSchedule = {
    .rows = kPickRows,
    .row_count = length(kPickRows),
    .refs = kPickRefs,
    .base_count = 5,
};
inline const rt::Image kPickImages[] = {{"baseline", 0, kPickKernels, &kPickSchedule}};

inline const Program kPick = {
    .name = "pick",
    .manifest = "{}",
    .manifest_bytes = 2,
    .inputs = kPickInputs,
    .input_count = 2,
    .outputs = kPickOutputs,
    .output_count = 1,
    .nodes = kPickNodes,
    .node_count = 2,
    .node_names = kPickNames,
    .named = pick_names,
    .text = kPickText,
    .images = kPickImages,
    .image_count = 1,
    .weights = nullptr,
    .weights_bytes = 0,
    .goldens = nullptr,
    .golden_count = 0,
    .threads = 2,
};

// ---- mix: many chunks over scratch, sums in an order that the plan fixes. Also a step of state: out = in + 1.
inline constexpr int kMixChunks = 97, kMixLength = 97 * 64;
inline const int64_t kMixDims[] = {kMixLength}, kOne[] = {1};
inline const Io kMixInputs[] = {tensor("x", rt::kF32, 1, kMixDims), tensor("past", rt::kF32, 1, kOne)};
inline const Io kMixOutputs[] = {tensor("total", rt::kF32, 1, kOne), tensor("present", rt::kF32, 1, kOne)};
inline void partial_kernel(const Call& c) {
  float* scratch = static_cast<float*>(c.scratch);
  for (int i = 0; i < 64; ++i) scratch[i] = address<const float>(c, 0)[c.chunk * 64 + i] * 1.1f;
  float sum = 0;
  for (int i = 0; i < 64; ++i) sum += scratch[i];
  address<float>(c, 1)[c.chunk] = sum;
}
inline void total_kernel(const Call& c) {
  float sum = 0;
  for (int i = 0; i < kMixChunks; ++i) sum += address<const float>(c, 0)[i];
  *address<float>(c, 1) = sum;
}
inline void step_kernel(const Call& c) { *address<float>(c, 1) = *address<const float>(c, 0) + 1; }
inline const Ref kMixRefs[] = {{2, 0}, {1, 0}, {1, 0}, {4, 0}, {3, 0}, {5, 0}};
inline const Row kMixRows[] = {
    {.kind = RowKind::Kernel, .chunks = kMixChunks, .target = 0, .refs = 0, .node = 0},
    {.kind = RowKind::Kernel, .chunks = 1, .target = 1, .refs = 2, .node = 0},
    {.kind = RowKind::Kernel, .chunks = 1, .target = 2, .refs = 4, .node = 0},
    {.kind = RowKind::End},
};
inline const rt::Kernel kMixKernels[] = {partial_kernel, total_kernel, step_kernel};
inline constexpr Schedule kMixSchedule = {
    .rows = kMixRows,
    .row_count = length(kMixRows),
    .refs = kMixRefs,
    .base_count = 6,
    .arena_bytes = kMixChunks * 4,
    .scratch_bytes = 256,
};
inline const rt::Image kMixImages[] = {{"baseline", 0, kMixKernels, &kMixSchedule}};

inline const Program kMix = {
    .name = "mix",
    .manifest = "{}",
    .manifest_bytes = 2,
    .inputs = kMixInputs,
    .input_count = 2,
    .outputs = kMixOutputs,
    .output_count = 2,
    .nodes = kPickNodes,
    .node_count = 1,
    .node_names = kPickNames,
    .named = pick_names,
    .text = kPickText,
    .images = kMixImages,
    .image_count = 1,
    .weights = nullptr,
    .weights_bytes = 0,
    .goldens = nullptr,
    .golden_count = 0,
    .threads = 0,
};

// ---- beside: one stretch. y, z = table[index of each], which may be out of range; sums = many of x
inline constexpr int kBesideChunks = 31;
inline const Io kBesideInputs[] = {tensor("index", rt::kI64, 1, kTwo), tensor("other", rt::kI64, 1, kTwo),
                                   tensor("x", rt::kF32, 1, kMixDims)};
inline const Io kBesideOutputs[] = {tensor("y", rt::kF32, 1, kTwo), tensor("z", rt::kF32, 1, kTwo),
                                    tensor("sums", rt::kF32, 1, kMixDims)};
inline const Ref kBesideRefs[] = {{2, 0}, {5, 0}, {4, 0}, {7, 0}, {3, 0}, {6, 0}};
inline const Row kBesideRows[] = {
    {.kind = RowKind::Kernel, .chunks = 2, .target = 0, .refs = 0, .node = 0},
    {.kind = RowKind::Kernel, .order = rt::Order::Beside, .chunks = kBesideChunks, .target = 1, .refs = 2, .node = 2},
    {.kind = RowKind::Kernel, .order = rt::Order::Beside, .chunks = 2, .target = 0, .refs = 4, .node = 1},
    {.kind = RowKind::End},
};
inline const rt::Kernel kBesideKernels[] = {pick_kernel, partial_kernel};
inline const uint32_t kBesideNames[] = {3, 9, 16};
inline const char* beside_names[3];
inline const rt::Node kBesideNodes[] = {{0, 1, 0, 0, 0}, {1, 1, 0, 0, 0}, {2, 1, 0, 0, 0}};
inline constexpr Schedule kBesideSchedule = {
    .rows = kBesideRows,
    .row_count = length(kBesideRows),
    .refs = kBesideRefs,
    .base_count = 8,
    .scratch_bytes = 256,
};
inline const rt::Image kBesideImages[] = {{"baseline", 0, kBesideKernels, &kBesideSchedule}};

inline const Program kBeside = {
    .name = "beside",
    .manifest = "{}",
    .manifest_bytes = 2,
    .inputs = kBesideInputs,
    .input_count = 3,
    .outputs = kBesideOutputs,
    .output_count = 3,
    .nodes = kBesideNodes,
    .node_count = 3,
    .node_names = kBesideNames,
    .named = beside_names,
    .text = "k0\0first\0second\0third",
    .images = kBesideImages,
    .image_count = 1,
    .weights = nullptr,
    .weights_bytes = 0,
    .goldens = nullptr,
    .golden_count = 0,
    .threads = 0,
};

// ---- meeting: two steps of one chunk, each of which waits for the other one, for a while
inline uint64_t meeting_ns = 0;  // how long they wait
inline int32_t meeting_here = 0, meeting_most = 0;
inline void meet_kernel(const Call&) {
  const int32_t here = __atomic_add_fetch(&meeting_here, 1, __ATOMIC_SEQ_CST);
  if (here > 1) __atomic_store_n(&meeting_most, here, __ATOMIC_SEQ_CST);
  for (uint64_t begun = rt::now_ns(); __atomic_load_n(&meeting_most, __ATOMIC_SEQ_CST) < 2;)
    if (rt::now_ns() - begun > meeting_ns) break;
  __atomic_sub_fetch(&meeting_here, 1, __ATOMIC_SEQ_CST);
}
inline const Row kMeetingRows[] = {
    {.kind = RowKind::Kernel}, {.kind = RowKind::Kernel, .order = rt::Order::Beside}, {.kind = RowKind::End}};
inline const rt::Kernel kMeetingKernels[] = {meet_kernel};
inline constexpr Schedule kMeetingSchedule = {
    .rows = kMeetingRows,
    .row_count = 3,
    .base_count = 2,
};
inline const rt::Image kMeetingImages[] = {{"baseline", 0, kMeetingKernels, &kMeetingSchedule}};

inline const Program kMeeting = {
    .name = "meeting",
    .manifest = "{}",
    .manifest_bytes = 2,
    .inputs = nullptr,
    .input_count = 0,
    .outputs = nullptr,
    .output_count = 0,
    .nodes = nullptr,
    .node_count = 0,
    .text = "",
    .images = kMeetingImages,
    .image_count = 1,
    .weights = nullptr,
    .weights_bytes = 0,
    .goldens = nullptr,
    .golden_count = 0,
    .threads = 0,
};

// ---- endless: goes round until it is cancelled
inline int32_t endless_rounds = 0;
inline void round_kernel(const Call&) { __atomic_fetch_add(&endless_rounds, 1, __ATOMIC_RELAXED); }
inline const Row kEndlessRows[] = {
    {.kind = RowKind::Kernel, .target = 0}, {.kind = RowKind::Jump, .target = 0}, {.kind = RowKind::End}};
inline const rt::Kernel kEndlessKernels[] = {round_kernel};
inline constexpr Schedule kEndlessSchedule = {
    .rows = kEndlessRows,
    .row_count = 3,
    .base_count = 2,
};
inline const rt::Image kEndlessImages[] = {{"baseline", 0, kEndlessKernels, &kEndlessSchedule}};

inline const Program kEndless = {
    .name = "endless",
    .manifest = "{}",
    .manifest_bytes = 2,
    .inputs = nullptr,
    .input_count = 0,
    .outputs = nullptr,
    .output_count = 0,
    .nodes = nullptr,
    .node_count = 0,
    .text = "",
    .images = kEndlessImages,
    .image_count = 1,
    .weights = nullptr,
    .weights_bytes = 0,
    .goldens = nullptr,
    .golden_count = 0,
    .threads = 1,
};

}  // namespace programs
