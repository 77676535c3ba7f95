// What the planner knows of bf16x3: how weights stand, and the scratch of a kernel.
// A float of f32 is the sum of three of bf16, its high, middle and low part, each of eight bits; a product of two is
// then nine products, of which the three smallest are left out: they are less than half a rounding of f32. Sums are
// taken in f32. [Henry, Tang, Heinecke: Leveraging the bfloat16 Artificial Intelligence Datatype For Higher-Precision
// Computations, ARITH 2019; oneMKL's FLOAT_TO_BF16X3]
// Weights: panels [n / 16 rounded up][steps][high, middle, low][16 pairs][16][2], 32 terms a step, the last ones filled
// up with zeros. They are parted by rounding, which leaves remainders of both signs; rows, at run time, by cutting bits
// off. Weights of f16 have no low part.
#pragma once
#include "runtime/kernels/contract_shape.h"
#include "runtime/rt/half.h"

namespace rt {

inline constexpr int kParts16 = 3;                         // of a float
inline constexpr i64 kStepTerms = 32;                      // of a row's part in a tile register
inline constexpr i64 kPartElements = kPanel * kStepTerms;  // of a panel's step
inline constexpr i64 kBlockSteps = 2 * kSumBlock / kStepTerms;

constexpr i64 bf16x3_steps(i64 terms) { return round_up_div(terms, kStepTerms); }
constexpr i64 bf16x3_panel_elements(i64 terms, i64 parts) { return bf16x3_steps(terms) * parts * kPartElements; }
constexpr i64 bf16x3_elements(i64 n, i64 terms, i64 parts) {
  return panels_of(n) * bf16x3_panel_elements(terms, parts);
}
/// Where a panel has a part of lane l of term t, one of `parts`.
constexpr i64 bf16x3_offset(i64 t, i64 l, i64 part, i64 parts) {
  return (t / kStepTerms * parts + part) * kPartElements + t % kStepTerms / kPair * kPairRow + l * kPair + t % kPair;
}

/// Writes bf16x3_elements(n, terms, parts) elements, which are 0; at(t, column) is the logical matrix of f32. What has
/// no parts (it is infinite, or rounds to that) is cut off, or stands as its high part alone.
template <class At>
RT_FN void pack_bf16x3(bfloat* to, i64 n, i64 terms, i64 parts, At at) {
  for (i64 p = 0; p < panels_of(n); ++p, to += bf16x3_panel_elements(terms, parts))
    for (i64 t = 0; t < terms; ++t)
      for (i64 l = 0; l < kPanel && p * kPanel + l < n; ++l) {
        f32 left = at(t, p * kPanel + l);
        for (i64 part = 0; part < parts; ++part) {
          bfloat& its = to[bf16x3_offset(t, l, part, parts)] = to_bfloat(left);
          const bool is_infinite = (__builtin_bit_cast(u32, left) & 0x7fffff) == 0;
          if ((its.bits & 0x7fff) == 0x7f80 && !is_infinite) --its.bits;
          left = (its.bits & 0x7f80) == 0x7f80 ? 0 : left - to_float(its);
        }
      }
}

/// Bytes of Call::scratch: the number of a band, its rows in parts, of a block of terms, and, of more terms, their sums
/// so far.
inline constexpr i64 kBandNumber = 64;
constexpr i64 bf16x3_scratch_bytes(i64 band_rows, i64 n, i64 terms) {
  const i64 steps = bf16x3_steps(terms), staged = steps < kBlockSteps ? steps : kBlockSteps;
  const i64 parts = band_rows * staged * kParts16 * kStepTerms * i64(sizeof(bfloat));
  return kBandNumber + parts + (steps > kBlockSteps ? band_rows * panels_of(n) * kPanel * i64(sizeof(f32)) : 0);
}

}  // namespace rt
