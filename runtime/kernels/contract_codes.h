// What contract multiplies where weights stay quantised: codes_b, codes of 4 or 8 bits without sign in panels as
// contract_shape.h packs them, and for each block of terms and each column a scale, and a zero point if these differ.
// A segment is a block: its sum of a * (code - zero) is kept apart and scaled at its end, so a tile has two vectors of
// sums each. A few rows read each code once, and memory bounds them; more rows are bound by the conversions, of which
// each serves as many rows as a tile has.
#pragma once
#include "runtime/call.h"
#include "runtime/kernels/contract_tile.h"
#include "runtime/rt/math.h"

namespace rt {

template <int Bits>
struct CodePanels {  // panel j of one tile at `at` + j * panel_step bytes, and j * block_step scales and zero points
  static constexpr i64 k_step = kPanel;  // bytes of a step, whose codes share a byte
  const u8* at;
  const f32* scales;
  const u8* zeros;  // null: all are `zero`
  i64 panel_step, block_step;
  i32 zero;
  RT_FN void advance(i64 k) {
    at += k * kPanel * Bits / 8;
    scales += kPanel;
    if (zeros) zeros += kPanel;
  }
};

#if !defined(RT_KERNEL)
namespace detail {

template <int Bits, int MR, int NV, int Columns>
struct CodeSums : TileSums<f32, MR, NV, 1, Columns> {
  using Base = TileSums<f32, MR, NV, 1, Columns>;
  using Base::kAcross, Base::kSums, Base::sum;
  using typename Base::V;
  using Integers = vec<i32, kPart>;
  static constexpr bool kExact = true;     // blocks are short
  static constexpr int kTerms = 8 / Bits;  // of a byte
#if defined(__AVX512F__)
  static constexpr bool kLooksUp = Bits == 4 && sizeof(V) == 64;  // a register holds the floats of all codes
#else
  static constexpr bool kLooksUp = false;
#endif

  RT_FN static Integers widened(const u8* p) { return __builtin_convertvector(load_next<u8, kPart>(p), Integers); }
  template <int... I, int... J, class Next>
  RT_FN void add_block(Indices<int, I...>, Indices<int, J...>, const f32* a, i64 row_stride, CodePanels<Bits> b, i64 k,
                       Next& ahead) {
    const V same = splat<V>(b.zeros ? f32(0) : f32(b.zero)), floats = iota<V>() - same;
    const V zero[kAcross] = {
        (b.zeros    ? __builtin_convertvector(widened(b.zeros + J / kParts * b.block_step + J % kParts * kPart), V)
         : kLooksUp ? V{}
                    : same)...};
    V block[kSums] = {};
#pragma GCC unroll 2
    for (i64 t = 0; t < k; t += kTerms) {
      ahead.step();
      const Integers codes[kAcross] = {
          widened(b.at + J / kParts * b.panel_step + t / kTerms * kPanel + J % kParts * kPart)...};
      add_terms<0, I...>(Indices<int, J...>{}, block, a + t, row_stride, codes, floats, zero);
    }
    (..., (sum[I] = fma<V>(
               load_next<f32, kPart>(b.scales + I % kAcross / kParts * b.block_step + I % kAcross % kParts * kPart),
               block[I], sum[I])));
  }
  template <int Term, int... I, int... J>
  RT_FN void add_terms(Indices<int, J...> across, V* block, const f32* a, i64 row_stride, const Integers* codes,
                       V floats, const V* zero) {
    if constexpr (Term < kTerms) {
      const V w[kAcross] = {V(as_float<Term>(codes[J], floats) - zero[J])...};
      (..., (block[I] = fma<V>(splat<V>(a[I / kAcross * row_stride + Term]), w[I % kAcross], block[I])));
      add_terms<Term + 1, I...>(across, block, a, row_stride, codes, floats, zero);
    }
  }
  /// The code of a term. Of `floats`, which holds those of the codes 0 to 15, the lowest four bits name one.
  template <int Term>
  RT_FN static V as_float(Integers bytes, [[maybe_unused]] V floats) {
    const Integers code = Term == 0 ? bytes : bytes >> 4;
#if defined(__AVX512F__)
    if constexpr (kLooksUp) return look_up<V>(floats, bits<like<u32, V>>(code));
#endif
    return __builtin_convertvector(Bits == 4 && Term == 0 ? code & 15 : code, V);
  }
  template <bool Unrolled = true, class Next>
  RT_FN void add_products(const f32* a, i64 row_stride, CodePanels<Bits> b, i64 k, Next& ahead) {
    add_block(indices<kSums>{}, indices<kAcross>{}, a, row_stride, b, k, ahead);
  }
};

}  // namespace detail
#endif

// Panels that all points share. k: terms of a block, an even number where two share a byte.
template <int Bits>
struct CodesB {
  const u8* codes;
  const f32* scales;
  const u8* zeros;
  i64 k;
  i32 zero;

  static constexpr bool kDots = false, kStreams = true;  // what is kept so small is read from memory
  using Sum = f32;
  RT_FN f32 add(f32 sum, f32 x, f32 y) const { return fma(x, y, sum); }
  RT_FN bool shared() const { return true; }
  RT_FN bool dots(i64) const { return false; }
  RT_FN i64 panel_step(i64 k_total) const { return k_total * kPanel * Bits / 8; }
  RT_FN f32 at(const i64*, i64 t, i64 col, i64 k_total) const {
    constexpr i64 kTerms = 8 / Bits;
    const i64 lane = col % kPanel, block = col / kPanel * (k_total / k) + t / k;
    const u8 byte = codes[col / kPanel * panel_step(k_total) + t / kTerms * kPanel + lane];
    const i32 code = Bits == 8 ? byte : byte >> t % kTerms * 4 & 15;
    return f32(code - (zeros ? i32(zeros[block * kPanel + lane]) : zero)) * scales[block * kPanel + lane];
  }
#if !defined(RT_KERNEL)
  template <int MR, int NV, int kChains, int Columns = kPanel>
  using Sums = detail::CodeSums<Bits, MR, NV, Columns>;
  template <class A>
  RT_FN detail::NoBias bias(const A&) const {
    return {};
  }
  RT_FN CodePanels<Bits> panels(const Call&, const i64*, i64 panel, i64, i64, i64, i64 k_total) const {
    const i64 step = k_total / k * kPanel;
    return {codes + panel * panel_step(k_total),
            scales + panel * step,
            zeros ? zeros + panel * step : nullptr,
            panel_step(k_total),
            step,
            zero};
  }
#endif
};
template <int Bits>
RT_FN CodesB<Bits> codes_b(const u8* codes, const f32* scales, const u8* zeros, i64 k, i32 zero) {
  return {codes, scales, zeros, k, zero};
}

}  // namespace rt
