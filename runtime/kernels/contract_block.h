// contract on a GPU: a block has one tile of the output at a time, and the lanes of its vectors are the block's
// threads: thread t has column t and MR rows of it in registers. The block brings A through shared memory, kStage terms
// at a time; B's panels are read as they stand, 16 neighbours by 16 threads. The sum runs in the order of
// contract_naive.
#pragma once
#include "runtime/kernels/contract_operands.h"
#include "runtime/kernels/nest.h"

#if defined(RT_KERNEL)
namespace rt::detail {

template <int MR, int NV, int R, int S, class A, class B, class Epilogue>
struct BlockContraction {
  static constexpr int kStage = 32;
  static_assert(NV * kPanel <= kBlockThreads);
  using T = bare<decltype(*A::base)>;

  Extents<R> outer;
  Extents<S> segments;
  i64 m, n, k, terms;
  A a;
  B b;
  Epilogue& epilogue;

  RT_FN void stage(T (&to)[kStage][MR], const T* from, i64 first, i64 rows) const {
    for (int i = thread(); i < MR * kStage; i += threads()) {
      const i64 row = i / kStage, term = first + i % kStage;
      i64 s[S == 0 ? 1 : S];
      index_of<S>(term / k, segments, s);
      to[i % kStage][row] = row < rows && term < terms ? from[row * a.row_stride + a.segment.at(s) + term % k] : T{};
    }
  }
  template <int... I>
  RT_FN void add(Indices<int, I...>, T (&sum)[MR], const T (&staged)[MR], T weight) const {
    (..., (sum[I] = fma(staged[I], weight, sum[I])));
  }
  template <int... I>
  RT_FN void emit(Indices<int, I...>, const T (&sum)[MR], const i64* index, i64 row, i64 col) const {
    (..., (row + I < m ? store_element<R>(epilogue, index, sum[I], row + I, col) : void()));
  }
  RT_FN void tile(const i64* index, i64 row, i64 col) const {
    RT_SHARED T staged[kStage][MR];
    T sum[MR] = {};
    for (i64 first = 0; first < terms; first += kStage) {
      stage(staged, a.base + a.outer.at(index) + row * a.row_stride, first, m - row);
      barrier();
      for (int t = 0; col < n && t < kStage && first + t < terms; ++t)
        add(indices<MR>{}, sum, staged[t], b.at(index, first + t, col, terms));
      barrier();
    }
    if (col < n) emit(indices<MR>{}, sum, index, row, col);
  }
  RT_FN void run(const Call& call) const {
    const i64 row_tiles = round_up_div(m, MR), column_tiles = round_up_div(n, NV * kPanel);
    const i64 tiles = points_of<R>(outer) * column_tiles * row_tiles;
    for (i64 t = tiles * call.chunk / call.chunks; t < tiles * (call.chunk + 1) / call.chunks; ++t) {
      i64 index[R == 0 ? 1 : R];
      index_of<R>(t / row_tiles / column_tiles, outer, index);
      const i64 col = thread() < NV * kPanel ? t / row_tiles % column_tiles * NV * kPanel + thread() : n;
      tile(index, t % row_tiles * MR, col);
    }
  }
};

}  // namespace rt::detail
#endif
