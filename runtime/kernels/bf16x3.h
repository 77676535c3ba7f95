// bf16x3: out(i.., row, col) = epilogue(sum over segments and k of A * B), sums of f32 as contract has them, by tile
// registers (AMX) that multiply bf16: each float in three parts (bf16x3_shape.h), six products of which are summed in
// f32. Rows of all outer points are one after another; those of a band are brought into parts, a block of terms at a
// time, and multiplied with all columns. A block's smaller products come first, so that their roundings do not show;
// blocks are summed by themselves, as contract does. A processor multiplies bf16 some sixteen times as fast as it
// multiplies f32, so this is bound by a sixth of that, by the way of the weights from memory, or by what is made of few
// columns.
// Sums that are no numbers are computed anew term by term: an infinite float has no parts. A float below 2^-102, of
// the rows, the weights or their products, has fewer bits than it had, one below 2^-126 none.
#pragma once
#include "runtime/kernels/bf16x3_shape.h"
#include "runtime/kernels/contract_amx.h"
#include "runtime/kernels/contract_operands.h"

namespace rt {

#if !defined(RT_KERNEL)
namespace detail {

// 32 floats into their parts, `part_step` elements apart.
RT_FN void store_parts(const f32* from, bfloat* to, i64 part_step) {
  using Floats = vec<f32, 16>;
  using Bits = vec<u32, 16>;
  const auto high = [](Floats x) RT_INLINE { return (Floats)((Bits)x & 0xffff0000u); };
  Floats x = load_next<f32, 16>(from), y = load_next<f32, 16>(from + 16);
  for (int part = 0; part < kParts16; ++part) {
    using Words = vec<u16, 32>;
    const Words both = __builtin_shufflevector((Words)x, (Words)y, 1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27,
                                               29, 31, 33, 35, 37, 39, 41, 43, 45, 47, 49, 51, 53, 55, 57, 59, 61, 63);
    __builtin_memcpy(to + part * part_step, &both, sizeof both);
    x -= high(x), y -= high(y);
  }
}

template <int MR, int NV, int Band, bool Ahead, int R, int S, class M, class N, class K, class Epilogue>
struct Bf16x3 {
  using Sums = TileRegisterSums<f32, MR, NV>;
  using V = typename Sums::V;
  static constexpr int kBlocks = Sums::kBlocks, kHeight = Sums::kHeight;
  static_assert(kBlocks + NV <= kMostBlocks);
  static constexpr int kRows = kMostBlocks, kPanels = kRows + kBlocks;  // registers of rows and panels
  static constexpr i64 kPartOfRows = MR * kStepTerms;                   // elements of a tile's step
  static constexpr i64 kLine = 64 / sizeof(bfloat);                     // of the caches
  static constexpr int kProducts = 6;                                   // of two floats' parts

  RT_FN static TileShapes shapes() {
    TileShapes all;
    for (int tile = 0; tile < 2 * kMostBlocks; ++tile) all.set(tile, tile < kPanels ? kHeight : kTileRows);
    return all;
  }

  const Call& call;
  Extents<R> outer;
  Extents<S> segments;
  M m;
  N n;
  K k;
  MatrixA<f32, R, S> a;
  const bfloat* weights;
  Epilogue& epilogue;

  RT_FN i64 terms() const { return points_of(segments) * k; }
  RT_FN i64 rows() const { return points_of(outer) * m; }
  template <int D>
  RT_FN static i64 points_of(const Extents<D>& e) {
    return detail::points_of<D>(e);
  }
  RT_FN const f32* row_at(i64 row, i64* index) const {
    index_of<R>(row / m, outer, index);
    return a.base + a.outer.at(index) + row % m * a.row_stride;
  }
  RT_FN i64 offset_of(i64 term) const {
    i64 s[S == 0 ? 1 : S];
    index_of<S>(term / k, segments, s);
    return a.segment.at(s) + term % k;
  }

  // ---- rows in parts: [tile][step][part][MR][32]
  // Terms [first, first + 32 * steps) of a row, zeros beyond the last.
  RT_FN void stage_row(const f32* from, i64 first, i64 steps, bfloat* to) const {
    constexpr bool kRuns = S == 0 || K::value % kStepTerms == 0;  // a step's terms are neighbours
    f32 line[kBlockSteps * kStepTerms];
    const i64 count = terms() - first < steps * kStepTerms ? terms() - first : steps * kStepTerms;
    if constexpr (!kRuns) {
      gather(from, first, count, line);
    } else if (S == 0 && count < steps * kStepTerms) {
      copy_run(line, from + first, count);
    }
    if (!kRuns || count < steps * kStepTerms)
      for (i64 t = count; t < steps * kStepTerms; ++t) line[t] = 0;
    const bool stands = kRuns && count == steps * kStepTerms;
    RT_ROLLED
    for (i64 s = 0; s < steps; ++s, to += kParts16 * kPartOfRows)
      store_parts(stands ? from + offset_of(first + s * kStepTerms) : line + s * kStepTerms, to, kPartOfRows);
  }
  RT_FN void gather(const f32* from, i64 first, i64 count, f32* line) const {
    i64 segment = first / k, at = first % k;
    RT_ROLLED
    for (i64 done = 0; done < count; ++segment, at = 0) {
      const i64 run = k - at < count - done ? k - at : count - done;
      copy_run(line + done, from + offset_of(segment * k) + at, run);
      done += run;
    }
  }
  RT_FN static void copy_run(f32* to, const f32* from, i64 count) {
    i64 i = 0;
    for (; i + 16 <= count; i += 16) store(to + i, Lanes<16>{0}, load_next<f32, 16>(from + i));
    for (; i + 4 <= count; i += 4) store(to + i, Lanes<4>{0}, load_next<f32, 4>(from + i));
    for (; i < count; ++i) to[i] = from[i];
  }
  RT_FN i64 begin_of(i64 tile) const { return tile * MR + MR <= rows() ? tile * MR : rows() - MR; }
  RT_FN void stage(i64 tile, i64 count, i64 first, i64 steps, bfloat* to) const {
    RT_ROLLED
    for (const i64 end = tile + count; tile < end; ++tile, to += steps * kParts16 * kPartOfRows) {
      const i64 begin = begin_of(tile);
      RT_ROLLED
      for (i64 i = 0; i < MR; ++i) {
        i64 index[R == 0 ? 1 : R];
        stage_row(row_at(begin + i, index), first, steps, to + i * kStepTerms);
      }
    }
  }

  // ---- products
  template <int... I>
  RT_FN static void load_rows(Indices<int, I...>, const bfloat* rows, int part) {
    (..., load_tile<kRows + I>(rows + part * kPartOfRows + Sums::row_of(I) * kStepTerms, kTileBytes));
  }
  template <int... J>
  RT_FN static void load_panels(Indices<int, J...>, const bfloat* panels, i64 panel_step, int part) {
    (..., load_tile<kPanels + J>(panels + J * panel_step + part * kPartElements, kTileBytes));
  }
  template <int W, int... I>
  RT_FN static void multiply(Indices<int, I...>) {
    (..., add_tile_products<bfloat, I, kRows + I / W, kPanels + I % W>());
  }
  // The next weights, brought from memory into the second cache while a tile is summed: so many lines of each panel
  // before each of a step's products.
  struct Next {
    const bfloat* at;
    i64 panel_step, lines;
    template <int W>
    RT_FN void bring(int product) const {
      if constexpr (Ahead) {
        const bfloat* line = at + product * lines * kLine;
        RT_ROLLED
        for (i64 i = 0; i < lines; ++i, line += kLine)
          for (int j = 0; j < W; ++j) __builtin_prefetch(line + j * panel_step, 0, 2);
      }
    }
    RT_FN void step() { at += kParts16 * kPartElements; }
  };
  // Adds the products of steps [s, end), a step's smaller ones first.
  template <int W>
  RT_FN static void multiply_steps(const bfloat* rows, const bfloat* panels, i64 panel_step, i64 s, i64 end,
                                   Next& next) {
    enum { kHigh, kMiddle, kLow };
    constexpr indices<kBlocks> down{};
    constexpr indices<W> across{};
    constexpr indices<kBlocks * W> sums{};
    RT_ROLLED
    for (; s < end; ++s, next.step()) {
      const bfloat *const x = rows + s * kParts16 * kPartOfRows, *const w = panels + s * kParts16 * kPartElements;
      load_rows(down, x, kHigh), load_panels(across, w, panel_step, kLow);
      next.template bring<W>(0), multiply<W>(sums), load_panels(across, w, panel_step, kMiddle);
      next.template bring<W>(1), multiply<W>(sums), load_rows(down, x, kMiddle);
      next.template bring<W>(2), multiply<W>(sums), load_panels(across, w, panel_step, kHigh);
      next.template bring<W>(3), multiply<W>(sums), load_rows(down, x, kLow);
      next.template bring<W>(4), multiply<W>(sums), load_rows(down, x, kHigh);
      next.template bring<W>(5), multiply<W>(sums);
    }
  }
  template <int... I>
  RT_FN static void clear(Indices<int, I...>) {
    (..., clear_tile<I>());
  }
  template <int W, int... I>
  RT_FN static void put(Indices<int, I...>, V* totals) {
    (..., store_tile<I>(totals + Sums::row_of(I / W) * W + I % W, W * i64(sizeof(V))));
  }

  // ---- sums
  // Of one row and a panel's columns, term by term.
  RT_FN V sum_anew(const f32* row, i64 panel) const {
    V total{}, sum{};
    const bfloat* const from = weights + panel * bf16x3_panel_elements(terms());
    RT_ROLLED
    for (i64 t = 0; t < terms(); ++t) {
      if (t % kSumBlock == 0) total += sum, sum = V{};
      f32 w[kPanel];
      for (i64 l = 0; l < kPanel; ++l)  // the largest floats' first two parts are more than any float
        w[l] = to_float(from[bf16x3_offset(t, l, 2)]) + to_float(from[bf16x3_offset(t, l, 1)]) +
               to_float(from[bf16x3_offset(t, l, 0)]);
      sum = fma<V>(splat<V>(row[offset_of(t)]), load_next<f32, kPanel>(w), sum);
    }
    return total + sum;
  }
  // Sums that are no numbers, or infinite, of a tile's rows.
  template <int W>
  __attribute__((noinline, cold)) void repair(V* sums, i64 begin, i64 panel) const {
    for (i64 i = 0; i < MR * W; ++i) {
      i64 index[R == 0 ? 1 : R];
      sums[i] = sum_anew(row_at(begin + i / W, index), panel + i % W);
    }
  }
  template <int W>
  RT_FN void store_sums(V* sums, i64 tile, i64 panel) const {
    const i64 begin = begin_of(tile), known = tile * MR - begin;
    V nothing{};
    for (i64 i = 0; i < MR * W; ++i) nothing = fma<V>(sums[i], V{}, nothing);
    if (__builtin_expect(any(is_nan(nothing)), false)) repair<W>(sums, begin, panel);
    i64 index[R == 0 ? 1 : R], row = (begin + known) % m;
    index_of<R>((begin + known) / m, outer, index);
    RT_ROLLED
    for (i64 i = known; i < MR; ++i) {
      TileSums<f32, 1, W, 1>::each_total(sums + i * W, n, panel * kPanel,
                                         [&](auto sum, int, auto col) __attribute__((always_inline)) {
                                           store_element<R>(epilogue, index, sum, row, col);
                                         });
      if (++row == m) {
        row = 0;
        advance<R>(outer, index);
      }
    }
  }

  // ---- loops
  struct Block {
    i64 first, steps;
    bool begins, ends;
  };
  // What has been summed of a block's terms, in a band's tile `i`: to the sums so far, or to the epilogue.
  template <int W>
  RT_FN void finish(V* sums, V* total, const Block& block, i64 tile, i64 panel) const {
    if (!block.begins || !block.ends) {
      RT_ROLLED
      for (int e = 0; e < MR * W; ++e) {
        if (!block.begins) sums[e] += total[e];
        if (!block.ends) total[e] = sums[e];
      }
    }
    if (block.ends) store_sums<W>(sums, tile, panel);
  }
  // `tiles` of a band from number `tile` on, by the panels of W columns from `panel` on. A tile's sums are finished in
  // the midst of the next one's products, which do not wait for that.
  template <int W>
  RT_FN void column(const bfloat* staged, f32* totals, const Block& block, i64 tile, i64 tiles, i64 panel) const {
    const i64 panel_step = bf16x3_panel_elements(terms()), half = block.steps / 2;
    const bfloat* const panels = weights + panel * panel_step + block.first / kStepTerms * kParts16 * kPartElements;
    const i64 lines = round_up_div(kParts16 * kPartElements / kLine / kProducts, tiles);  // a tile's share
    V sums[2][MR * W];
    RT_ROLLED
    for (i64 i = 0; i <= tiles; ++i) {
      Next next{panels + W * panel_step + i * lines * kProducts * kLine, panel_step, lines};
      const bfloat* const rows = staged + i * block.steps * kParts16 * kPartOfRows;
      if (i < tiles) {
        clear(indices<kBlocks * W>{});
        multiply_steps<W>(rows, panels, panel_step, 0, half, next);
      }
      if (i > 0)
        finish<W>(sums[(i - 1) % 2], reinterpret_cast<V*>(totals + ((i - 1) * panels_of(n) + panel) * MR * kPanel),
                  block, tile + i - 1, panel);
      if (i < tiles) {
        multiply_steps<W>(rows, panels, panel_step, half, block.steps, next);
        put<W>(indices<kBlocks * W>{}, sums[i % 2]);
      }
    }
  }
  RT_FN void run() const {
    const i64 tiles = round_up_div(rows(), MR), band_tiles = Band < tiles ? Band : tiles;
    const i64 bands = round_up_div(tiles, band_tiles), steps = bf16x3_steps(terms());
    const TileSplit columns = split_columns<NV>(n);
    bfloat* const staged = static_cast<bfloat*>(call.scratch);
    f32* const totals = reinterpret_cast<f32*>(staged + band_tiles * (steps < kBlockSteps ? steps : kBlockSteps) *
                                                            kParts16 * kPartOfRows);
    const i64 units = bands * columns.parts, end = units * (call.chunk + 1) / call.chunks;
    RT_ROLLED
    for (i64 u = units * call.chunk / call.chunks, next; u < end; u = next) {
      const i64 band = u / columns.parts, tile = band * band_tiles;
      const i64 count = tiles - tile < band_tiles ? tiles - tile : band_tiles;
      next = (band + 1) * columns.parts < end ? (band + 1) * columns.parts : end;
      RT_ROLLED
      for (i64 step = 0; step < steps; step += kBlockSteps) {
        const i64 its_steps = steps - step < kBlockSteps ? steps - step : kBlockSteps;
        const Block block{step * kStepTerms, its_steps, step == 0, step + its_steps == steps};
        stage(tile, count, block.first, block.steps, staged);
        RT_ROLLED
        for (i64 c = u % columns.parts; c < u % columns.parts + next - u; ++c)
          each_size<NV, Constant<panels_of(N::value)>>(columns, c, [&](auto size) __attribute__((always_inline)) {
            column<size.value>(staged, totals, block, tile, count, columns.begin(c));
          });
      }
    }
  }
};

}  // namespace detail

// Tiles of MR rows by NV panels of 16 columns, `Band` of which, one below another, are in parts at once; m, n and k are
// constants. Ahead: the next panels come from memory while those before them are multiplied. Chunks share the columns
// of the bands.
template <int MR, int NV, int Band, bool Ahead, int R, int S, class M, class N, class K, class Epilogue>
RT_FN void bf16x3(const Call& call, Extents<R> outer, Extents<S> segments, M m, N n, K k, MatrixA<f32, R, S> a,
                  const bfloat* weights, Epilogue epilogue) {
  using Loops = detail::Bf16x3<MR, NV, Band, Ahead, R, S, M, N, K, Epilogue>;
  const detail::TileRegisters registers(Loops::shapes());
  Loops{call, outer, segments, m, n, k, a, weights, epilogue}.run();
}
#endif

}  // namespace rt
