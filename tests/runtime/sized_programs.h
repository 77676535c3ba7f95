// Programs whose runs have sizes of their own: y[b, n] = 2 * x[b, n] + bias[n]; flat[b * n] = y where `mask` is set;
// columns[n] = 0, 1, ..; rows = b. `kBounded` has its values in the arena, `kOpenSized` in a block, for n has no bound.
#pragma once

#include "tests/runtime/programs.h"

namespace programs {

enum SizedPlace : int32_t { kBatch, kColumns, kBatchColumns, kBytes, kSizedPlaces };
inline void compute_sized(const Call& c) {
  int64_t* table = address<int64_t>(c, 0);
  table[kBatchColumns] = table[kBatch] * table[kColumns];
  table[kBytes] = table[kBatchColumns] * 4;
}

inline void columns_kernel(const Call& c) { address<float>(c, 0)[c.chunk] = static_cast<float>(c.chunk); }
inline void scale_kernel(const Call& c) {  // a chunk is a row
  const int64_t columns = rt::size_at(c, 4);
  const float *x = address<const float>(c, 0) + c.chunk * columns, *bias = address<const float>(c, 1);
  float* y = address<float>(c, 2) + c.chunk * columns;
  for (int64_t i = 0; i < columns; ++i) y[i] = 2 * x[i] + bias[i];
  if (c.chunk == 0) *address<int64_t>(c, 3) = c.chunks;
}
inline void mask_kernel(const Call& c) {
  for (int64_t i = 0; i < rt::size_at(c, 3); ++i)
    address<float>(c, 2)[i] = address<const bool>(c, 1)[i] ? address<const float>(c, 0)[i] : 0;
}
inline const rt::Kernel kSizedKernels[] = {columns_kernel, scale_kernel, mask_kernel};

// bases: 2 x, 3 bias, 4 mask | 5 y, 6 flat, 7 columns, 8 rows | 9 sizes, 10 the block
template <uint32_t kValues>  // the base of values between the steps
inline const Ref kSizedRefs[] = {
    /* 0 columns */ {7, 0},
    /* 1 scale */ {2, 0},       {3, 0},       {kValues, 0}, {8, 0},
    {9, 8 * kColumns},
    /* 6 y <- values */ {5, 0}, {kValues, 0},
    /* 8 mask */ {kValues, 0},  {4, 0},       {6, 0},       {9, 8 * kBatchColumns},
};
inline const Row kSizedRows[] = {
    {.kind = RowKind::Kernel, .target = 0, .refs = 0, .node = 0, .b = kColumns + 1},
    {.kind = RowKind::Kernel, .order = rt::Order::Beside, .target = 1, .refs = 1, .node = 0, .b = kBatch + 1},
    {.kind = RowKind::Copy, .refs = 6, .node = 0, .b = kBytes + 1},
    {.kind = RowKind::Kernel, .target = 2, .refs = 8, .node = 0},
    {.kind = RowKind::End},
};
inline const rt::TapAxis kSizedTapAxes[] = {{~kBatch, ~kColumns}, {~kColumns, 1}};
inline const rt::Tap kSizedTaps[] = {{1, 3, 5, rt::kF32, 2, 0}};
inline const rt::Block kSizedBlocks[] = {{10, kBytes}};
inline constexpr int64_t kMostBatch = 4, kMostColumns = 5;
template <bool kIsOpen>
inline const Schedule kSizedSchedule = {
    .rows = kSizedRows,
    .row_count = length(kSizedRows),
    .refs = kSizedRefs < kIsOpen ? 10 : 1 >,
    .taps = kSizedTaps,
    .tap_count = 1,
    .tap_axes = kSizedTapAxes,
    .base_count = 11,
    .arena_bytes = kIsOpen ? 0 : 128,
    .sizes_base = 9,
    .blocks = kIsOpen ? kSizedBlocks : nullptr,
    .block_count = kIsOpen ? 1 : 0,
};
template <bool kIsOpen>
inline const rt::Image kSizedImages[] = {{"baseline", 0, kSizedKernels, &kSizedSchedule<kIsOpen>}};

inline const int64_t kUnknownDims[] = {-1, -1};
inline const int32_t kBatchColumnsSizes[] = {kBatch, kColumns}, kColumnsSizes[] = {kColumns},
                     kFlatSizes[] = {kBatchColumns};
inline const char* const kBatchColumnsNames[] = {"batch", "n"};
inline const char* const kColumnsNames[] = {"n"};
inline const char* const kFlatNames[] = {"batch*n"};
inline const int64_t kSizedMin[] = {1, 0}, kZero[] = {0};
template <bool kIsOpen>
inline const int64_t kSizedMax[] = {kMostBatch, kIsOpen ? -1 : kMostColumns};
template <bool kIsOpen>
inline const int64_t kFlatMax[] = {kIsOpen ? -1 : kMostBatch * kMostColumns};

template <bool kIsOpen>
constexpr Io matrix(const char* name) {
  return {name,
          CAMEO_KIND_TENSOR,
          rt::kF32,
          2,
          kUnknownDims,
          kSizedMin,
          kSizedMax<kIsOpen>,
          kBatchColumnsSizes,
          kBatchColumnsNames};
}
template <bool kIsOpen>
constexpr Io row_of_columns(const char* name) {
  return {name,          CAMEO_KIND_TENSOR, rt::kF32, 1, kUnknownDims, kZero, kSizedMax<kIsOpen> + 1,
          kColumnsSizes, kColumnsNames};
}
template <bool kIsOpen>
constexpr Io flattened(const char* name, uint32_t dtype) {
  return {name, CAMEO_KIND_TENSOR, dtype, 1, kUnknownDims, kZero, kFlatMax<kIsOpen>, kFlatSizes, kFlatNames};
}
template <bool kIsOpen>
inline const Io kSizedInputs[] = {matrix<kIsOpen>("x"), row_of_columns<kIsOpen>("bias"),
                                  flattened<kIsOpen>("mask", rt::kBool)};
template <bool kIsOpen>
inline const Io kSizedOutputs[] = {matrix<kIsOpen>("y"), flattened<kIsOpen>("flat", rt::kF32),
                                   row_of_columns<kIsOpen>("columns"), tensor("rows", rt::kI64, 0, nullptr)};
template <bool kIsOpen>
inline const rt::Symbol kSizedSymbols[] = {{"batch", 1, kMostBatch}, {"n", 0, kIsOpen ? -1 : kMostColumns}};

inline const float kSizedX[] = {1, 2, 3, 4, 5, 6}, kSizedBias[] = {0.5f, 0, -1}, kSizedY[] = {2.5f, 4, 5, 8.5f, 10, 11},
                   kSizedFlat[] = {2.5f, 0, 5, 0, 10, 11}, kSizedColumns[] = {0, 1, 2};
inline const bool kSizedMask[] = {true, false, true, false, true, true};
inline const int64_t kSizedRowCount = 2, kSizedSizes[] = {2, 3};
inline const void* const kSizedIn[] = {kSizedX, kSizedBias, kSizedMask};
inline const void* const kSizedOut[] = {kSizedY, kSizedFlat, kSizedColumns, &kSizedRowCount};
inline const rt::Golden kSizedGoldens[] = {{"case_0", kSizedIn, kSizedOut, nullptr, kSizedSizes}};
inline const uint32_t kSizedNodeNames[] = {13};
inline const char* sized_names[1];
inline const rt::Node kSizedNodes[] = {{0, 1, 0, 0, 0}};

template <bool kIsOpen>
inline const Program kSized = {
    .name = "sized",
    .manifest = "{}",
    .manifest_bytes = 2,
    .inputs = kSizedInputs<kIsOpen>,
    .input_count = 3,
    .outputs = kSizedOutputs<kIsOpen>,
    .output_count = 4,
    .nodes = kSizedNodes,
    .node_count = 1,
    .node_names = kSizedNodeNames,
    .named = sized_names,
    .text = "k000\0/values\0/Gemm",
    .images = kSizedImages<kIsOpen>,
    .image_count = 1,
    .goldens = kSizedGoldens,
    .golden_count = 1,
    .threads = 0,
    .symbols = kSizedSymbols<kIsOpen>,
    .symbol_count = 2,
    .size_count = kSizedPlaces,
    .sizing = &rt::sizing,
    .sizes = compute_sized,
};
inline const Program& kBounded = kSized<false>;
inline const Program& kOpenSized = kSized<true>;

}  // namespace programs
