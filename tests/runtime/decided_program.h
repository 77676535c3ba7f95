// A program whose shapes are elements of inputs: y[shape[0], shape[1]] is full of `value` where `flag` is set, of 0
// elsewhere. `shape` is i64[2] and must not be negative, `value` is i32[], `flag` bool[].
#pragma once

#include "tests/runtime/programs.h"

namespace programs {

enum DecidedPlace : int32_t { kShape0, kShape1, kValue, kFlag, kFits, kElements, kDecidedBytes, kDecidedPlaces };
inline void compute_decided(const Call& c) {
  int64_t* table = address<int64_t>(c, 0);
  table[kFits] = table[kShape0] >= 0 && table[kShape1] >= 0;
  table[kElements] = table[kShape0] * table[kShape1];
  table[kDecidedBytes] = table[kElements] * 4;
}

inline void fill_kernel(const Call& c) {
  for (int64_t i = 0; i < rt::size_at(c, 1); ++i)
    address<float>(c, 0)[i] = rt::size_at(c, 3) ? static_cast<float>(rt::size_at(c, 2)) : 0;
}
inline const rt::Kernel kDecidedKernels[] = {fill_kernel};

// bases: 2 shape, 3 value, 4 flag | 5 y | 6 sizes
inline const Ref kDecidedRefs[] = {{5, 0}, {6, 8 * kElements}, {6, 8 * kValue}, {6, 8 * kFlag}};
inline const Row kDecidedRows[] = {{.kind = RowKind::Kernel, .target = 0, .refs = 0, .node = 0},
                                   {.kind = RowKind::End}};
inline const Schedule kDecidedSchedule = {
    .rows = kDecidedRows,
    .row_count = length(kDecidedRows),
    .refs = kDecidedRefs,
    .base_count = 7,
    .sizes_base = 6,
};
inline const rt::Image kDecidedImages[] = {{"baseline", 0, kDecidedKernels, &kDecidedSchedule}};

inline const int64_t kOpenDims[] = {-1, -1}, kLeast[] = {0, 0}, kNoMost[] = {-1, -1};
inline const int32_t kDecidedSizes[] = {kShape0, kShape1};
inline const char* const kDecidedNames[] = {"shape:0", "shape:1"};
inline const Io kDecidedInputs[] = {tensor("shape", rt::kI64, 1, kTwo), tensor("value", rt::kI32, 0, nullptr),
                                    tensor("flag", rt::kBool, 0, nullptr)};
inline const Io kDecidedOutputs[] = {
    {"y", CAMEO_KIND_TENSOR, rt::kF32, 2, kOpenDims, kLeast, kNoMost, kDecidedSizes, kDecidedNames}};
inline const rt::Symbol kDecidedSymbols[] = {{"shape:0", INT64_MIN, INT64_MAX, 0, 0},
                                             {"shape:1", INT64_MIN, INT64_MAX, 0, 1},
                                             {"value:0", INT32_MIN, INT32_MAX, 1, 0},
                                             {"flag:0", 0, 1, 2, 0}};
inline const rt::Requirement kDecidedRequirements[] = {{kFits, 0}};
inline const uint32_t kDecidedNodeNames[] = {5};
inline const char* decided_names[1];
inline const rt::Node kDecidedNodes[] = {{0, 1, 0, 0, 0}};

inline const Program kDecided = {
    .name = "decided",
    .manifest = "{}",
    .manifest_bytes = 2,
    .inputs = kDecidedInputs,
    .input_count = 3,
    .outputs = kDecidedOutputs,
    .output_count = 1,
    .nodes = kDecidedNodes,
    .node_count = 1,
    .node_names = kDecidedNodeNames,
    .named = decided_names,
    .text = "k000\0/Fill",
    .images = kDecidedImages,
    .image_count = 1,
    .threads = 0,
    .symbols = kDecidedSymbols,
    .symbol_count = 4,
    .size_count = kDecidedPlaces,
    .sizing = &rt::sizing,
    .sizes = compute_decided,
    .requirements = kDecidedRequirements,
    .requirement_count = 1,
};

}  // namespace programs
