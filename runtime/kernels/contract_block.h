// contract on a GPU: a block has one tile of the output at a time. Its threads are NV * 16 columns by groups, which
// split the tile's rows, MR for each, or the terms of the sum, KG ways (for few rows), which meet in shared memory at
// the end, in order. The block brings A through shared memory, kStage terms at a time; B's panels are read as they
// stand, 16 neighbours by 16 threads. Each stage is summed by itself, so that an error grows with the number of stages.
#pragma once
#include "runtime/kernels/contract_operands.h"
#include "runtime/kernels/nest.h"

#if defined(RT_KERNEL)
namespace rt::detail {

template <int MR, int NV, int KG, int R, int S, class A, class B, class Epilogue>
struct BlockContraction {
  static constexpr int kColumns = NV * kPanel, kRowGroups = kBlockThreads / kColumns / KG, kRows = MR * kRowGroups;
  static constexpr int kStage = kBlockStage, kTerms = kStage / KG;  // of a thread
  static_assert(kColumns * kRowGroups * KG == kBlockThreads && kTerms * KG == kStage);
  using Memory = bare<decltype(*A::base)>;
  using T = value_in<Memory>;  // 16-bit floats are summed as f32

  Extents<R> outer;
  Extents<S> segments;
  i64 m, n, k, terms;
  A a;
  B b;
  Epilogue& epilogue;

  static RT_FN i64 own_column() { return thread() % kColumns; }
  static RT_FN int row_group() { return thread() / kColumns % kRowGroups; }
  static RT_FN int term_group() { return thread() / kColumns / kRowGroups; }

  RT_FN void stage(T (&to)[kStage][kRows], const Memory* from, i64 first, i64 rows) const {
    for (int i = thread(); i < kRows * kStage; i += threads()) {
      const i64 row = i / kStage, term = first + i % kStage;
      i64 s[S == 0 ? 1 : S];
      index_of<S>(term / k, segments, s);
      to[i % kStage][row] =
          row < rows && term < terms ? load(from, row * a.row_stride + a.segment.at(s) + term % k) : T{};
    }
  }
  template <int... I>
  RT_FN void add(Indices<int, I...>, T (&sum)[MR], const T* staged, T weight) const {
    if constexpr (MR % 4 == 0) {  // 16 bytes at a time
      struct __attribute__((aligned(16))) Rows {
        T of[MR];
      } const rows = *reinterpret_cast<const Rows*>(staged);
      (..., (sum[I] = fma(rows.of[I], weight, sum[I])));
    } else {
      (..., (sum[I] = fma(staged[I], weight, sum[I])));
    }
  }
  // The terms that stand in shared memory, `left` of them at most.
  template <int... I>
  RT_FN void add_stage(Indices<int, I...> rows, T (&total)[MR], const T (&staged)[kStage][kRows], const i64* index,
                       i64 col, i64 first) const {
    T sum[MR] = {};
    const int begin = term_group() * kTerms;
    if (first + kStage <= terms) {
#pragma unroll 4
      for (int t = begin; t < begin + kTerms; ++t)
        add(rows, sum, staged[t] + row_group() * MR, b.at(index, first + t, col, terms));
    } else {
      RT_ROLLED
      for (int t = begin; t < begin + kTerms && first + t < terms; ++t)
        add(rows, sum, staged[t] + row_group() * MR, b.at(index, first + t, col, terms));
    }
    (..., (total[I] += sum[I]));
  }
  // The first group of each column gets the sums of all, in the groups' order.
  template <int... I>
  RT_FN void meet(Indices<int, I...>, T (&total)[MR]) const {
    RT_SHARED T parts[MR][kBlockThreads];
    (..., (parts[I][thread()] = total[I]));
    barrier();
    if (term_group() == 0)
      for (int g = 1; g < KG; ++g) (..., (total[I] += parts[I][thread() + g * kColumns * kRowGroups]));
    barrier();
  }
  template <int... I>
  RT_FN void emit(Indices<int, I...>, const T (&sum)[MR], const i64* index, i64 row, i64 col) const {
    (..., (row + I < m ? store_element<R>(epilogue, index, sum[I], row + I, col) : void()));
  }
  RT_FN void tile(const i64* index, i64 row, i64 col) const {
    RT_SHARED __attribute__((aligned(16))) T staged[kStage][kRows];
    T total[MR] = {};
    RT_ROLLED
    for (i64 first = 0; first < terms; first += kStage) {
      stage(staged, a.base + a.outer.at(index) + row * a.row_stride, first, m - row);
      barrier();
      if (col < n) add_stage(indices<MR>{}, total, staged, index, col, first);
      barrier();
    }
    if constexpr (KG > 1) meet(indices<MR>{}, total);
    if (col < n && term_group() == 0) emit(indices<MR>{}, total, index, row + row_group() * MR, col);
  }
  RT_FN void run(const Call& call) const {
    const i64 row_tiles = round_up_div(m, kRows), column_tiles = round_up_div(n, kColumns);
    const i64 tiles = points_of<R>(outer) * column_tiles * row_tiles;
    for (i64 t = call.chunk; t < tiles; t += call.chunks) {
      i64 index[R == 0 ? 1 : R];
      index_of<R>(t / row_tiles / column_tiles, outer, index);
      tile(index, t % row_tiles * kRows, t / row_tiles % column_tiles * kColumns + own_column());
    }
  }
};

}  // namespace rt::detail
#endif
