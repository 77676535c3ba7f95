// What the planner knows of bf16x3: the parts of numbers, and the scratch of a kernel.
// A float of f32 is the sum of three of bf16, its high, middle and low part, each of eight bits; a product of two is
// then nine products, of which the three smallest are left out: they are less than half a rounding of f32. Sums are
// taken in f32. [Henry, Tang, Heinecke: Leveraging the bfloat16 Artificial Intelligence Datatype For Higher-Precision
// Computations, ARITH 2019; oneMKL's FLOAT_TO_BF16X3]
// Rows are parted by cutting bits off. Weights are contract's panels, of f32, or of f16, which have no low part; a run
// parts those of a tile's columns while it multiplies the ones before them, by rounding, which leaves remainders of
// both signs: [panels][steps][high, middle, low][16 pairs][16][2], 32 terms a step, the last ones filled up with zeros.
#pragma once
#include "runtime/kernels/contract_shape.h"
#include "runtime/rt/half.h"

namespace rt {

inline constexpr int kParts16 = 3;                         // of a float
inline constexpr i64 kStepTerms = 32;                      // of a row's part in a tile register
inline constexpr i64 kPartElements = kPanel * kStepTerms;  // of a panel's step
inline constexpr i64 kBlockSteps = 2 * kSumBlock / kStepTerms;

constexpr i64 bf16x3_steps(i64 terms) { return round_up_div(terms, kStepTerms); }
/// Of a block of terms; the last one may have fewer.
constexpr i64 bf16x3_block_steps(i64 terms) {
  return bf16x3_steps(terms) < kBlockSteps ? bf16x3_steps(terms) : kBlockSteps;
}
/// Numbers of bf16 that a weight is the sum of: floats of f16 have eleven bits.
constexpr int bf16x3_parts(bool of_half) { return of_half ? kParts16 - 1 : kParts16; }

/// The tile of contract's, of AVX-512, that sums rows which are fewer than `few`.
constexpr Tile bf16x3_few_rows(i64 few, i64 n) { return contract_tile(64, 32, few - 1, n); }

/// Bytes of Call::scratch: the number of a band, its rows in parts, of a block of terms, the weights of two tiles'
/// columns in parts, and, of more terms, the band's sums so far.
inline constexpr i64 kBandNumber = 64;
constexpr i64 bf16x3_scratch_bytes(Tile tile, i64 band_tiles, i64 n, i64 terms) {
  const i64 band_rows = band_tiles * tile.rows, columns = 2 * tile.vectors * kPanel;
  const i64 parts = (band_rows + columns) * bf16x3_block_steps(terms) * kParts16 * kStepTerms * i64(sizeof(bfloat));
  return kBandNumber + parts +
         (bf16x3_steps(terms) > kBlockSteps ? band_rows * panels_of(n) * kPanel * i64(sizeof(f32)) : 0);
}

}  // namespace rt
