// contract on tensor cores: both operands f16 or both bf16, their products, which f32 holds exactly, summed in f32. A
// block has one tile of Rows by NV * 16 outputs at a time, 2 by 2 warps a quarter each. Stages of kDepth terms of both
// operands come through shared memory, copied while the ones before are multiplied; what is not there (beyond the last
// row, column or term) is zero. Where all outer points share B, their rows are one matrix: a convolution's pixels. The
// sums go back through shared memory, so that the epilogue, one copy in a loop, has a row's columns by neighbours.
#pragma once
#include "runtime/kernels/contract_operands.h"
#include "runtime/kernels/nest.h"
#include "runtime/rt/tensor_core.h"

#if defined(RT_KERNEL)
namespace rt::detail {

template <int Rows, int NV, int R, int S, class A, class B, class Epilogue>
struct MmaContraction {
  using T = bare<decltype(*A::base)>;
  static constexpr int kColumns = NV * kPanel, kDepth = 32, kStages = 3, kRun = 8;  // a run: 16 bytes
  static constexpr int kWarpRows = Rows / 2, kWarpColumns = kColumns / 2, kM = kWarpRows / 16, kN = kWarpColumns / 8;
  static constexpr int kRunsOfDepth = kDepth / kRun, kOwnRows = Rows * kRunsOfDepth / kBlockThreads;
  // Rows in shared memory are a run longer than what they hold: 8 of them are then in different banks.
  static constexpr int kPitch = kDepth + kRun, kPitchOfColumns = kColumns + kRun;
  static constexpr int kOfA = Rows * kPitch;
  static constexpr int kOfB = kColumns * kPitch > kDepth* kPitchOfColumns ? kColumns* kPitch : kDepth* kPitchOfColumns;
  static constexpr int kOfSums = Rows * kPitchOfColumns * 2, kOfStages = kStages * (kOfA + kOfB);
  static_assert(kIsHalf<T> && kSame<T, bare<decltype(*B::base)>> && kM * 32 == Rows && kN * 16 == kColumns &&
                kN % 2 == 0 && kOwnRows >= 1);
  using Sum = f32 __attribute__((may_alias));

  Extents<R> outer;
  Extents<S> segments;
  i64 m, n, k, terms;
  A a;
  B b;
  Epilogue& epilogue;

  struct Fill {  // what a thread brings of each stage
    const T* rows[kOwnRows];
    i64 index[R == 0 ? 1 : R], col;
    bool runs_of_a, runs_of_b;
  };

  RT_FN i64 rows() const { return b.shared() ? points_of<R>(outer) * m : m; }
  RT_FN void index_of_row(i64 batch, i64 row, i64* index) const {
    index_of<R>(b.shared() ? row / m : batch, outer, index);
  }
  RT_FN i64 within_point(i64 row) const { return b.shared() ? row % m : row; }

  // ---- operands into shared memory
  RT_FN Fill fill_of(i64 batch, i64 row, i64 col) const {
    Fill f;
    RT_UNROLLED
    for (int i = 0; i < kOwnRows; ++i) {
      const i64 own = row + own_row(i);
      index_of_row(batch, own, f.index);
      f.rows[i] = own < rows() ? a.base + a.outer.at(f.index) + within_point(own) * a.row_stride : nullptr;
    }
    index_of_row(batch, 0, f.index);
    f.col = col;
    f.runs_of_a = a.has_runs(k);
    f.runs_of_b = b.has_runs();
    return f;
  }
  static RT_FN int own_row(int i) { return thread() / kRunsOfDepth + i * (kBlockThreads / kRunsOfDepth); }
  static RT_FN i32 bytes_of_run(i64 left) { return left <= 0 ? 0 : left < kRun ? static_cast<i32>(left) * 2 : 16; }
  RT_FN i64 offset_of_term(i64 term) const {
    i64 s[S == 0 ? 1 : S];
    index_of<S>(term / k, segments, s);
    return a.segment.at(s) + (S == 0 ? term : term % k);
  }

  RT_FN void fill_a(u16* to, const Fill& f, i64 first) const {
    const int run = thread() % kRunsOfDepth * kRun;
    const i64 term = first + run;
    RT_UNROLLED
    for (int i = 0; i < kOwnRows; ++i) {
      u16* const at = to + own_row(i) * kPitch + run;
      if (f.runs_of_a) {
        const i32 bytes = f.rows[i] ? bytes_of_run(terms - term) : 0;
        begin_copy<16>(at, bytes ? f.rows[i] + offset_of_term(term) : a.base, bytes);
      } else {
        RT_ROLLED
        for (int e = 0; e < kRun; ++e)
          at[e] = f.rows[i] && term + e < terms ? f.rows[i][offset_of_term(term + e)].bits : 0;
      }
    }
  }
  RT_FN void fill_b(u16* to, const Fill& f, i64 first) const {
    const bool along_k = b.runs_along_k();
    RT_UNROLLED
    for (int i = 0; i < kDepth * kColumns / kRun / kBlockThreads; ++i) {
      const int number = i * kBlockThreads + thread();
      // of columns: a panel's two runs of one term, then of the next
      const int t = along_k ? number % kRunsOfDepth * kRun : number / 2 % kDepth;
      const int c = along_k ? number / kRunsOfDepth : (number / 2 / kDepth * 2 + number % 2) * kRun;
      u16* const at = to + (along_k ? c * kPitch + t : t * kPitchOfColumns + c);
      const i64 term = first + t, col = f.col + c;
      if (f.runs_of_b) {
        const bool outside = along_k ? col >= n : term >= terms;
        const i32 bytes = outside ? 0 : bytes_of_run(along_k ? terms - term : b.columns(n) - col);
        begin_copy<16>(at, bytes ? b.address(f.index, term, col, terms) : b.base, bytes);
      } else {
        RT_ROLLED
        for (int e = 0; e < kRun; ++e) {
          const i64 own_term = along_k ? term + e : term, own_col = along_k ? col : col + e;
          at[e] = own_term < terms && own_col < n ? b.address(f.index, own_term, own_col, terms)->bits : 0;
        }
      }
    }
  }

  // ---- products
  static RT_FN int warp_row() { return thread() / kWarpThreads / 2 * kWarpRows; }
  static RT_FN int warp_column() { return thread() / kWarpThreads % 2 * kWarpColumns; }

  // `at`: of the warp's quarter; threads 8 i .. 8 i + 7 have the rows of matrix i.
  static RT_FN void load_a(u32 (&fragment)[4], const u16* staged, int row, int depth) {
    const int lane = thread() % kWarpThreads;
    load_matrices<4, false>(fragment, staged + (row + lane % 16) * kPitch + depth + lane / 16 * 8);
  }
  RT_FN void load_b(u32 (&two)[4], const u16* staged, int column, int depth) const {
    const int lane = thread() % kWarpThreads, down = lane / 16 * 8 + lane % 8, across = lane / 8 % 2 * 8;
    if (b.runs_along_k())
      load_matrices<4, false>(two, staged + (column + down) * kPitch + depth + across);
    else
      load_matrices<4, true>(two, staged + (depth + lane % 16) * kPitchOfColumns + column + lane / 16 * 8);
  }
  RT_FN void add_stage(f32 (&sum)[kM][kN][4], const u16* staged_a, const u16* staged_b) const {
    RT_UNROLLED
    for (int depth = 0; depth < kDepth; depth += 16) {
      u32 fragments[kM][4];
      RT_UNROLLED
      for (int i = 0; i < kM; ++i) load_a(fragments[i], staged_a, warp_row() + i * 16, depth);
      RT_UNROLLED
      for (int j = 0; j < kN; j += 2) {
        u32 two[4];
        load_b(two, staged_b, warp_column() + j * 8, depth);
        const u32 left[2] = {two[0], two[1]}, right[2] = {two[2], two[3]};
        RT_UNROLLED
        for (int i = 0; i < kM; ++i) {
          multiply<T>(sum[i][j], fragments[i], left);
          multiply<T>(sum[i][j + 1], fragments[i], right);
        }
      }
    }
  }

  // ---- sums out
  static RT_FN void put_sums(Sum* to, const f32 (&sum)[kM][kN][4]) {
    const int group = thread() % kWarpThreads / 4, within = thread() % 4;
    RT_UNROLLED
    for (int i = 0; i < kM; ++i) {
      RT_UNROLLED
      for (int j = 0; j < kN; ++j) {
        Sum* const at = to + (warp_row() + i * 16 + group) * kPitchOfColumns + warp_column() + j * 8 + within * 2;
        at[0] = sum[i][j][0], at[1] = sum[i][j][1];
        at[8 * kPitchOfColumns] = sum[i][j][2], at[8 * kPitchOfColumns + 1] = sum[i][j][3];
      }
    }
  }
  RT_FN void emit(const Sum* sums, i64 batch, i64 row, i64 col) const {
    const int own = thread() % kColumns;
    if (col + own >= n) return;
    RT_ROLLED
    for (int r = thread() / kColumns; r < Rows && row + r < rows(); r += kBlockThreads / kColumns) {
      i64 index[R == 0 ? 1 : R];
      index_of_row(batch, row + r, index);
      store_element<R>(epilogue, index, f32(sums[r * kPitchOfColumns + own]), within_point(row + r), col + own);
    }
  }

  RT_FN void tile(i64 batch, i64 row, i64 col) const {
    RT_SHARED __attribute__((aligned(16))) u16 memory[kOfStages > kOfSums ? kOfStages : kOfSums];
    const auto of_a = [&](i64 stage) RT_INLINE { return memory + stage % kStages * (kOfA + kOfB); };
    const Fill f = fill_of(batch, row, col);
    const auto fill = [&](i64 stage) RT_INLINE {
      if (stage * kDepth < terms) {
        fill_a(of_a(stage), f, stage * kDepth);
        fill_b(of_a(stage) + kOfA, f, stage * kDepth);
      }
      commit_copies();
    };
    f32 sum[kM][kN][4] = {};
    for (int s = 0; s < kStages - 1; ++s) fill(s);
    RT_ROLLED
    for (i64 s = 0; s * kDepth < terms; ++s) {
      wait_for_copies<kStages - 2>();
      barrier();
      fill(s + kStages - 1);
      add_stage(sum, of_a(s), of_a(s) + kOfA);
    }
    barrier();
    Sum* const sums = reinterpret_cast<Sum*>(memory);
    put_sums(sums, sum);
    barrier();
    emit(sums, batch, row, col);
    barrier();
  }
  RT_FN void run(const Call& call) const {
    const i64 row_tiles = round_up_div(rows(), Rows), column_tiles = round_up_div(n, kColumns);
    const i64 tiles = (b.shared() ? 1 : points_of<R>(outer)) * row_tiles * column_tiles;
    for (i64 t = call.chunk; t < tiles; t += call.chunks)
      tile(t / row_tiles / column_tiles, t % row_tiles * Rows, t / row_tiles % column_tiles * kColumns);
  }
};

}  // namespace rt::detail

namespace rt {

template <int Rows, int NV, int R, int S, class M, class N, class K, class A, class B, class Epilogue>
RT_FN void contract_mma(const Call& call, Extents<R> outer, Extents<S> segments, M m, N n, K k, A a, B b,
                        Epilogue epilogue) {
  detail::MmaContraction<Rows, NV, R, S, A, B, Epilogue>{outer, segments, m,       n, k, segments.points() * k,
                                                         a,     b,        epilogue}
      .run(call);
}

}  // namespace rt
#endif
