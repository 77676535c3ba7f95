// bf16x3: out(i.., row, col) = epilogue(sum over segments and k of A * B), sums of f32 as contract has them, by tile
// registers (AMX) that multiply bf16: each float in three parts (bf16x3_shape.h), six products of which are summed in
// f32. Rows of all outer points are one after another; those of a band are brought into parts, a block of terms at a
// time, and multiplied with all columns, whose weights are brought into parts a tile's width at a time. A step's
// smaller products come first; blocks are summed by themselves, as contract does, and errors are smaller than those of
// sums of f32. A processor multiplies bf16 some sixteen times as fast as it multiplies f32, so this is bound by a sixth
// of that, by the way of the weights from memory, or by what is made of few columns. Sums that are no numbers are
// computed anew term by term: an infinite float has no parts. A float below 2^-102, of the rows, the weights or their
// products, has fewer bits than it had, one below 2^-126 none.
#pragma once
#include "runtime/kernels/bf16x3_products.h"
#include "runtime/kernels/contract.h"

namespace rt {

#if !defined(RT_KERNEL)
namespace detail {

template <int MR, int NV, int Band, class T, int R, int S, class M, class N, class K, class Epilogue>
struct Bf16x3 {
  using Products = ProductsInParts<MR, NV, T>;
  using Weights = typename Products::Weights;
  using V = typename Products::Sums::V;
  static constexpr i64 kStepOfRows = Products::kStepOfRows, kStepOfPanel = Products::kStepOfPanel;

  const Call& call;
  Extents<R> outer;
  Extents<S> segments;
  M m;
  N n;
  K k;
  MatrixA<f32, R, S> a;
  const T* weights;
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
    for (i64 s = 0; s < steps; ++s, to += kStepOfRows)
      store_parts(stands ? from + offset_of(first + s * kStepTerms) : line + s * kStepTerms, to, Products::kPartOfRows);
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
  // Where a tile's rows begin: the last tile reaches back into the one before, if there are so many rows.
  RT_FN i64 begin_of(i64 tile) const { return tile * MR + MR <= rows() || rows() < MR ? tile * MR : rows() - MR; }
  RT_FN i64 rows_of(i64 begin) const { return rows() - begin < MR ? rows() - begin : MR; }
  RT_FN void stage(i64 tile, i64 count, i64 first, i64 steps, bfloat* to) const {
    RT_ROLLED
    for (const i64 end = tile + count; tile < end; ++tile, to += steps * kStepOfRows) {
      const i64 begin = begin_of(tile), its_rows = rows_of(begin);
      RT_ROLLED
      for (i64 i = 0; i < its_rows; ++i) {
        i64 index[R == 0 ? 1 : R];
        stage_row(row_at(begin + i, index), first, steps, to + i * kStepTerms);
      }
      if (its_rows < MR) clear_rows(its_rows, steps, to);
    }
  }

  RT_FN static void clear_rows(i64 row, i64 steps, bfloat* to) {
    RT_ROLLED
    for (i64 s = 0; s < steps * kParts16; ++s)
      for (i64 i = row * kStepTerms; i < Products::kPartOfRows; ++i) to[s * Products::kPartOfRows + i].bits = 0;
  }

  // ---- sums
  // Of one row and a panel's columns, term by term.
  RT_FN V sum_anew(const f32* row, i64 panel) const {
    V total{}, sum{};
    const T* const from = weights + panel * terms() * kPanel;
    RT_ROLLED
    for (i64 t = 0; t < terms(); ++t) {
      if (t % kSumBlock == 0) total += sum, sum = V{};
      sum = fma<V>(splat<V>(row[offset_of(t)]), load_next<T, kPanel>(from + t * kPanel), sum);
    }
    return total + sum;
  }
  // Sums that are no numbers, or infinite, of a tile's rows.
  template <int W>
  __attribute__((noinline, cold)) void repair(V* sums, i64 begin, i64 panel) const {
    RT_ROLLED
    for (i64 i = 0; i < rows_of(begin) * W; ++i) {
      i64 index[R == 0 ? 1 : R];
      sums[i] = sum_anew(row_at(begin + i / W, index), panel + i % W);
    }
  }
  template <int W>
  RT_FN void store_sums(V* sums, i64 tile, i64 panel) const {
    const i64 begin = begin_of(tile), known = tile * MR - begin;
    if (__builtin_expect(has_no_parts(sums, MR * W), false)) repair<W>(sums, begin, panel);
    i64 index[R == 0 ? 1 : R], row = (begin + known) % m;
    index_of<R>((begin + known) / m, outer, index);
    RT_ROLLED
    for (i64 i = known; i < rows_of(begin); ++i) {
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
  // The panels of W columns from `panel` on, on their way into parts.
  RT_FN Weights weights_of(const Block& block, i64 panel, i64 width, bfloat* to) const {
    const T* const from = weights + (panel * terms() + block.first) * kPanel;
    return {from, terms() * kPanel, terms() - block.first, block.steps, to, width};
  }
  // `tiles` of a band from number `tile` on, by the W panels from `panel` on. A tile's sums are finished in the midst
  // of the next one's products, which do not wait for that, and the next weights brought into parts.
  template <int W>
  RT_FN void column(const bfloat* staged, const bfloat* panels, f32* totals, const Block& block, i64 tile, i64 tiles,
                    i64 panel, Weights& next) const {
    const i64 panel_step = block.steps * kStepOfPanel, half = block.steps / 2;
    const i64 pairs = round_up_div(next.panels * Weights::kPairs, Products::kProducts * tiles);  // a product's share
    V sums[2][MR * W];
    RT_ROLLED
    for (i64 i = 0; i <= tiles; ++i) {
      const bfloat* const rows = staged + i * block.steps * kStepOfRows;
      if (i < tiles) {
        Products::template clear<W>();
        Products::template multiply_steps<W>(rows, panels, panel_step, 0, half, next, pairs);
      }
      if (i > 0)
        finish<W>(sums[(i - 1) % 2], reinterpret_cast<V*>(totals + ((i - 1) * panels_of(n) + panel) * MR * kPanel),
                  block, tile + i - 1, panel);
      if (i < tiles) {
        Products::template multiply_steps<W>(rows, panels, panel_step, half, block.steps, next, pairs);
        Products::template put<W>(reinterpret_cast<f32*>(sums[i % 2]), W * kPanel);
      }
    }
  }
  // A band's tiles, in parts, by columns [first, end) of the split.
  RT_FN void columns(const TileSplit& split, i64 first, i64 end, const bfloat* staged, bfloat* panels, f32* totals,
                     const Block& block, i64 tile, i64 tiles) const {
    const i64 column_elements = NV * block.steps * kStepOfPanel;
    Weights next = weights_of(block, split.begin(first), split.size_of(first), panels);
    next.bring_all();
    RT_ROLLED
    for (i64 c = first; c < end; ++c) {
      const bfloat* const its = panels + (c - first) % 2 * column_elements;
      next = weights_of(block, split.begin(c + 1), c + 1 < end ? split.size_of(c + 1) : 0,
                        panels + (c + 1 - first) % 2 * column_elements);
      each_size<NV, Constant<panels_of(N::value)>>(split, c, [&](auto size) __attribute__((always_inline)) {
        column<size.value>(staged, its, totals, block, tile, tiles, split.begin(c), next);
      });
    }
  }
  RT_FN void run() const {
    const i64 tiles = round_up_div(rows(), MR), band_tiles = Band < tiles ? Band : tiles;
    if (tiles == 0) return;
    const i64 bands = round_up_div(tiles, band_tiles), steps = bf16x3_steps(terms());
    const i64 block_steps = bf16x3_block_steps(terms());
    const TileSplit split = split_columns<NV>(n);
    i64& band_in_parts = *static_cast<i64*>(call.scratch);
    if (!call.again) band_in_parts = -1;
    bfloat* const staged = reinterpret_cast<bfloat*>(static_cast<char*>(call.scratch) + kBandNumber);
    bfloat* const panels = staged + band_tiles * block_steps * kStepOfRows;
    f32* const totals = reinterpret_cast<f32*>(panels + 2 * NV * block_steps * kStepOfPanel);
    const i64 units = bands * split.parts, end = units * (call.chunk + 1) / call.chunks;
    RT_ROLLED
    for (i64 u = units * call.chunk / call.chunks, next; u < end; u = next) {
      const i64 band = u / split.parts, tile = band * band_tiles;
      const i64 count = tiles - tile < band_tiles ? tiles - tile : band_tiles;
      next = (band + 1) * split.parts < end ? (band + 1) * split.parts : end;
      RT_ROLLED
      for (i64 step = 0; step < steps; step += kBlockSteps) {
        const i64 its_steps = steps - step < kBlockSteps ? steps - step : kBlockSteps;
        const Block block{step * kStepTerms, its_steps, step == 0, step + its_steps == steps};
        if (band_in_parts != band) stage(tile, count, block.first, block.steps, staged);
        band_in_parts = block.begins && block.ends ? band : -1;
        const i64 first = u % split.parts;
        columns(split, first, first + next - u, staged, panels, totals, block, tile, count);
      }
    }
  }
};

}  // namespace detail

// Tiles of MR rows by NV panels of 16 columns, `Band` of which, one below another, are in parts at once; n and k are
// constants, weights contract's panels of f32 or f16. Fewer rows than `Few` do not pay for the weights' parts: they are
// contract's. Chunks share the columns of the bands.
template <int MR, int NV, int Band, int Few, int R, int S, class M, class N, class K, class T, class Epilogue>
RT_FN void bf16x3(const Call& call, Extents<R> outer, Extents<S> segments, M m, N n, K k, MatrixA<f32, R, S> a,
                  const T* weights, Epilogue epilogue) {
  using Loops = detail::Bf16x3<MR, NV, Band, T, R, S, M, N, K, Epilogue>;
  if constexpr (Few > 0) {
    constexpr Tile few = bf16x3_few_rows(Few, N::value);
    if (detail::points_of<R>(outer) * m < Few)
      return contract<few.rows, few.vectors>(call, outer, segments, m, n, k, a, packed_b(weights, Strides<R>{}),
                                             epilogue);
  }
  const detail::TileRegisters registers(Loops::Products::shapes());
  Loops{call, outer, segments, m, n, k, a, weights, epilogue}.run();
}
#endif

}  // namespace rt
