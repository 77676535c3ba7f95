// What the planner knows of the Contract family: how constant weights are packed, which tile a shape gets, how rows and
// columns split into tiles and how much scratch a kernel needs. Numbers only, so the compiler includes it too.
// Packed weights: panels of 16 columns, [n / 16 rounded up][segments * k][16]; lane l of panel p at step k is the
// element (k, 16 p + l), and zero past the last column. The steps stand in the order of the sum: segments, then k.
#pragma once
#include "runtime/rt/types.h"

namespace rt {

inline constexpr int kPanel = 16;  // columns of a panel: one AVX-512 register, two of AVX2, four of SSE or NEON

constexpr i64 panels_of(i64 n) { return round_up_div(n, kPanel); }
constexpr i64 packed_b_elements(i64 n, i64 k_total) { return panels_of(n) * k_total * kPanel; }

/// The columns whose sums are computed, of vectors of so many lanes: whole vectors, but of 16 lanes a half where that
/// is enough, as the processors that compute them in two halves then take half the time.
constexpr i64 computed_columns(i64 n, i64 lanes) {
  const i64 together = lanes < kPanel ? lanes : kPanel / 2;
  return round_up_div(n, together) * together;
}

/// Writes packed_b_elements(n, k_total) elements; at(k, column) is the logical matrix.
template <class T, class At>
constexpr void pack_b(T* to, i64 n, i64 k_total, At at) {
  for (i64 p = 0; p < panels_of(n); ++p)
    for (i64 k = 0; k < k_total; ++k)
      for (i64 l = 0; l < kPanel; ++l) *to++ = p * kPanel + l < n ? at(k, p * kPanel + l) : T{};
}

// Weights of 8 bits: panels [n / 16 rounded up][quads + 1][16][4]; a quad is four neighbouring terms of a column, the
// last ones of a segment filled up with zeros, and the row behind a panel's quads has the sum of each column as an i32.
inline constexpr i64 kQuad = 4, kQuadRow = kPanel * kQuad;  // bytes of one quad of a panel's columns
constexpr i64 quads_of(i64 segments, i64 k) { return segments * round_up_div(k, kQuad); }
constexpr i64 quad_panel_bytes(i64 quads) { return (quads + 1) * kQuadRow; }
/// Where a panel has lane l of term t, terms of a segment one after another.
constexpr i64 quad_offset(i64 t, i64 l, i64 k) {
  return (t / k * round_up_div(k, kQuad) + t % k / kQuad) * kQuadRow + l * kQuad + t % k % kQuad;
}
/// Writes panels_of(n) * quad_panel_bytes(quads) bytes, which are 0; at(t, column) is the logical matrix.
template <class At>
constexpr void pack_quads(i8* to, i64 n, i64 segments, i64 k, At at) {
  const i64 sums = quads_of(segments, k) * kQuadRow;
  for (i64 p = 0; p < panels_of(n); ++p, to += sums + kQuadRow)
    for (i64 l = 0; l < kPanel && p * kPanel + l < n; ++l) {
      u32 sum = 0;
      for (i64 t = 0; t < segments * k; ++t) sum += u32(i32(to[quad_offset(t, l, k)] = at(t, p * kPanel + l)));
      for (i64 i = 0; i < kQuad; ++i) to[sums + l * kQuad + i] = static_cast<i8>(sum >> 8 * i);
    }
}

// Weights of bf16 by rows of bf16: panels [n / 16 rounded up][pairs][16][2]; a pair is two neighbouring terms of a
// column, the last one of a segment with an odd number of them filled up with a zero.
inline constexpr i64 kPair = 2, kPairRow = kPanel * kPair;  // elements of one pair of a panel's columns
constexpr i64 pairs_of(i64 segments, i64 k) { return segments * round_up_div(k, kPair); }
/// Where a panel has lane l of term t, terms of a segment one after another.
constexpr i64 pair_offset(i64 t, i64 l, i64 k) {
  return (pairs_of(t / k, k) + t % k / kPair) * kPairRow + l * kPair + t % k % kPair;
}
/// Writes panels_of(n) * pairs * kPairRow elements, which are 0; at(t, column) is the logical matrix.
template <class T, class At>
constexpr void pack_pairs(T* to, i64 n, i64 segments, i64 k, At at) {
  for (i64 p = 0; p < panels_of(n); ++p, to += pairs_of(segments, k) * kPairRow)
    for (i64 l = 0; l < kPanel && p * kPanel + l < n; ++l)
      for (i64 t = 0; t < segments * k; ++t) to[pair_offset(t, l, k)] = at(t, p * kPanel + l);
}

// The smallest part when `total` is divided into as few parts as `limit` allows, as even as they can be.
constexpr i64 even_part(i64 total, i64 limit) { return round_up_div(total, round_up_div(total, limit)); }

// Rows as the choice of a tile sees them where only a run knows how many there are: a number that no height divides
// less evenly than others, so that layers of different sizes have one tile.
constexpr i64 rows_of_any_number(i64 estimate) {
  constexpr i64 kEight = 8, kTwelve = 12, kBoth = 24;  // the tallest that there are
  if (estimate < kTwelve) return estimate < kEight ? estimate : kEight;
  return round_up_div(estimate, kBoth) * kBoth;
}

// Where each size of part is code of its own: one that divides `total` without a rest, if it is near `limit`.
constexpr i64 one_width(i64 total, i64 limit) {
  for (i64 size = limit; 3 * size >= 2 * limit; --size)
    if (total % size == 0) return size;
  return even_part(total, limit);
}

// total = full parts of `size` and then (parts - full) of `rest`, which is size - 1 if total can be had so, else 1.
// What contract_tile chooses always can: no thin tails.
struct TileSplit {
  i64 parts, full, size, rest;
  constexpr i64 begin(i64 part) const { return part <= full ? part * size : full * size + (part - full) * rest; }
  constexpr i64 size_of(i64 part) const { return part < full ? size : rest; }
};
constexpr TileSplit split_tiles(i64 total, i64 size) {
  const i64 parts = round_up_div(total, size), missing = parts * size - total;
  if (missing <= parts) return {parts, parts - missing, size, size - 1};
  const i64 full = total / size;
  return {full + total % size, full, size, 1};
}

// Of a number of rows that only the run knows: the most that a tile has where there are fewer than those of the
// kernel's.
inline constexpr int kSecondRows = 4;

struct Tile {
  int rows, vectors;  // of the output, kept in registers while the sum runs; a vector is kPanel columns
  int splits = 1;     // of each sum, which take its terms in turn
  bool operator==(const Tile&) const = default;
};
constexpr i64 registers_of(const Tile& t, int vector_bytes) {
  return i64(t.rows) * t.vectors * t.splits * (kPanel * 4 / vector_bytes);
}
// A term's FMA waits for the one before: a small tile's sums are split until `in_flight` registers are summed at once.
// All tiles of a kernel split them as the largest does, so that equal columns of B give equal sums wherever they stand.
inline constexpr int kMostSplits = 4;
constexpr int splits_of(Tile t, int vector_bytes, i64 in_flight) {
  for (t.splits = 1; t.splits < kMostSplits && registers_of(t, vector_bytes) < in_flight;) t.splits *= 2;
  return t.splits;
}

// The tallest tile of `vectors` whose accumulators and weights fit into seven eighths of the registers; 0: none fits.
// The others hold broadcasts, and weights of the next step: a tile of 9 x 3 vectors of AVX-512, which leaves two,
// spills.
constexpr i64 tallest_tile(int vector_bytes, int registers, i64 vectors) {
  const i64 parts = kPanel * 4 / vector_bytes, rows = (registers - registers / 8) / (vectors * parts) - 1;
  return rows < 0 ? 0 : rows;
}

// As wide as still leaves eight rows (or all there are): 8 x 3 vectors of AVX-512, 6 x 1 of AVX2, 2 x 1 of SSE. From
// eight rows on the weights' traffic no longer shows, and more rows fall into one set of the first cache where a row is
// a multiple of 4096 bytes; a single vector takes twelve, since there each row is also a load of its own.
constexpr Tile contract_tile(int vector_bytes, int registers, i64 m, i64 n) {
  const i64 panels = panels_of(n), tallest = tallest_tile(vector_bytes, registers, 1);
  const i64 wanted = m < 8 ? (m < tallest ? m : tallest) : (tallest < 8 ? tallest : 8);
  i64 vectors = 4;
  while (vectors > 1 && tallest_tile(vector_bytes, registers, vectors) < wanted) --vectors;
  vectors = even_part(panels, vectors);
  const i64 limit = vectors == 1 ? (tallest < 12 ? tallest : 12) : wanted;
  return {static_cast<int>(even_part(m, limit)), static_cast<int>(vectors)};
}

// A processor's tile registers (AMX): rows, bytes of each, and blocks of sums that are kept at once.
inline constexpr int kTileRows = 16, kTileBytes = 64, kMostBlocks = 4;

// A GPU's block of `threads`: `vectors` * 16 columns by groups of threads, which split the tile's rows, `rows` for each
// thread, or, for few rows, the terms of the sum.
inline constexpr int kBlockStage = 32;  // terms of `a` that a block has in shared memory
struct BlockTile {
  int rows, vectors, term_groups;
  bool operator==(const BlockTile&) const = default;
  constexpr int row_groups(int threads) const { return threads / (vectors * kPanel * term_groups); }
};
constexpr i64 block_tiles(BlockTile t, int threads, i64 m, i64 n) {
  return round_up_div(m, t.rows * t.row_groups(threads)) * round_up_div(panels_of(n), t.vectors);
}
// As large as still gives each of a card's multiprocessors a tile of the `points` matrices; four rows or fewer split
// the sum.
constexpr BlockTile block_tile(int threads, int sm_count, i64 points, i64 m, i64 n, i64 k_total) {
  constexpr i64 kFewTerms = 8;  // of a thread between two stages' ends
  const int widest = threads / kPanel;
  BlockTile t{static_cast<int>(m < 8 ? m : 8), 1, 1};
  while (t.vectors < widest && t.vectors < panels_of(n)) t.vectors *= 2;
  if (m <= 4) {
    t.term_groups = widest / t.vectors;
    while (t.vectors > 1 && points * block_tiles(t, threads, m, n) < sm_count && k_total >= 64)
      t.vectors /= 2, t.term_groups *= 2;
    while (t.term_groups > 1 && k_total / t.term_groups < kFewTerms && t.vectors < widest)
      t.vectors *= 2, t.term_groups /= 2;
    return t;
  }
  while (t.vectors > 2 && points * block_tiles(t, threads, m, n) < sm_count && t.row_groups(threads) * t.rows < m)
    t.vectors /= 2;
  while (t.rows > 1 && (t.rows / 2 + t.rows % 2) * t.row_groups(threads) >= m) t.rows = t.rows / 2 + t.rows % 2;
  while (t.rows > 2 && points * block_tiles(t, threads, m, n) < sm_count) t.rows /= 2;
  return t;
}

// A block's tile where both operands come through shared memory. As large as still gives each of a card's
// multiprocessors a tile of the `batches` products, unless half of it would lie outside; f32 has no registers for the
// largest.
inline constexpr int kStageBytes = 64, kMostStages = 4;  // of k, of each row and column
struct StagedTile {
  int rows, vectors;
  int stages = 3;  // of a ring in shared memory: one is multiplied while the others come
  bool operator==(const StagedTile&) const = default;
};
inline constexpr StagedTile kStagedTiles[] = {{128, 4}, {64, 4}, {64, 2}, {32, 4}, {32, 2}};
// Rows in shared memory are a run, 16 bytes, longer than what they hold; B's are terms or columns.
constexpr i64 staged_bytes(StagedTile t, int element_bytes) {
  constexpr i64 kRun = 16;
  const i64 columns = t.vectors * kPanel, pitch = kStageBytes + kRun;
  const i64 along_k = columns * pitch, along_n = kStageBytes / element_bytes * (columns * element_bytes + kRun);
  const i64 ring = t.stages * (t.rows * pitch + (along_k > along_n ? along_k : along_n));
  const i64 sums = t.rows * (columns + 8) * i64(sizeof(f32));
  return ring > sums ? ring : sums;
}
constexpr bool has_registers(StagedTile t, int element_bytes) { return t.rows * element_bytes <= 256; }
constexpr i64 staged_tiles(StagedTile t, i64 m, i64 n) {
  return round_up_div(m, t.rows) * round_up_div(panels_of(n), t.vectors);
}
constexpr StagedTile staged_tile(int sm_count, i64 batches, i64 m, i64 n, int element_bytes) {
  for (const StagedTile t : kStagedTiles) {
    const bool fits = m > t.rows / 2 && panels_of(n) > t.vectors / 2 && has_registers(t, element_bytes);
    if (fits && batches * staged_tiles(t, m, n) >= sm_count) return t;
  }
  return {32, 2};
}

// A sum of more products is taken in blocks of so many, so that its error grows with their number and not with the
// whole length; the totals stand in memory (24 loads and stores beside thousands of products), and the epilogue is one
// copy in a loop over them. Below, the sums never leave the registers, and each vector of the tile has its own copy
// of the epilogue, if that calls no exp or its kin: beside one the way through memory does not show.
inline constexpr i64 kSumBlock = 512;

// What divides the terms that a shared kernel is given, whose loop is unrolled as one over a known number is.
inline constexpr int kTermsOfRound = 8;

// From so many tiles of a column on, weights of 16 bits are widened once for all of them.
inline constexpr i64 kTilesToWiden = 4;

/// Bytes of Call::scratch: strided_b packs and widened weights have one tile's columns there, packed_b needs none.
constexpr i64 contract_scratch_bytes(Tile tile, i64 k_total) {
  return tile.vectors * k_total * kPanel * i64(sizeof(f32));
}

}  // namespace rt
