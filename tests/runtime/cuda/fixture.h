// The hand-written programs with an image for a GPU, whose kernels stand in cuda/kernels.cpp, and the mock driver that
// runs it.
#pragma once

#include <fstream>
#include <initializer_list>
#include <sstream>
#include <string>

#include "runtime/cuda/card.h"
#include "tests/gpu/mock/mock.h"
#include "tests/runtime/decided_program.h"
#include "tests/runtime/harness.h"

namespace programs {

struct GpuKernel {
  const char* name;
  uint32_t operands;
};

enum class Images { Gpu, Both };

/// `text_bytes` of the program's text are in use. What a program points to lives as long as the process.
inline Program with_gpu(Program program, size_t text_bytes, const Schedule& schedule,
                        std::initializer_list<GpuKernel> kernels, Images images, rt::Mode mode = rt::Mode::Default) {
  std::stringstream library;
  library << std::ifstream(CAMEO_CUDA_KERNELS, std::ios::binary).rdbuf();
  const std::string& bytes = *new std::string(library.str());
  std::string& text = *new std::string(program.text, text_bytes);
  rt::DeviceEntry* entries = new rt::DeviceEntry[kernels.size()];
  uint32_t count = 0;
  for (const GpuKernel& k : kernels) {
    entries[count++] = {static_cast<uint32_t>(text.size()), k.operands};
    text += std::string(k.name) + '\0';
  }
  const auto* code = new rt::DeviceCode{"host", bytes.data(), bytes.size()};
  const auto* device = new rt::Device{&rt::cuda_driver, code, 1, entries, count, mode};
  program.text = text.data();
  program.images = new rt::Image[2]{{"cuda", 0, nullptr, &schedule, device}, program.images[program.image_count - 1]};
  program.image_count = images == Images::Both ? 2 : 1;
  return program;
}

inline const std::initializer_list<GpuKernel> kLinearGpu = {{"linear", 4}, {"sum", 2}};
inline const Program kGpuLinear = with_gpu(kLinear, sizeof kLinearText, kLinearSchedule, kLinearGpu, Images::Gpu);
inline const Program kBothLinear = with_gpu(kLinear, sizeof kLinearText, kLinearSchedule, kLinearGpu, Images::Both);
inline const Program kGpuLoop =
    with_gpu(kLoop, 1, kLoopSchedule, {{"zero", 1}, {"count", 1}, {"twice", 3}, {"below", 3}}, Images::Gpu);
inline const Program kGpuPick =
    with_gpu(kPick, sizeof kPickText, kPickSchedule, {{"pick", 2}, {"increment", 1}}, Images::Gpu);

// ---- step: present = past + 1
inline const Io kStepInputs[] = {tensor("past", rt::kF32, 1, kOne)};
inline const Io kStepOutputs[] = {tensor("present", rt::kF32, 1, kOne)};
inline const Ref kStepRefs[] = {{2, 0}, {3, 0}};
inline const Row kStepRows[] = {{.kind = RowKind::Kernel, .target = 0}, {.kind = RowKind::End}};
inline constexpr Schedule kStepSchedule = {.rows = kStepRows, .row_count = 2, .refs = kStepRefs, .base_count = 4};
inline const rt::Image kNoImages[1] = {};
inline const Program kStep = {.name = "step",
                              .inputs = kStepInputs,
                              .input_count = 1,
                              .outputs = kStepOutputs,
                              .output_count = 1,
                              .images = kNoImages,
                              .image_count = 1};
inline const Program kGpuStep = with_gpu(kStep, 1, kStepSchedule, {{"add_one", 2}}, Images::Gpu);
inline const Program kGpuStray = with_gpu(kStep, 1, kStepSchedule, {{"stray", 1}}, Images::Gpu);

// ---- mixed: present = -(past + 1) + 1, where the host takes the sign; it faults on 0
inline void negate_kernel(const Call& c) {
  const float x = *address<const float>(c, 0);
  if (x == 0) return rt::raise_fault(c.fault, rt::kValueFault, 0, 0);
  *address<float>(c, 1) = -x;
}
inline const Ref kMixedRefs[] = {{2, 0}, {1, 0},  {4, 64}, {1, 0}, {0, 4},  {4, 64},
                                 {4, 0}, {1, 64}, {4, 0},  {0, 4}, {1, 64}, {3, 0}};
inline const Row kMixedRows[] = {{.kind = RowKind::Kernel, .target = 0, .refs = 0},  {.kind = RowKind::Copy, .refs = 2},
                                 {.kind = RowKind::Kernel, .target = 1, .refs = 5},  {.kind = RowKind::Copy, .refs = 7},
                                 {.kind = RowKind::Kernel, .target = 0, .refs = 10}, {.kind = RowKind::End}};
inline constexpr Schedule kMixedSchedule = {.rows = kMixedRows,
                                            .row_count = 6,
                                            .refs = kMixedRefs,
                                            .base_count = 5,
                                            .arena_bytes = 128,
                                            .host_bytes = 128,
                                            .host_base = 4};
inline const rt::Kernel kMixedKernels[] = {nullptr, negate_kernel};
inline const Program kGpuMixed = [] {
  const Program p = with_gpu(kStep, 1, kMixedSchedule, {{"add_one", 2}, {"", 0}}, Images::Gpu);
  const_cast<rt::Image&>(p.images[0]).kernels = kMixedKernels;
  return p;
}();

// ---- as graphs: the loop; linear with a copy within the arena; past + 1 + 1, where every base is an input or output
inline constexpr rt::Mode kGraphs = rt::Mode::ReduceOverhead;
inline const Program kGraphLoop =
    with_gpu(kLoop, 1, kLoopSchedule, {{"zero", 1}, {"count", 1}, {"twice", 3}, {"below", 3}}, Images::Gpu, kGraphs);
inline const Ref kChainRefs[] = {{2, 0}, {0, 0},   {0, 48}, {1, 64}, {1, 128}, {1, 64},  {0, 32},
                                 {0, 0}, {1, 128}, {4, 0},  {0, 0},  {3, 0},   {1, 128}, {0, 32}};
inline const Row kChainRows[] = {{.kind = RowKind::Kernel, .chunks = 2, .target = 0, .refs = 0},
                                 {.kind = RowKind::Copy, .refs = 4},
                                 {.kind = RowKind::Kernel, .target = 1, .refs = 8, .node = 1},
                                 {.kind = RowKind::Copy, .refs = 11},
                                 {.kind = RowKind::End}};
inline constexpr Schedule kChainSchedule = {.rows = kChainRows,
                                            .row_count = 5,
                                            .refs = kChainRefs,
                                            .taps = kLinearTaps,
                                            .tap_count = 1,
                                            .tap_axes = kLinearTapAxes,
                                            .base_count = 5,
                                            .arena_bytes = 192};
inline const Program kGraphChain =
    with_gpu(kLinear, sizeof kLinearText, kChainSchedule, {{"linear", 4}, {"sum", 2}}, Images::Gpu, kGraphs);
inline const Ref kTwiceRefs[] = {{2, 0}, {1, 0}, {1, 0}, {3, 0}};
inline const Row kTwiceRows[] = {{.kind = RowKind::Kernel, .target = 0, .refs = 0},
                                 {.kind = RowKind::Kernel, .target = 0, .refs = 2},
                                 {.kind = RowKind::End}};
inline constexpr Schedule kTwiceSchedule = {
    .rows = kTwiceRows, .row_count = 3, .refs = kTwiceRefs, .base_count = 4, .arena_bytes = 64};
inline const Program kGraphStep = with_gpu(kStep, 1, kTwiceSchedule, {{"add_one", 2}}, Images::Gpu, kGraphs);
inline const Row kPickBothRows[] = {{.kind = RowKind::Kernel, .chunks = 2, .target = 0, .refs = 0, .node = 0},
                                    {.kind = RowKind::Kernel, .target = 1, .refs = 1, .node = 1},
                                    {.kind = RowKind::End}};
inline constexpr Schedule kPickBothSchedule = {
    .rows = kPickBothRows, .row_count = 3, .refs = kPickRefs, .base_count = 5};
inline const Program kGraphPick =
    with_gpu(kPick, sizeof kPickText, kPickBothSchedule, {{"pick", 2}, {"increment", 1}}, Images::Gpu, kGraphs);

// ---- decided, of 64 elements at most: filled in, copied and given out
inline const std::initializer_list<GpuKernel> kDecidedGpu = {{"fill", 4}};
inline const Program kGpuDecided = with_gpu(kDecided, sizeof "k000\0/Fill", kDecidedSchedule, kDecidedGpu, Images::Gpu);
inline const Ref kCopiedRefs[] = {
    {1, 0}, {6, 8 * kElements}, {6, 8 * kValue}, {6, 8 * kFlag}, {1, 256}, {1, 0}, {5, 0}, {1, 256}};
inline const Row kCopiedRows[] = {{.kind = RowKind::Kernel, .target = 0, .refs = 0, .b = kElements + 1},
                                  {.kind = RowKind::Copy, .refs = 4, .b = kDecidedBytes + 1},
                                  {.kind = RowKind::Copy, .refs = 6, .b = kDecidedBytes + 1},
                                  {.kind = RowKind::End}};
inline const Schedule kCopiedSchedule = {
    .rows = kCopiedRows, .row_count = 4, .refs = kCopiedRefs, .base_count = 7, .arena_bytes = 512, .sizes_base = 6};
inline const Program kGraphDecided =
    with_gpu(kDecided, sizeof "k000\0/Fill", kCopiedSchedule, kDecidedGpu, Images::Gpu, kGraphs);

/// Memory of the device, as a host that uses the driver itself would have it.
class DeviceMemory {
 public:
  explicit DeviceMemory(size_t bytes) {
    call<int32_t(void**, int32_t)>("cuDevicePrimaryCtxRetain", &primary_, 0);
    call<int32_t(void*)>("cuCtxPushCurrent", primary_);
    call<int32_t(void**, size_t)>("cuMemAlloc", &memory_, bytes);
    call<int32_t(void**, uint32_t)>("cuStreamCreate", &stream_, 0u);
  }
  DeviceMemory(const DeviceMemory&) = delete;
  ~DeviceMemory() {
    void* popped = nullptr;
    call<int32_t(void*)>("cuStreamDestroy", stream_);
    call<int32_t(void*)>("cuMemFree", memory_);
    call<int32_t(void**)>("cuCtxPopCurrent", &popped);
    call<int32_t(int32_t)>("cuDevicePrimaryCtxRelease", 0);
  }
  void write(const void* from, size_t bytes) {
    call<int32_t(void*, const void*, size_t)>("cuMemcpyHtoD", memory_, from, bytes);
  }
  void read(void* to, size_t bytes) {
    call<int32_t(void*, const void*, size_t, void*)>("cuMemcpyDtoHAsync", to, memory_, bytes, stream_);
  }
  void* get() const { return memory_; }
  void* stream() const { return stream_; }

 private:
  template <class F, class... A>
  static void call(const char* name, A... arguments) {
    EXPECT_EQ(reinterpret_cast<F*>(cameo::test::mock_entry(name))(arguments...), 0) << name;
  }
  void *primary_ = nullptr, *memory_ = nullptr, *stream_ = nullptr;
};

inline cameo_value on_gpu(cameo_value v, void* memory) {
  v.tensor.data = memory;
  v.tensor.device = {CAMEO_CUDA, 0};
  return v;
}

}  // namespace programs
