// contract: out(i.., row, col) = epilogue(sum over segments and k of A * B), for matrix products and direct
// convolutions. A's k is contiguous within a segment (a row of a matrix; Kw * C floats of one kernel row), B stands in
// panels of 16 columns. One tile of the output stays in registers for the whole sum, then the epilogue stores it:
// nothing is read back. Extents and strides are meant to be literals of the call, but layers that differ in them alone
// may share a kernel; the sum of an element never depends on the chunks.
#pragma once
#include "runtime/kernels/contract_amx.h"
#include "runtime/kernels/contract_block.h"
#include "runtime/kernels/contract_codes.h"
#include "runtime/kernels/contract_operands.h"
#include "runtime/kernels/contract_pairs.h"
#include "runtime/kernels/contract_quads.h"
#include "runtime/kernels/contract_ranged.h"
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

// Of numbers of rows and columns that are known when a kernel is compiled, or that whole tiles have: the tiles that
// occur, written out.
template <int MR, int NV, bool InRegisters, int Splits, int R, int S, class M, class N, class K, class A, class B,
          class Epilogue, class Band>
struct Contraction {
  const Call& call;
  Extents<R> outer;
  Extents<S> segments;
  M m;
  N n;
  K k;
  TileSplit rows, columns;
  A a;
  B b;
  Epilogue& epilogue;
  Band band;
  i64 points = 0;  // of the last outer axis, where a tile has the rows of several: `outer` counts tiles along it

  static constexpr bool kDots = B::kDots && S == 0;
  using PanelTotal = typename PanelCount<N>::Type;
  static constexpr bool kOneBlock = S == 0 && kIsConstant<K> && kLeast<K> <= kSumBlock;
  static constexpr int kPoints = kPointsOfTile<B>;
  RT_FN auto row_at(const i64* index, i64 row) const { return a.base + a.outer.at(index) + row * a.row_stride; }
  // Of steps that do not fall.
  RT_FN auto end_of_rows() const {
    i64 last[R == 0 ? 1 : R], segment[S == 0 ? 1 : S];
    last_index<R>(outer, last);
    last_index<S>(segments, segment);
    if constexpr (kPoints > 1) last[R - 1] = points - 1;
    return row_at(last, m - 1) + a.segment.at(segment) + k;
  }
  template <class Sum, class Col>
  RT_FN void store(const i64* index, Sum sum, i64 row, Col col) const {
    store_element<R>(epilogue, index, sum, row, col);
  }

  // H rows from `row` on, of which the first `known` were computed before. Sums go from registers into copies of the
  // epilogue, one for each vector, or they are left in memory.
  template <int H, int W, int Columns = kPanel, class V, class P, class Next>
  RT_FN void tile(V* totals, const i64* index, P panels, Next ahead, i64 row, i64 known, i64 panel) const {
    const auto* const from = row_at(index, row);
    typename B::template Sums<H, W, Splits, Columns> acc;
    if constexpr (kPoints > 1) acc.point_stride = a.outer.n[R - 1];
    if constexpr (kInTileRegisters<B>) acc.end_of_rows = end_of_rows();
    if constexpr (InRegisters) {
      with_panels(panels, [&](auto read) __attribute__((always_inline)) {
        sum_up(acc, segments, a.segment, from, a.row_stride, read, k, ahead, b.bias(a));
      });
      acc.each(n, panel * kPanel, [&](auto sum, int i, auto col) __attribute__((always_inline)) {
        if (i >= known) store(index, sum, row + i, col);
      });
    } else {
      with_panels(panels, [&](auto read) __attribute__((always_inline)) {
        sum_into<kOneBlock>(acc, totals, segments, a.segment, from, a.row_stride, read, k, ahead, b.bias(a));
      });
    }
  }
  // A row of W panels, the last one of Columns: whole panels two at a time, which narrow to 8 bits together.
  template <int W, int Columns, class V>
  RT_FN void store_row(const V* totals, const i64* index, i64 row, i64 panel) const {
    using Sum = typename B::Sum;
    constexpr int kTwo = 2 * kPanel;
    constexpr bool kPairs = kAtOnce<kTwo> == kTwo && kIsMultiple<N, kPanel>;
    if constexpr (kPairs) {
      RT_ROLLED
      for (i64 i = 0; i + 1 < W; i += 2)
        store(index, load_next<Sum, kTwo>(reinterpret_cast<const Sum*>(totals + i)), row,
              Lanes<kTwo>{(panel + i) * kPanel});
    }
    if constexpr (!kPairs || W % 2) {
      constexpr int kFrom = kPairs ? W - 1 : 0;
      TileSums<Sum, 1, W - kFrom, 1, Columns>::each_total(
          totals + kFrom * kParts, n, (panel + kFrom) * kPanel,
          [&](auto sum, int, auto col) __attribute__((always_inline)) { store(index, sum, row, col); });
    }
  }
  template <int W, int Columns, class V>
  RT_FN void store_totals(const V* totals, const i64* index, i64 row, i64 known, i64 height, i64 panel) const {
    RT_ROLLED
    for (i64 i = known; i < height; ++i)
      store_row<W, Columns>(totals + i * TileSums<typename B::Sum, 1, W, 1, Columns>::kSums, index, row + i, panel);
  }

  // Tiles of the panels [panel, panel + W), the last one of Columns: those numbered [number, number + count) of a
  // band's `length` from `before` on.
  template <int W, int Columns, class P>
  RT_FN void column(P panels, i64* index, i64 number, i64 count, i64 panel, i64 before, i64 length) const {
    i64 part = number % rows.parts;
    using Sums = typename B::template Sums<MR, W, Splits, Columns>;
    typename Sums::V totals[Sums::kSums];
    RT_ROLLED
    while (true) {
      i64 first = 0, known = 0, left = 0;
      each_rows<MR>(m, rows, part, [&](auto height, i64 row, i64 computed) __attribute__((always_inline)) {
        const auto ahead = ahead_of<B>(panels, W, number - before, 1, length);
        tile<height.value, W, Columns>(totals, index, panels, ahead, row, computed, panel);
        first = row, known = computed, left = height.value;
      });
      if constexpr (!InRegisters) store_totals<W, Columns>(totals, index, first, known, left, panel);
      if (--count == 0) return;
      panels = next_tile(panels);
      ++number;
      if (++part == rows.parts) {
        part = 0;
        advance<R>(outer, index);
      }
    }
  }

  // Where a tile of registers begins, and how many of its rows belong to the one before. `index` is that of the part,
  // and then of the tile's first point.
  RT_FN void find_tile(i64* index, i64 part, i64& first, i64& computed) const {
    if constexpr (kPoints > 1) {
      const i64 begin = index[R - 1] * kPoints, point = begin + kPoints <= points ? begin : points - kPoints;
      index[R - 1] = point, first = 0, computed = (begin - point) * m;
    } else {
      each_rows<MR>(m, rows, part,
                    [&](auto, i64 row, i64 known) __attribute__((always_inline)) { first = row, computed = known; });
    }
  }
  template <int W, class V>
  RT_FN void store_registers(const V* totals, const i64* index, i64 row, i64 known, i64 panel) const {
    if constexpr (kPoints > 1) {
      i64 at[R];
      copy_index<R>(index, at);
      at[R - 1] += known / m;
      totals += known * W;
      RT_ROLLED
      for (i64 point = known / m; point < kPoints; ++point, ++at[R - 1]) RT_ROLLED
      for (i64 i = 0; i < m; ++i, totals += W) store_row<W, kPanel>(totals, at, i, panel);
    } else {
      RT_ROLLED
      for (i64 i = known; i < MR; ++i) store_row<W, kPanel>(totals + i * W, index, row + i, panel);
    }
  }

  // `count` tiles in tile registers, all of one height: one's sums are stored while the next one's products are on
  // their way. `next(tile, i)` finds the one that `index` is at, sums it up and moves `index` on.
  template <int W, class Next>
  RT_FN void each_of_registers(i64 count, i64* index, Next next) const {
    using Sums = typename B::template Sums<MR, W, Splits>;
    struct Tile {
      i64 index[R == 0 ? 1 : R], row, known, panel;
      typename Sums::V totals[Sums::kSums];
    } tiles[2];
    RT_ROLLED
    for (i64 i = 0; i <= count; ++i) {
      if (i < count) {
        copy_index<R>(index, tiles[i % 2].index);
        next(tiles[i % 2], i);
      }
      if (i == 0) continue;
      const Tile& last = tiles[(i - 1) % 2];
      store_registers<W>(last.totals, last.index, last.row, last.known, last.panel);
    }
  }
  // On to the tile below.
  RT_FN void go_down(i64* index, i64& part) const {
    if (++part < rows.parts) return;
    part = 0;
    advance<R>(outer, index);
  }

  // The same as `column`, in tile registers.
  template <int W, class P>
  RT_FN void column_of_registers(P panels, i64* index, i64 number, i64 count, i64 panel, i64 before, i64 length) const {
    i64 part = number % rows.parts;
    each_of_registers<W>(count, index, [&](auto& tile, i64 i) __attribute__((always_inline)) {
      find_tile(tile.index, part, tile.row, tile.known);
      tile.panel = panel;
      const auto ahead = ahead_of_tile<MR, W>(b, panels, points_of<S>(segments) * k, number + i - before, length);
      this->template tile<MR, W>(tile.totals, tile.index, panels, ahead, tile.row, tile.known, panel);
      go_down(index, part);
    });
  }

  // Tiles [number, end) of all columns, which are alike: those of one row of tiles, then those below.
  RT_FN void rows_of_registers(i64 number, i64 end) const {
    i64 index[R == 0 ? 1 : R], column = number % columns.parts, part = number / columns.parts % rows.parts;
    index_of<R>(number / columns.parts / rows.parts, outer, index);
    each_of_registers<NV>(end - number, index, [&](auto& tile, i64) __attribute__((always_inline)) {
      find_tile(tile.index, part, tile.row, tile.known);
      tile.panel = column * NV;
      const auto panels = b.panels(call, index, tile.panel, NV, m, n, points_of<S>(segments) * k);
      this->template tile<MR, NV>(tile.totals, tile.index, panels, NoAhead{}, tile.row, tile.known, tile.panel);
      if (++column < columns.parts) return;
      column = 0;
      go_down(index, part);
    });
  }

  // The tiles of `length` rows of tiles from number `before` on, or of each point's: those numbered u to `end`, one
  // column after another, so that its panels stay in the cache.
  RT_FN void run_band(i64 u, i64 end, i64 before, i64 length) const {
    const i64 both = u + end - 1;
    const bool backwards = call.turned && R == 0 && rows.parts == 1;  // a row of tiles
    RT_ROLLED
    while (u < end) {
      const i64 tile = backwards ? both - u : u;
      const i64 part = tile / length % columns.parts, panel = columns.begin(part),
                width = columns.begin(part + 1) - panel;
      const i64 first = before + u % length + (b.shared() ? 0 : u / length / columns.parts * rows.parts);
      const i64 count = length - u % length < end - u ? length - u % length : end - u;
      i64 index[R == 0 ? 1 : R];
      index_of<R>(first / rows.parts, outer, index);
      if (kDots && b.dots(m)) {
        dot_rows(*this, index, first % rows.parts, count, panel, width);
      } else {
        const auto panels = b.panels(call, index, panel, width, m, n, points_of<S>(segments) * k);
        each_size<NV, PanelTotal>(columns, part, [&](auto size) __attribute__((always_inline)) {
          if constexpr (kInTileRegisters<B>) {
            column_of_registers<size.value>(panels, index, first, count, panel, before, length);
          } else if constexpr (!kIsConstant<N>) {
            column<size.value, kPanel>(panels, index, first, count, panel, before, length);
          } else {
            constexpr i64 kPanels = panels_of(N::value);
            constexpr int kLast = static_cast<int>(computed_columns(N::value, kPart) - (kPanels - 1) * kPanel);
            if constexpr (kLast < kPanel)
              if (part == columns.parts - 1)
                return column<size.value, kLast>(panels, index, first, count, panel, before, length);
            if constexpr (kLast == kPanel || occurs_before_last(kPanels, NV, size.value))
              column<size.value, kPanel>(panels, index, first, count, panel, before, length);
          }
        });
      }
      u += count;
    }
  }
  // B is the same for all points, whose rows are one band or several; else point by point. Chunks share the tiles in
  // this order.
  RT_FN void run() const {
    const i64 points = points_of<R>(outer), length = b.shared() ? points * rows.parts : rows.parts;
    const i64 tiles = points * rows.parts * columns.parts;
    const i64 begin = tiles * call.chunk / call.chunks, end = tiles * (call.chunk + 1) / call.chunks;
    if constexpr (kInTileRegisters<B> && kSame<Band, Constant<1>> && kIsMultiple<PanelTotal, NV>) {
      if (begin < end) rows_of_registers(begin, end);
      return;
    }
    if (kSame<Band, Constant<0>> || !b.shared()) return run_band(begin, end, 0, length);
    const i64 most = kSame<Band, Constant<0>> ? 1 : i64(band);
    RT_ROLLED
    for (i64 at = begin, next; at < end; at = next) {
      const i64 before = at / (most * columns.parts) * most, first = before * columns.parts;
      const i64 height = length - before < most ? length - before : most, last = first + height * columns.parts;
      next = last < end ? last : end;
      run_band(at - first, next - first, before, height);
    }
  }
};

}  // namespace detail
#endif

// m, n and k are numbers or constants (`c<16>`): with constants, and with multiples of the tile, only the tiles that
// occur are compiled. InRegisters: the sums stay in registers and each vector has its own copy of the epilogue, for
// sums of at most kSumBlock products. Splits: the parts into which each sum is split, which hide the latency of an FMA,
// or are groups of a GPU's threads. `band`: tiles, one below another, that are computed for all columns before those
// below them; c<0>: all.
template <int MR, int NV, bool InRegisters = false, int Splits = 1, int R, int S, class M, class N, class K, class A,
          class B, class Epilogue, class Band = Constant<0>>
RT_FN void contract(const Call& call, Extents<R> outer, Extents<S> segments, M m, N n, K k, A a, B b, Epilogue epilogue,
                    [[maybe_unused]] Band band = {}) {
#if defined(RT_KERNEL)
  detail::BlockContraction<MR, NV, Splits, R, S, A, B, Epilogue>{outer, segments, m,       n, k, segments.points() * k,
                                                                 a,     b,        epilogue}
      .run(call);
#else
  if constexpr ((detail::kIsConstant<M> || detail::kIsMultiple<M, MR>) &&
                (detail::kIsConstant<N> || detail::kIsMultiple<N, NV * kPanel>)) {
    constexpr int kPoints = detail::kPointsOfTile<B>;
    const TileSplit columns = detail::split_columns<NV>(n);
    [[maybe_unused]] const auto registers = detail::registers_of<MR>(b);
    static_assert(detail::kInTileRegisters<B> == !kSame<decltype(registers), const detail::NoRegisters>);
    using Contraction = detail::Contraction<MR, NV, InRegisters, Splits, R, S, M, N, K, A, B, Epilogue, Band>;
    if constexpr (kPoints > 1) {
      static_assert(R > 0 && MR == kPoints * M::value);
      const i64 points = outer.n[R - 1];
      outer.n[R - 1] = round_up_div(points, kPoints);
      Contraction{call, outer, segments, m, n, k, TileSplit{1, 1, MR, MR}, columns, a, b, epilogue, band, points}.run();
    } else {
      Contraction{call, outer, segments, m, n, k, detail::split_rows<MR>(m), columns, a, b, epilogue, band}.run();
    }
  } else {
    detail::contract_ranged<MR, NV, InRegisters, Splits>(call, outer, segments, m, n, k, a, b, epilogue, band);
  }
#endif
}

}  // namespace rt
