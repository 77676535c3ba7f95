// contract with both operands in shared memory, for tiles of a GPU's block that are large both ways. Stages of 64 bytes
// of k come there, copied while the ones before are multiplied; what is not there (beyond the last row, column or term)
// is zero. f16 and bf16 are multiplied by tensor cores, 2 by 2 warps a quarter of the tile each: f32 holds a product
// exactly, and one sum takes all of them. f32 is multiplied by threads, each of which has a tile in registers, in
// blocks of kSumBlock terms that are summed by themselves. Where all outer points share B, their rows are one matrix: a
// convolution's pixels. The sums go back through shared memory, so that the epilogue, one copy in a loop, has a row's
// columns by neighbours.
#pragma once
#include "runtime/kernels/contract_operands.h"
#include "runtime/kernels/nest.h"
#include "runtime/rt/tensor_core.h"

#if defined(RT_KERNEL)
namespace rt::detail {

// What both have of a stage: rows in shared memory are a run, 16 bytes, longer than what they hold, so that 8 of them
// are in different banks. B's rows are terms, or columns where it has its terms together.
template <class T, int Rows, int NV>
struct Staged {
  static constexpr int kRun = 16 / sizeof(T), kDepth = kStageBytes / sizeof(T), kColumns = NV * kPanel;
  static constexpr int kPitch = kDepth + kRun, kPitchOfColumns = kColumns + kRun;
  static constexpr int kPitchOfSums = kColumns + 8;
};
using Sum = f32 __attribute__((may_alias));

template <class T, int Rows, int NV>
struct WarpProducts : Staged<T, Rows, NV> {
  using Staged<T, Rows, NV>::kDepth, Staged<T, Rows, NV>::kPitch, Staged<T, Rows, NV>::kPitchOfColumns;
  static constexpr int kWarpRows = Rows / 2, kWarpColumns = NV * kPanel / 2, kM = kWarpRows / 16, kN = kWarpColumns / 8;
  static_assert(kM * 32 == Rows && kN % 2 == 0);
  f32 sum[kM][kN][4] = {};

  static RT_FN int warp_row() { return thread() / kWarpThreads / 2 * kWarpRows; }
  static RT_FN int warp_column() { return thread() / kWarpThreads % 2 * kWarpColumns; }

  // Threads 8 i .. 8 i + 7 have the rows of matrix i.
  static RT_FN void load_a(u32 (&fragment)[4], const T* staged, int row, int depth) {
    const int lane = thread() % kWarpThreads;
    load_matrices<4, false>(fragment, staged + (row + lane % 16) * kPitch + depth + lane / 16 * 8);
  }
  static RT_FN void load_b(u32 (&two)[4], const T* staged, bool along_k, int column, int depth) {
    const int lane = thread() % kWarpThreads, down = lane / 16 * 8 + lane % 8, across = lane / 8 % 2 * 8;
    if (along_k)
      load_matrices<4, false>(two, staged + (column + down) * kPitch + depth + across);
    else
      load_matrices<4, true>(two, staged + (depth + lane % 16) * kPitchOfColumns + column + lane / 16 * 8);
  }
  RT_FN void add_stage(const T* a, const T* b, bool along_k) {
    RT_UNROLLED
    for (int depth = 0; depth < kDepth; depth += 16) {
      u32 fragments[kM][4];
      RT_UNROLLED
      for (int i = 0; i < kM; ++i) load_a(fragments[i], a, warp_row() + i * 16, depth);
      RT_UNROLLED
      for (int j = 0; j < kN; j += 2) {
        u32 two[4];
        load_b(two, b, along_k, warp_column() + j * 8, depth);
        const u32 left[2] = {two[0], two[1]}, right[2] = {two[2], two[3]};
        RT_UNROLLED
        for (int i = 0; i < kM; ++i) {
          multiply<T>(sum[i][j], fragments[i], left);
          multiply<T>(sum[i][j + 1], fragments[i], right);
        }
      }
    }
  }
  RT_FN void end_block() {}
  RT_FN void put(Sum* to, bool) const {
    const int group = thread() % kWarpThreads / 4, within = thread() % 4;
    RT_UNROLLED
    for (int i = 0; i < kM; ++i) {
      RT_UNROLLED
      for (int j = 0; j < kN; ++j) {
        Sum* const at = to + (warp_row() + i * 16 + group) * this->kPitchOfSums + warp_column() + j * 8 + within * 2;
        at[0] = sum[i][j][0], at[1] = sum[i][j][1];
        at[8 * this->kPitchOfSums] = sum[i][j][2], at[8 * this->kPitchOfSums + 1] = sum[i][j][3];
      }
    }
  }
};

// A thread has kM neighbouring rows and four columns: neighbours, or kAcross apart where B's rows are columns, so that
// neighbouring threads read neighbouring rows.
template <class T, int Rows, int NV>
struct ThreadProducts : Staged<T, Rows, NV> {
  using Staged<T, Rows, NV>::kDepth, Staged<T, Rows, NV>::kPitch, Staged<T, Rows, NV>::kPitchOfColumns;
  static constexpr int kN = 4, kAcross = NV * kPanel / kN, kM = Rows * kAcross / kBlockThreads;
  static_assert(kM >= 1 && kM * kBlockThreads == Rows * kAcross);
  f32 sum[kM][kN] = {}, total[kM][kN] = {};

  struct __attribute__((aligned(16))) Four {
    f32 of[4];
  };
  static RT_FN Four load_four(const T* from) { return *reinterpret_cast<const Four*>(from); }
  static RT_FN int own_row() { return thread() / kAcross * kM; }
  static RT_FN int own_column(int j, bool along_k) {
    return along_k ? thread() % kAcross + j * kAcross : thread() % kAcross * kN + j;
  }

  RT_FN void add_stage(const T* a, const T* b, bool along_k) {
    RT_ROLLED
    for (int depth = 0; depth < kDepth; depth += 4) {
      Four of_a[kM], of_b[4];  // of_b: by column if it is along k, else by term
      RT_UNROLLED
      for (int i = 0; i < kM; ++i) of_a[i] = load_four(a + (own_row() + i) * kPitch + depth);
      RT_UNROLLED
      for (int j = 0; j < 4; ++j)
        of_b[j] = load_four(along_k ? b + own_column(j, true) * kPitch + depth
                                    : b + (depth + j) * kPitchOfColumns + own_column(0, false));
      RT_UNROLLED
      for (int t = 0; t < 4; ++t) {
        RT_UNROLLED
        for (int i = 0; i < kM; ++i) {
          RT_UNROLLED
          for (int j = 0; j < kN; ++j)
            sum[i][j] = fma(of_a[i].of[t], along_k ? of_b[j].of[t] : of_b[t].of[j], sum[i][j]);
        }
      }
    }
  }
  RT_FN void end_block() {
    RT_UNROLLED
    for (int i = 0; i < kM; ++i) {
      RT_UNROLLED
      for (int j = 0; j < kN; ++j) total[i][j] += sum[i][j], sum[i][j] = 0;
    }
  }
  RT_FN void put(Sum* to, bool along_k) const {
    RT_UNROLLED
    for (int i = 0; i < kM; ++i) {
      RT_UNROLLED
      for (int j = 0; j < kN; ++j) to[(own_row() + i) * this->kPitchOfSums + own_column(j, along_k)] = total[i][j];
    }
  }
};

template <int Rows, int NV, int W, int kStages, int R, int S, class A, class B, class Epilogue>
struct StagedContraction {
  using T = bare<decltype(*A::base)>;
  static_assert(kSame<T, bare<decltype(*B::base)>> && (kIsHalf<T> || kSame<T, f32>));
  using Products = if_t<kIsHalf<T>, WarpProducts<T, Rows, NV>, ThreadProducts<T, Rows, NV>>;
  using Stage = Staged<T, Rows, NV>;
  static constexpr int kRun = Stage::kRun, kDepth = Stage::kDepth, kColumns = Stage::kColumns;
  static constexpr int kPitch = Stage::kPitch, kPitchOfColumns = Stage::kPitchOfColumns;
  static constexpr int kRunsOfDepth = kDepth / kRun, kOwnRows = Rows * kRunsOfDepth / kBlockThreads;
  static constexpr int kOfA = Rows * kPitch;
  static constexpr int kOfB = kColumns * kPitch > kDepth* kPitchOfColumns ? kColumns* kPitch : kDepth* kPitchOfColumns;
  static constexpr int kOfSums = Rows * Stage::kPitchOfSums * 4 / sizeof(T), kOfStages = kStages * (kOfA + kOfB);
  static constexpr int kMemory = kOfStages > kOfSums ? kOfStages : kOfSums;
  static_assert(kOwnRows >= 1 && kStages >= 2 && kMemory * sizeof(T) == staged_bytes({Rows, NV, kStages}, sizeof(T)));

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
    f.runs_of_a = a.template has_runs<kRun>(k);
    f.runs_of_b = b.template has_runs<kRun>();
    return f;
  }
  static RT_FN int own_row(int i) { return thread() / kRunsOfDepth + i * (kBlockThreads / kRunsOfDepth); }
  static RT_FN i32 bytes_of_run(i64 left) {
    return left <= 0 ? 0 : left < kRun ? static_cast<i32>(left) * i32(sizeof(T)) : 16;
  }
  RT_FN i64 offset_of_term(i64 term) const {
    i64 s[S == 0 ? 1 : S];
    index_of<S>(term / k, segments, s);
    return a.segment.at(s) + (S == 0 ? term : term % k);
  }

  RT_FN void fill_a(T* to, const Fill& f, i64 first) const {
    const int run = thread() % kRunsOfDepth * kRun;
    const i64 term = first + run;
    RT_UNROLLED
    for (int i = 0; i < kOwnRows; ++i) {
      T* const at = to + own_row(i) * kPitch + run;
      if (f.runs_of_a) {
        const i32 bytes = f.rows[i] ? bytes_of_run(terms - term) : 0;
        begin_copy<16>(at, bytes ? f.rows[i] + offset_of_term(term) : a.base, bytes);
      } else {
        RT_ROLLED
        for (int e = 0; e < kRun; ++e)
          at[e] = f.rows[i] && term + e < terms ? f.rows[i][offset_of_term(term + e)] : T{};
      }
    }
  }
  RT_FN void fill_b(T* to, const Fill& f, i64 first) const {
    constexpr int kRunsOfPanel = kPanel / kRun;
    const bool along_k = b.runs_along_k();
    RT_UNROLLED
    for (int i = 0; i < kDepth * kColumns / kRun / kBlockThreads; ++i) {
      const int number = i * kBlockThreads + thread();
      // of columns: a panel's runs of one term, then of the next
      const int t = along_k ? number % kRunsOfDepth * kRun : number / kRunsOfPanel % kDepth;
      const int c = along_k ? number / kRunsOfDepth
                            : (number / kRunsOfPanel / kDepth * kRunsOfPanel + number % kRunsOfPanel) * kRun;
      T* const at = to + (along_k ? c * kPitch + t : t * kPitchOfColumns + c);
      const i64 term = first + t, col = f.col + c;
      if (f.runs_of_b) {
        const bool outside = along_k ? col >= n : term >= terms;
        const i32 bytes = outside ? 0 : bytes_of_run(along_k ? terms - term : b.columns(n) - col);
        begin_copy<16>(at, bytes ? b.address(f.index, term, col, terms) : b.base, bytes);
      } else {
        RT_ROLLED
        for (int e = 0; e < kRun; ++e) {
          const i64 own_term = along_k ? term + e : term, own_col = along_k ? col : col + e;
          at[e] = own_term < terms && own_col < n ? *b.address(f.index, own_term, own_col, terms) : T{};
        }
      }
    }
  }

  // ---- a tile
  RT_FN void emit(const Sum* sums, i64 batch, i64 row, i64 col) const {
    constexpr int kAcross = kColumns / W;
    const int own = thread() % kAcross * W;
    if (col + own >= n) return;
    RT_ROLLED
    for (int r = thread() / kAcross; r < Rows && row + r < rows(); r += kBlockThreads / kAcross) {
      i64 index[R == 0 ? 1 : R];
      index_of_row(batch, row + r, index);
      const Sum* const from = sums + r * Stage::kPitchOfSums + own;
      if constexpr (W == 1) {
        store_element<R>(epilogue, index, f32(*from), within_point(row + r), col + own);
      } else {
        struct __attribute__((aligned(16), may_alias)) Sums {
          vec<f32, W> of;
        };
        store_element<R>(epilogue, index, reinterpret_cast<const Sums*>(from)->of, within_point(row + r),
                         Lanes<W>{col + own});
      }
    }
  }

  RT_FN void tile(i64 batch, i64 row, i64 col) const {
    RT_SHARED __attribute__((aligned(16))) T memory[kMemory];
    const auto of_a = [&](i64 stage) RT_INLINE { return memory + stage % kStages * (kOfA + kOfB); };
    const Fill f = fill_of(batch, row, col);
    const auto fill = [&](i64 stage) RT_INLINE {
      if (stage * kDepth < terms) {
        fill_a(of_a(stage), f, stage * kDepth);
        fill_b(of_a(stage) + kOfA, f, stage * kDepth);
      }
      commit_copies();
    };
    Products products;
    for (int s = 0; s < kStages - 1; ++s) fill(s);
    RT_ROLLED
    for (i64 s = 0; s * kDepth < terms; ++s) {
      wait_for_copies<kStages - 2>();
      barrier();
      fill(s + kStages - 1);
      products.add_stage(of_a(s), of_a(s) + kOfA, b.runs_along_k());
      if ((s + 1) * kDepth % kSumBlock == 0) products.end_block();
    }
    products.end_block();
    barrier();
    Sum* const sums = reinterpret_cast<Sum*>(memory);
    products.put(sums, b.runs_along_k());
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

/// A tile of Rows by NV * 16, whose epilogue takes W columns at once; n is a multiple of W. Stages: of the ring.
template <int Rows, int NV, int W, int Stages, int R, int S, class M, class N, class K, class A, class B,
          class Epilogue>
RT_FN void contract_staged(const Call& call, Extents<R> outer, Extents<S> segments, M m, N n, K k, A a, B b,
                           Epilogue epilogue) {
  detail::StagedContraction<Rows, NV, detail::kThreadsHaveLanes ? W : 1, Stages, R, S, A, B, Epilogue>{
      outer, segments, m, n, k, segments.points() * k, a, b, epilogue}
      .run(call);
}

}  // namespace rt
#endif
