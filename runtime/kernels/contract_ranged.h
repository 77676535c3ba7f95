// contract where only the run knows how many rows or columns there are. Tiles of each size are functions that the
// kernels of a file share, with numbers that a call gives; one loop takes their sums from memory to the epilogue.
#pragma once
#include "runtime/kernels/contract_operands.h"
#include "runtime/kernels/contract_tile.h"
#include "runtime/kernels/nest.h"

#if !defined(RT_KERNEL)
namespace rt {
namespace detail {

// One or two rows have so few sums in a tile of the other heights' width that each waits for its last FMA: their own
// takes six registers of sums a row or a few less, in panels that do not evict each other where they stand a multiple
// of 4096 bytes apart.
inline constexpr i64 kWideRows = 2;
template <class N, int Splits>
constexpr int row_panels() {
  constexpr int kMost = kParts * Splits < 6 ? 6 / (kParts * Splits) : 1;
  if constexpr (kIsConstant<N>) return static_cast<int>(one_width(panels_of(N::value), kMost));
  return kMost;
}

// Tiles that have the same panels of B, one after another: the outer point and the part of the rows of the first.
struct Stretch {
  i64 column, point, part, count;
};
// That of the tiles from number `at` on. B is the same for all points (`shared`): one column of tiles after another, so
// that its panels stay in the cache, or, where `band` is not 0, of so many tiles before those below them; else point by
// point.
RT_CALLED Stretch stretch_of(i64 at, i64 end, i64 points, i64 row_parts, i64 column_parts, bool shared, i64 band) {
  const i64 all = shared ? points * row_parts : row_parts;
  const bool in_bands = shared && band > 0;
  const i64 height = in_bands && band < all ? band : all;
  if (at == 0) return {0, 0, 0, height < end ? height : end};           // without a division
  const i64 before = in_bands ? at / (band * column_parts) * band : 0;  // tiles of a column
  const i64 length = all - before < height ? all - before : height, here = at - before * column_parts;
  const i64 column = here / length, first = before + here % length;
  const i64 rest = length - here % length, count = rest < end - at ? rest : end - at;
  if (shared) return {column, first / row_parts, first % row_parts, count};
  return {column % column_parts, column / column_parts, first, count};
}

// What a tile sums up: `k` terms of each segment, from the first of its rows on.
template <class T, int S, class P, class Next, class Bias>
struct Terms {
  const T* from;
  i64 row_stride;
  Extents<S> segments;
  Strides<S> strides;
  i64 k;
  P panels;
  Next ahead;
  Bias bias;
};
template <class Sums, bool OneBlock, class V, class T, int S, class P, class Next, class Bias>
RT_CALLED void sum_tile(V* totals, const Terms<T, S, P, Next, Bias>& terms) {
  const Terms<T, S, P, Next, Bias> t = terms;
  Sums acc;
  sum_into<OneBlock>(acc, totals, t.segments, t.strides, t.from, t.row_stride, t.panels, t.k, t.ahead, t.bias);
}

template <int R, class M, int MR>
inline constexpr bool kMayExchange = R > 0 && MR > 1 && kSame<M, i64>;

// Rows: `full` parts of MR, then those that are left in parts as even as they can be, of a few rows each.
inline constexpr i64 kFewRows = 4;
template <int MR>
struct RowSplit {
  i64 full, parts, size, longer;  // the first `longer` of the last parts have a row more than `size`
  RT_FN i64 begin(i64 part) const {
    const i64 last = part - full;
    return last <= 0 ? part * MR : full * MR + last * size + (last < longer ? last : longer);
  }
  RT_FN i64 height(i64 part) const { return part < full ? MR : size + (part - full < longer); }
};
template <int MR>
RT_CALLED RowSplit<MR> split_rows_of_run(i64 m) {
  if constexpr (MR == 1) {
    return {m, m, 0, 0};
  } else {
    const i64 full = m / MR, left = m % MR, parts = round_up_div(left, kFewRows);
    const i64 size = parts < 2 ? left : u32(left) / u32(parts);
    return {full, full + parts, size, left - size * parts};
  }
}

template <int MR, int NV, bool InRegisters, int Splits, int R, int S, class M, class N, class K, class A, class B,
          class Epilogue, class Band>
struct RangedContraction {
  using PanelTotal = typename PanelCount<N>::Type;
  // Whether so few rows have tiles of their own that are wider.
  static constexpr bool kWidens = !B::kDots && kLeast<M> <= kWideRows && MR > 1;
  static constexpr int kRowPanels = kWidens ? row_panels<N, Splits>() : 1;
  using V = typename B::template Sums<1, 1, 1>::V;

  const Call& call;
  Extents<R> outer;
  Extents<S> segments;
  M m;
  N n;
  K k;
  A a;
  B b;
  Epilogue& epilogue;
  Band band;
  bool wide, exchanged;
  RowSplit<MR> rows;
  TileSplit columns;
  i64 points;

  static constexpr bool kDots = B::kDots && S == 0;
  RT_FN auto row_at(const i64* index, i64 row) const { return a.base + a.outer.at(index) + row * a.row_stride; }
  template <class Sum, class Col>
  RT_FN void store(const i64* index, Sum sum, i64 row, Col col) const {
    store_element<R>(epilogue, index, sum, row, col);
  }

  struct Place {
    i64 index[R == 0 ? 1 : R], row;
  };
  // Of a tile's row, as the epilogue counts outer axes and rows.
  RT_FN Place place_of(const i64* index, i64 row) const {
    Place at;
    copy_index<R>(index, at.index);
    at.row = row;
    if constexpr (kMayExchange<R, M, MR>)
      if (exchanged) at.row = index[R - 1], at.index[R - 1] = row;
    return at;
  }

  // ---- tiles of any size -------------------------------------------------------------------------------------------
  // Whether there are tiles of so many panels, and others.
  template <int W>
  static constexpr int kRest = kIsConstant<N> && W > 1 && occurs<PanelTotal>(W, W - 1) ? W - 1 : 1;
  template <int W>
  static constexpr bool kHasRest = W > 1 && occurs<PanelTotal>(W, kRest<W>);
  template <class Terms>
  using Sum = void (*)(V*, const Terms&);
  // Of H rows by W panels, or by those that a rest has.
  template <int H, int W, class Terms>
  RT_FN static Sum<Terms> sum_of_width(i64 width) {
    constexpr bool kWhole = occurs<PanelTotal>(W, W);
    if constexpr (kWhole && !kHasRest<W>) {
      return &sum_tile<typename B::template Sums<H, W, Splits>, InRegisters>;
    } else {
      Sum<Terms> sum = &sum_tile<typename B::template Sums<H, kRest<W>, Splits>, InRegisters>;
      if constexpr (kWhole)
        if (width == W) sum = &sum_tile<typename B::template Sums<H, W, Splits>, InRegisters>;
      return sum;
    }
  }
  template <int H, class Terms>
  RT_FN static Sum<Terms> sum_of_few(i64 height, i64 width) {
    if constexpr (H > 1) {
      if (height < H) return sum_of_few<H - 1, Terms>(height, width);
    }
    return sum_of_width<H, NV, Terms>(width);
  }
  template <class Terms>
  RT_FN Sum<Terms> sum_of(i64 height, i64 width) const {
    if constexpr (kWidens) {
      if (wide)
        return height == 1 ? sum_of_width<1, kRowPanels, Terms>(width) : sum_of_width<2, kRowPanels, Terms>(width);
    }
    if (height == MR) return sum_of_width<MR, NV, Terms>(width);
    constexpr int kTallest = MR > kFewRows ? kFewRows : MR - 1;
    if constexpr (kTallest > 0) return sum_of_few<kTallest, Terms>(height, width);
    return nullptr;
  }
  template <class P, class Next>
  RT_FN void sum_shared(V* totals, const i64* index, P panels, Next ahead, i64 row, i64 height, i64 width) const {
    const auto bias = b.bias(a);
    with_panels(panels, [&](auto read) __attribute__((always_inline)) {
      using Summed = Terms<bare<decltype(*a.base)>, S, decltype(read), Next, bare<decltype(bias)>>;
      const Summed terms{row_at(index, row), a.row_stride, segments, a.segment, k, read, ahead, bias};
      sum_of<Summed>(height, width)(totals, terms);
    });
  }
  RT_FN void store_totals(const V* totals, const i64* index, i64 row, i64 height, i64 panel, i64 width) const {
    const i64 across = width * kParts;
    RT_ROLLED
    for (i64 i = 0; i < height; ++i) {
      const Place at = place_of(index, row + i);
      RT_ROLLED
      for (i64 j = 0; j < across; ++j)
        emit(totals[i * across + j], panel * kPanel + j * kPart, n,
             [&](auto sum, auto col) __attribute__((always_inline)) { store(at.index, sum, at.row, col); });
    }
  }

  // ---- loops -------------------------------------------------------------------------------------------------------
  RT_FN i64 rows_before(i64 number) const { return number / rows.parts * m + rows.begin(number % rows.parts); }
  // A tile's part of what its band brings, by their rows.
  template <class P>
  RT_FN auto ahead_of_rows(P panels, i64 width, i64 number, i64 height) const {
    if constexpr (kSame<Band, Constant<0>>) {
      return ahead_of<B>(panels, width, rows_before(number), height, points * m);
    } else {
      const i64 tiles = points * rows.parts, first = number / band * band, next = first + band;
      const i64 begin = rows_before(first), end = next < tiles ? rows_before(next) : points * m;
      return ahead_of<B>(panels, width, rows_before(number) - begin, height, end - begin);
    }
  }
  template <class P>
  RT_FN void tile(V* totals, const i64* index, P panels, i64 number, i64 part, i64 panel, i64 width) const {
    const i64 height = rows.height(part), row = rows.begin(part);
    const auto ahead = ahead_of_rows(panels, width, number, height);
    sum_shared(totals, index, panels, ahead, row, height, width);
    store_totals(totals, index, row, height, panel, width);
  }
  RT_FN void run_stretch(V* totals, Stretch at) const {
    const i64 panel = columns.begin(at.column), width = columns.begin(at.column + 1) - panel;
    i64 index[R == 0 ? 1 : R];
    index_of<R>(at.point, outer, index);
    if (kDots && b.dots(m)) return dot_rows(*this, index, at.part, at.count, panel, width);
    const i64 k_total = points_of<S>(segments) * k;
    if constexpr (requires { b.narrow_panels(call, index, panel, k_total); })
      if (wide || at.count < kTilesToWiden)
        return run_tiles(totals, at, index, b.narrow_panels(call, index, panel, k_total), panel, width);
    run_tiles(totals, at, index, b.panels(call, index, panel, width, m, n, k_total), panel, width);
  }
  template <class P>
  RT_FN void run_tiles(V* totals, Stretch at, i64* index, P panels, i64 panel, i64 width) const {
    i64 number = at.point * rows.parts + at.part, part = at.part;
    RT_ROLLED
    for (const i64 end = number + at.count; number < end; ++number) {
      tile(totals, index, panels, number, part, panel, width);
      panels = next_tile(panels);
      if (++part < rows.parts) continue;
      part = 0;
      advance<R>(outer, index);
    }
  }
  RT_FN void run() const {
    constexpr i64 kWidePanels = kWideRows * kRowPanels;
    V totals[(MR * NV > kWidePanels ? MR * NV : kWidePanels) * kParts];
    const i64 tiles = points * rows.parts * columns.parts;
    const Share share = share_of(call, tiles);
    const bool backwards = call.turned && points * rows.parts == 1;  // a row of tiles, each a stretch
    Stretch next;
    RT_ROLLED
    for (i64 at = share.begin; at < share.end; at += next.count) {
      const i64 tile = backwards ? share.begin + share.end - 1 - at : at, end = backwards ? tiles : share.end;
      next = stretch_of(tile, end, points, rows.parts, columns.parts, b.shared(), band);
      run_stretch(totals, next);
    }
  }
};

// Fewer rows than a tile has, of products by one B, change places with a last outer axis that is longer; whether they
// do.
template <int MR, int R, class M, class A, class B>
RT_FN bool exchange_rows(Extents<R>& outer, M& m, A& a, const B& b) {
  if constexpr (kMayExchange<R, M, MR>) {
    i64 &last = outer.n[R - 1], &stride = a.outer.n[R - 1];
    if (m >= MR || last <= m || !b.shared()) return false;
    const i64 rows = last, rows_apart = stride;
    last = m, stride = a.row_stride;
    m = rows, a.row_stride = rows_apart;
    return true;
  }
  return false;
}

template <int MR, int NV, bool InRegisters, int Splits, int R, int S, class M, class N, class K, class A, class B,
          class Epilogue, class Band>
RT_FN void contract_ranged(const Call& call, Extents<R> outer, Extents<S> segments, M m, N n, K k, A a, B b,
                           Epilogue& epilogue, Band band) {
  using Loops = RangedContraction<MR, NV, InRegisters, Splits, R, S, M, N, K, A, B, Epilogue, Band>;
  const bool exchanged = exchange_rows<MR>(outer, m, a, b), wide = Loops::kWidens && m <= kWideRows;
  const RowSplit<MR> rows = wide ? RowSplit<MR>{0, m > 0, m, 0} : split_rows_of_run<MR>(m);
  const TileSplit columns = wide ? split_columns<Loops::kRowPanels>(n) : split_columns<NV>(n);
  Loops{call, outer, segments, m, n, k, a, b, epilogue, band, wide, exchanged, rows, columns, points_of<R>(outer)}
      .run();
}

}  // namespace detail
}  // namespace rt
#endif
