// A program whose output is longer than the input that it may be bound to: present[b, n + 1] is past[b, n] with x[b, 1]
// behind it; total[b] is the sum of present[b] * mask. `kInPlace`: both may be one memory, with room behind them.
#pragma once

#include "tests/runtime/programs.h"

namespace programs {

enum GrowingPlace : int32_t { kGrowingBatch, kPast, kPastRoom, kPresentRoom, kPresent, kCopies, kGrowingPlaces };
inline void compute_growing(const Call& c) {
  int64_t* table = address<int64_t>(c, 0);
  table[kPresent] = table[kPast] + 1;
  table[kCopies] = table[kPastRoom] == 0;
}

// operands: past | present | sizes
inline void copy_past_kernel(const Call& c) {
  const int64_t *sizes = address<const int64_t>(c, 2), past = sizes[kPast];
  for (int64_t b = 0; b < sizes[kGrowingBatch]; ++b)
    for (int64_t i = 0; i < past; ++i)
      address<float>(c, 1)[b * (past + 1 + sizes[kPresentRoom]) + i] =
          address<const float>(c, 0)[b * (past + sizes[kPastRoom]) + i];
}
// operands: x, mask | present, total | sizes
inline void append_kernel(const Call& c) {
  const int64_t *sizes = address<const int64_t>(c, 4), past = sizes[kPast];
  for (int64_t b = 0; b < sizes[kGrowingBatch]; ++b) {
    float* row = address<float>(c, 2) + b * (past + 1 + sizes[kPresentRoom]);
    float& total = address<float>(c, 3)[b] = 0;
    row[past] = address<const float>(c, 0)[b];
    for (int64_t i = 0; i <= past; ++i) total += row[i] * address<const float>(c, 1)[i];
  }
}
inline const rt::Kernel kGrowingKernels[] = {copy_past_kernel, append_kernel};
inline const Ref kGrowingRefs[] = {{2, 0}, {5, 0}, {7, 0},                   // copy
                                   {3, 0}, {4, 0}, {5, 0}, {6, 0}, {7, 0}};  // append
inline const Row kGrowingRows[] = {{.kind = RowKind::Kernel, .target = 0, .refs = 0, .node = 0, .b = kCopies + 1},
                                   {.kind = RowKind::Kernel, .target = 1, .refs = 3, .node = 0},
                                   {.kind = RowKind::End}};
inline const Schedule kGrowingSchedule = {
    .rows = kGrowingRows, .row_count = 3, .refs = kGrowingRefs, .base_count = 8, .sizes_base = 7};
inline const rt::Append kGrowingAppends[] = {{0, 0, 1, kPastRoom, kPresentRoom}};
template <bool kInPlace>
inline const rt::Image kGrowingImages[] = {
    {"baseline", 0, kGrowingKernels, &kGrowingSchedule, nullptr, nullptr, kGrowingAppends, kInPlace}};

inline constexpr int64_t kMostGrowingBatch = 3, kMostPast = 5;
inline const int64_t kGrowingUnknown[] = {-1, -1}, kColumnOfX[] = {-1, 1}, kFromNone[] = {1, 0}, kFromOne[] = {1, 1},
                     kColumnMax[] = {kMostGrowingBatch, 1};
template <bool kIsOpen>
inline const int64_t kPastMax[] = {kMostGrowingBatch, kIsOpen ? -1 : kMostPast};
template <bool kIsOpen>
inline const int64_t kPresentMax[] = {kMostGrowingBatch, kIsOpen ? -1 : kMostPast + 1};
inline const int32_t kPastSizes[] = {kGrowingBatch, kPast}, kPresentSizes[] = {kGrowingBatch, kPresent},
                     kColumnSizes[] = {kGrowingBatch, -1};
inline const char *const kPastNames[] = {"batch", "past"}, *const kPresentNames[] = {"batch", "past + 1"};

template <bool kIsOpen>
inline const Io kGrowingInputs[] = {
    {"past", CAMEO_KIND_TENSOR, rt::kF32, 2, kGrowingUnknown, kFromNone, kPastMax<kIsOpen>, kPastSizes, kPastNames},
    {"x", CAMEO_KIND_TENSOR, rt::kF32, 2, kColumnOfX, kFromOne, kColumnMax, kColumnSizes, kPastNames},
    {"mask", CAMEO_KIND_TENSOR, rt::kF32, 1, kGrowingUnknown, kFromOne, kPresentMax<kIsOpen> + 1, kPresentSizes + 1,
     kPresentNames + 1}};
template <bool kIsOpen>
inline const Io kGrowingOutputs[] = {
    {"present", CAMEO_KIND_TENSOR, rt::kF32, 2, kGrowingUnknown, kFromOne, kPresentMax<kIsOpen>, kPresentSizes,
     kPresentNames},
    {"total", CAMEO_KIND_TENSOR, rt::kF32, 1, kGrowingUnknown, kFromOne, kColumnMax, kPresentSizes, kPresentNames}};
template <bool kIsOpen>
inline const rt::Symbol kGrowingSymbols[] = {{"batch", 1, kMostGrowingBatch},
                                             {"past", 0, kIsOpen ? -1 : kMostPast},
                                             {"room behind past", 0, -1, rt::kRoom},
                                             {"room behind past + 1", 0, -1, rt::kRoom}};
inline const uint32_t kGrowingNodeNames[] = {5};
inline const char* growing_names[1];
inline const rt::Node kGrowingNodes[] = {{0, 1, 0, 0, 0}};

template <bool kIsOpen, bool kInPlace = false>
inline const Program kGrowing = {
    .name = "growing",
    .manifest = "{}",
    .manifest_bytes = 2,
    .inputs = kGrowingInputs<kIsOpen>,
    .input_count = 3,
    .outputs = kGrowingOutputs<kIsOpen>,
    .output_count = 2,
    .nodes = kGrowingNodes,
    .node_count = 1,
    .node_names = kGrowingNodeNames,
    .named = growing_names,
    .text = "k000\0/Concat",
    .images = kGrowingImages<kInPlace>,
    .image_count = 1,
    .threads = 1,
    .symbols = kGrowingSymbols<kIsOpen>,
    .symbol_count = 4,
    .size_count = kGrowingPlaces,
    .sizing = &rt::sizing,
    .sizes = compute_growing,
};

}  // namespace programs
