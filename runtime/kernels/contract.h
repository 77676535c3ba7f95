// contract: out(i.., row, col) = epilogue(sum over segments and k of A * B), for matrix products and direct
// convolutions. A's k is contiguous within a segment (a row of a matrix; Kw * C floats of one kernel row), B stands in
// panels of 16 columns. One tile of the output stays in registers for the whole sum, then the epilogue stores it:
// nothing is read back. Every extent and stride is meant to be a literal of the call; the sum of an element never
// depends on the chunks.
#pragma once
#include "runtime/kernels/contract_block.h"
#include "runtime/kernels/contract_codes.h"
#include "runtime/kernels/contract_operands.h"
#include "runtime/kernels/contract_quads.h"
#include "runtime/kernels/contract_shape.h"
#include "runtime/kernels/contract_staged.h"
#include "runtime/kernels/contract_tile.h"
#include "runtime/kernels/nest.h"

namespace rt {

// ---- specification -------------------------------------------------------------------------------------------------
template <int R, int S, class A, class B, class Epilogue>
RT_FN void contract_naive(const Call& call, Extents<R> outer, Extents<S> segments, i64 m, i64 n, i64 k, A a, B b,
                          Epilogue epilogue) {
  const i64 points = outer.points() * m * n, terms = segments.points() * k;
  for (i64 u = points * call.chunk / call.chunks; u < points * (call.chunk + 1) / call.chunks; ++u) {
    i64 index[R == 0 ? 1 : R], s[S == 0 ? 1 : S];
    detail::split_index<R>(u / (m * n), outer, index);
    const i64 row = u / n % m, col = u % n;
    typename B::Sum acc{};
    for (i64 t = 0; t < terms; ++t) {
      detail::split_index<S>(t / k, segments, s);
      const i64 at = a.outer.at(index) + row * a.row_stride + a.segment.at(s) + t % k;
      acc = b.add(acc, load(a.base, at), b.at(index, t, col, terms));
    }
    detail::store_element<R>(epilogue, index, acc, row, col);
  }
}

#if !defined(RT_KERNEL)
// ---- loops over tiles ----------------------------------------------------------------------------------------------
namespace detail {

inline constexpr i64 kLongSum = 64;  // terms, of which a tile takes so long that its height may be asked for
// A single row has so few sums in a tile of the other heights' width that each waits for its last FMA: its own takes
// six registers of sums, in panels that do not evict each other where they stand a multiple of 4096 bytes apart.
template <class N, int Splits>
constexpr int row_panels() {
  constexpr int kMost = kParts * Splits < 6 ? 6 / (kParts * Splits) : 1;
  if constexpr (kIsConstant<N>) return even_part(panels_of(N::value), kMost);
  return kMost;
}
template <class M>
inline constexpr bool kMayBeOne = !kIsConstant<M> && kLeast<M> < 2;

template <int MR, int NV, bool InRegisters, int Splits, bool kLowEnd, int R, int S, class M, class N, class A, class B,
          class Epilogue>
struct Contraction {
  using PanelTotal = typename PanelCount<N>::Type;

  const Call& call;
  Extents<R> outer;
  Extents<S> segments;
  M m;
  N n;
  i64 k;
  TileSplit rows, columns;
  A a;
  B b;
  Epilogue& epilogue;

  // Whether a tile's sums go from registers into copies of the epilogue, one for each vector: those of tiles that most
  // of the output has. Others leave them in memory, where one loop over them serves all heights.
  template <int H, int W>
  static constexpr bool kWritten = InRegisters && (kIsConstant<M> || H == MR) && (kIsConstant<N> || W == NV);
  // H rows from `row` on, of which the first `known` were computed before. The number of rows that it leaves in
  // `totals`.
  template <int H, int W, class V, class P, class Next>
  RT_FN i64 tile(V* totals, const i64* index, P panels, Next ahead, i64 row, i64 known, i64 panel) const {
    const auto* const from = a.base + a.outer.at(index) + row * a.row_stride;
    using Sums = typename B::template Sums<H, W, Splits>;
    Sums acc;
    acc.clear();
    if constexpr (InRegisters || Sums::kExact) {
      each_segment<0, S>(segments, a.segment, from, [&](auto* p) __attribute__((always_inline)) {
        acc.add_products(p, a.row_stride, panels, k, ahead);
        panels.advance(k);
      });
      acc.finish(a, b, panels);
      if constexpr (kWritten<H, W>) {
        const auto emit = [&](auto sum, int i, auto col) __attribute__((always_inline)) {
          if (!kIsConstant<M> || i >= known) store_element<R>(epilogue, index, sum, row + i, col);
        };
        const bool all_rows = kIsConstant<M> || known == 0;
        if constexpr (kIsConstant<N> || kIsMultiple<N, kPanel>) {
          if (all_rows) return acc.each(n, panel * kPanel, emit), 0;
        } else {
          if (all_rows && (panel + W) * kPanel <= n) return acc.each(c<W * kPanel>, panel * kPanel, emit), 0;
        }
      }
      acc.put(totals);
    } else {
      acc.clear_totals(totals);
      i64 terms = 0, left = points_of<S>(segments) * k;
      each_segment<0, S>(segments, a.segment, from, [&](auto* p) __attribute__((always_inline)) {
        RT_ROLLED
        for (i64 at = 0; at < k; at += kSumBlock) {
          const i64 steps = k - at < kSumBlock ? k - at : kSumBlock;
          acc.add_products(p + at, a.row_stride, panels, steps, ahead);
          panels.advance(steps);
          terms += steps;
          left -= steps;
          if (terms < kSumBlock && left > 0) continue;
          acc.flush(totals);
          terms = 0;
        }
      });
    }
    return H;
  }
  // The rows of `totals` from `known` on.
  template <int W, class V>
  RT_FN void store_totals(const V* totals, const i64* index, i64 row, i64 known, i64 rows_left, i64 panel) const {
    using Sums = typename B::template Sums<1, W, 1>;
    RT_ROLLED
    for (i64 i = known; i < rows_left; ++i)
      Sums::each_total(totals + i * Sums::kSums, n, panel * kPanel,
                       [&](auto sum, int, auto col)
                           __attribute__((always_inline)) { store_element<R>(epilogue, index, sum, row + i, col); });
  }

  // `count` parts of rows from `part` on times the columns of `width` panels, as B stands.
  RT_FN void dot_rows(const i64* index, i64 part, i64 count, i64 panel, i64 width) const {
    if constexpr (S == 0 && B::kDots) {
      const i64 end = rows.begin(part + count) < m ? rows.begin(part + count) : i64(m);
      RT_ROLLED
      for (i64 row = rows.begin(part); row < end; ++row) RT_ROLLED
      for (i64 p = panel; p < panel + width; ++p) {
        f32 sums[kPanel] = {};
        b.dot(sums, a.base + a.outer.at(index) + row * a.row_stride, index, p, n, k);
        for (int at = 0; at < kPanel; at += kPart)
          emit(load(sums, Lanes<kPart>{at}), p * kPanel + at, n,
               [&](auto sum, auto col)
                   __attribute__((always_inline)) { store_element<R>(epilogue, index, sum, row, col); });
      }
    }
  }

  // The part of the next panels that tile number `at` of a column brings.
  template <int W, class P>
  RT_FN auto ahead_of(P panels, i64 at) const {
    if constexpr (B::kStreams) {
      const i64 tiles = points_of<R>(outer) * rows.parts, bytes = W * panels.panel_step * i64(sizeof *panels.at);
      const i64 step = round_up_div(W * panels.k_step * i64(sizeof *panels.at), tiles);
      return Ahead{reinterpret_cast<const char*>(panels.at) + bytes + bytes * at / tiles, step};
    } else {
      return NoAhead{};
    }
  }

  // Tiles of the panels [panel, panel + W): those numbered [number, number + count) of the column.
  template <int W, class P>
  RT_FN void column(P panels, i64* index, i64 number, i64 count, i64 panel) const {
    i64 part = number % rows.parts;
    using Sums = typename B::template Sums<MR, W, Splits>;
    typename Sums::V totals[Sums::kSums];
    RT_ROLLED
    while (true) {
      i64 first = 0, known = 0, left = 0;
      each_rows<MR, kSecondRows, kLowEnd>(
          m, rows, part, [&](auto height, i64 row, i64 computed) __attribute__((always_inline)) {
            left = tile<height.value, W>(totals, index, panels, ahead_of<W>(panels, number), row, computed, panel);
            first = row, known = computed;
          });
      store_totals<W>(totals, index, first, known, left, panel);
      if (--count == 0) return;
      ++number;
      if (++part == rows.parts) {
        part = 0;
        advance<R>(outer, index);
      }
    }
  }

  // B is the same for all points: one column of tiles after another, so that its panels stay in the cache; else point
  // by point. Chunks share the tiles in this order.
  RT_FN void run() const {
    const i64 points = points_of<R>(outer), length = b.shared() ? points * rows.parts : rows.parts;
    const i64 tiles = points * rows.parts * columns.parts;
    i64 u = tiles * call.chunk / call.chunks;
    const i64 end = tiles * (call.chunk + 1) / call.chunks;
    RT_ROLLED
    while (u < end) {
      const i64 part = u / length % columns.parts, panel = columns.begin(part);
      const i64 first = u % length + (b.shared() ? 0 : u / length / columns.parts * rows.parts);
      const i64 count = length - u % length < end - u ? length - u % length : end - u;
      i64 index[R == 0 ? 1 : R];
      index_of<R>(first / rows.parts, outer, index);
      if (S == 0 && b.dots(m)) {
        dot_rows(index, first % rows.parts, count, panel, columns.begin(part + 1) - panel);
      } else {
        const auto panels =
            b.panels(call, index, panel, columns.begin(part + 1) - panel, m, n, points_of<S>(segments) * k);
        each_size<NV, PanelTotal>(columns, part, [&](auto width) __attribute__((always_inline)) {
          column<width.value>(panels, index, first, count, panel);
        });
      }
      u += count;
    }
  }
};

}  // namespace detail
#endif

// m, n and k are numbers or constants (`c<16>`): with constants only the tiles that occur are compiled. InRegisters:
// the sums stay in registers and each vector has its own copy of the epilogue, for sums of at most kSumBlock products.
// Splits: the parts into which each sum is split, which hide the latency of an FMA, or are groups of a GPU's threads.
template <int MR, int NV, bool InRegisters = false, int Splits = 1, int R, int S, class M, class N, class K, class A,
          class B, class Epilogue>
RT_FN void contract(const Call& call, Extents<R> outer, Extents<S> segments, M m, N n, K k, A a, B b,
                    Epilogue epilogue) {
#if defined(RT_KERNEL)
  detail::BlockContraction<MR, NV, Splits, R, S, A, B, Epilogue>{outer, segments, m,       n, k, segments.points() * k,
                                                                 a,     b,        epilogue}
      .run(call);
#else
  if constexpr (!B::kDots && detail::kMayBeOne<M> && MR > 1) {
    if (m == 1)
      return contract<1, detail::row_panels<N, Splits>(), InRegisters, Splits>(call, outer, segments, c<1>, n, k, a, b,
                                                                               epilogue);
    return contract<MR, NV, InRegisters, Splits>(call, outer, segments, at_least<2>(m), n, k, a, b, epilogue);
  }
  constexpr bool kLowEnd = detail::kLeast<K> >= detail::kLongSum;
  const TileSplit rows = detail::split_rows<MR, kSecondRows, kLowEnd>(m), columns = detail::split_columns<NV>(n);
  detail::Contraction<MR, NV, InRegisters, Splits, kLowEnd, R, S, M, N, A, B, Epilogue>{
      call, outer, segments, m, n, k, rows, columns, a, b, epilogue}
      .run();
#endif
}

}  // namespace rt
