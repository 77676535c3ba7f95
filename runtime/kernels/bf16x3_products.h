// Products of floats in parts (bf16x3_shape.h) by tile registers, for a tile of MR rows by up to NV panels of 16
// columns: rows stand as [step][high, middle, low][MR][32], panels as [step][their parts][16 pairs][16][2]. T: of
// the weights, f32 or f16.
#pragma once
#include "runtime/kernels/bf16x3_shape.h"
#include "runtime/kernels/contract_amx.h"

namespace rt {

#if !defined(RT_KERNEL)
namespace detail {

// 32 floats into their parts, `part_step` elements apart.
RT_FN void store_parts(vec<f32, 16> x, vec<f32, 16> y, bfloat* to, i64 part_step) {
  using Floats = vec<f32, 16>;
  using Words = vec<u16, 32>;
  const auto high = [](Floats v) RT_INLINE { return (Floats)((vec<u32, 16>)v & 0xffff0000u); };
  for (int part = 0; part < kParts16; ++part) {
    const Words both = __builtin_shufflevector((Words)x, (Words)y, 1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27,
                                               29, 31, 33, 35, 37, 39, 41, 43, 45, 47, 49, 51, 53, 55, 57, 59, 61, 63);
    __builtin_memcpy(to + part * part_step, &both, sizeof both);
    x -= high(x), y -= high(y);
  }
}
RT_FN void store_parts(const f32* from, bfloat* to, i64 part_step) {
  store_parts(load_next<f32, 16>(from), load_next<f32, 16>(from + 16), to, part_step);
}

// Two terms of a panel's columns, pairs of which stand side by side in its parts.
template <int Parts>
RT_FN void store_parts_of_pair(vec<f32, 16> x, vec<f32, 16> y, bfloat* to) {
  using Floats = vec<f32, 16>;
  using Words = vec<u32, 16>;
  constexpr u32 kHigh = 0xffff0000u;
  for (int part = 0; part < Parts; ++part) {
    const u32 rounds = part < Parts - 1 ? 0x8000u : 0;  // what is left at the end has no more bits than a part
    const Words of_x = (Words)x + rounds, of_y = (Words)y + rounds, both = of_x >> 16 | (of_y & kHigh);
    __builtin_memcpy(to + part * kPartElements, &both, sizeof both);
    x -= (Floats)(of_x & kHigh), y -= (Floats)(of_y & kHigh);
  }
}

// Panels on their way into parts, from contract's panels of T, a pair of terms after another: those of `steps` steps,
// beyond the last of which `terms` zeros stand.
template <class T>
struct WeightsToParts {
  static constexpr int kParts = bf16x3_parts(kIsHalf<T>);
  static constexpr i64 kStepOfPanel = kParts * kPartElements, kPairs = kStepTerms / kPair;  // of a step

  const T* from;
  i64 panel_elements, terms, steps;
  bfloat* to;
  i64 panels, pair = 0;

  RT_FN void bring(i64 count) {
    if (panels > 0) bring_pairs(*this, count);
  }
  RT_FN void bring_all() { bring(panels * steps * kPairs); }
};

// The next `count` pairs, or all that are left; what comes later is brought from memory. A function that kernels share.
template <class T, int = kInstructionSet>
__attribute__((noinline)) void bring_pairs(WeightsToParts<T>& w, i64 count) {
  constexpr i64 kPairs = WeightsToParts<T>::kPairs, kPairsAhead = 2 * kPairs;
  RT_ROLLED
  for (; count > 0 && w.panels > 0; --count) {
    const T* const from = w.from + w.pair * kPairRow;
    bfloat* const to = w.to + w.pair / kPairs * w.kStepOfPanel + w.pair % kPairs * kPairRow;
    const auto row = [&](i64 term) RT_INLINE {
      return w.pair * kPair + term < w.terms ? load_next<T, kPanel>(from + term * kPanel) : vec<f32, kPanel>{};
    };
    for (int line = 0; line < kPairRow * i64(sizeof(T)); line += 64)
      __builtin_prefetch(reinterpret_cast<const char*>(from + kPairsAhead * kPairRow) + line, 0, 2);
    store_parts_of_pair<WeightsToParts<T>::kParts>(row(0), row(1), to);
    if (++w.pair == w.steps * kPairs)
      w.from += w.panel_elements, w.to += w.steps * w.kStepOfPanel, w.pair = 0, --w.panels;
  }
}

template <int MR, int NV, class T>
struct ProductsInParts {
  using Weights = WeightsToParts<T>;
  using Sums = TileRegisterSums<f32, MR, NV>;
  static constexpr int kBlocks = Sums::kBlocks, kHeight = Sums::kHeight;
  static_assert(kBlocks + NV <= kMostBlocks);
  static constexpr int kRows = kMostBlocks, kPanels = kRows + kBlocks;  // registers of rows and panels
  static constexpr int kProducts = Weights::kParts + 3;                 // of two floats' parts
  static constexpr i64 kPartOfRows = MR * kStepTerms;                   // elements of a tile's step
  static constexpr i64 kStepOfRows = kParts16 * kPartOfRows, kStepOfPanel = Weights::kStepOfPanel;

  RT_FN static TileShapes shapes() {
    TileShapes all;
    for (int tile = 0; tile < 2 * kMostBlocks; ++tile) all.set(tile, tile < kPanels ? kHeight : kTileRows);
    return all;
  }

  template <int W>
  RT_FN static void clear() {
    clear(indices<kBlocks * W>{});
  }
  // Adds the products of steps [s, end), a step's smaller ones first; before each of a step's kProducts so many pairs
  // of the next weights are parted.
  template <int W>
  RT_FN static void multiply_steps(const bfloat* rows, const bfloat* panels, i64 panel_step, i64 s, i64 end,
                                   Weights& next, i64 pairs) {
    enum { kHigh, kMiddle, kLow };
    constexpr indices<kBlocks> down{};
    constexpr indices<W> across{};
    constexpr indices<kBlocks * W> sums{};
    RT_ROLLED
    for (; s < end; ++s) {
      const bfloat *const x = rows + s * kStepOfRows, *const w = panels + s * kStepOfPanel;
      load_rows(down, x, kHigh);
      if constexpr (Weights::kParts > kLow)
        load_panels(across, w, panel_step, kLow), next.bring(pairs), multiply<W>(sums);
      load_panels(across, w, panel_step, kMiddle), next.bring(pairs), multiply<W>(sums);
      load_rows(down, x, kMiddle), next.bring(pairs), multiply<W>(sums);
      load_panels(across, w, panel_step, kHigh), next.bring(pairs), multiply<W>(sums);
      load_rows(down, x, kLow), next.bring(pairs), multiply<W>(sums);
      load_rows(down, x, kHigh), next.bring(pairs), multiply<W>(sums);
    }
  }
  // The sums to memory, rows so many floats apart.
  template <int W>
  RT_FN static void put(f32* to, i64 row_stride) {
    put<W>(indices<kBlocks * W>{}, to, row_stride);
  }

 private:
  template <int... I>
  RT_FN static void clear(Indices<int, I...>) {
    (..., clear_tile<I>());
  }
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
  template <int W, int... I>
  RT_FN static void put(Indices<int, I...>, f32* to, i64 row_stride) {
    (..., store_tile<I>(to + Sums::row_of(I / W) * row_stride + I % W * kPanel, row_stride * i64(sizeof(f32))));
  }
};

// Whether a sum is no number, or infinite: an infinite float has no parts.
template <class V>
RT_FN bool has_no_parts(const V* sums, i64 count) {
  V nothing{};
  RT_ROLLED
  for (i64 i = 0; i < count; ++i) nothing = fma<V>(sums[i], V{}, nothing);
  return any(is_nan(nothing));
}

}  // namespace detail
#endif

}  // namespace rt
