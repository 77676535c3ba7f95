// What contract multiplies where both operands are bf16: pairs_b, constant weights in the panels that contract_shape.h
// says, with rows of bfloat. A lane takes two products in one instruction (AVX512-BF16), or, elsewhere, one after the
// other, and sums them in f32. Long sums are not taken in blocks: what that would gain is a fraction of what the
// operands' eight bits have lost.
#pragma once
#include "runtime/call.h"
#include "runtime/kernels/contract_tile.h"

namespace rt {

struct PairPanels {  // panel j of one tile at + j * panel_step elements
  const u16* at;
  i64 panel_step;
  static constexpr i64 k_step = kPairRow;
  RT_FN void advance(i64 k) { at += round_up_div(k, kPair) * kPairRow; }
};

#if !defined(RT_KERNEL)
namespace detail {

// ---- two products a lane
#if defined(__AVX512BF16__)
using PairSum = vec<f32, 16>;
#if defined(__clang__) ? __clang_major__ >= 16 : __GNUC__ >= 13
using PairOperand = vec<__bf16, 32>;
#elif defined(__clang__)
using PairOperand = vec<i32, 16>;
#else
using PairOperand = vec<i16, 32>;
#endif
RT_FN PairSum add_pair_products(PairSum sum, PairOperand x, PairOperand y) {
#if defined(__clang__)
  return __builtin_ia32_dpbf16ps_512(sum, x, y);
#else
  return __builtin_ia32_dpbf16ps_v16sf(sum, x, y);
#endif
}
#endif

template <class V>
using Words32 = vec<u32, kLanes<V>>;

// A pair in each lane, as the instruction wants it: what is made of them serves a whole row or column of a tile.
template <class V>
struct PairFactors {
#if defined(__AVX512BF16__)
  Words32<V> pairs;
  RT_FN explicit PairFactors(Words32<V> x) : pairs(x) {}
  RT_FN V add_products(V sum, const PairFactors& y) const {
    return by_parts<PairSum>([](PairSum s, PairSum u, PairSum v)
                                 RT_INLINE { return add_pair_products(s, (PairOperand)u, (PairOperand)v); },
                             sum, (V)pairs, (V)y.pairs);
  }
#else
  V even, odd;
  RT_FN explicit PairFactors(Words32<V> x) : even((V)(x << 16)), odd((V)(x & 0xffff0000u)) {}
  RT_FN V add_products(V sum, const PairFactors& y) const { return fma<V>(odd, y.odd, fma<V>(even, y.even, sum)); }
#endif
};

RT_FN u32 load_pair(const bfloat* p) {
  struct __attribute__((packed, may_alias)) Pair {
    u32 value;
  };
  return reinterpret_cast<const Pair*>(p)->value;
}

struct Pairs {
  using Weight = u16;
  template <class V>
  using Weights = PairFactors<V>;
  template <class V>
  using Elements = PairFactors<V>;
  static constexpr int kTerms = kPair;
  static constexpr i64 kRow = kPairRow;
  template <class V>
  RT_FN static PairFactors<V> weights(vec<u16, kTerms * kLanes<V>> w) {
    return PairFactors<V>((Words32<V>)w);
  }
  template <class V>
  RT_FN static PairFactors<V> elements(u32 pair) {
    return PairFactors<V>(splat<Words32<V>>(pair));
  }
  RT_FN static u32 load(const bfloat* p) { return load_pair(p); }
  RT_FN static u32 load(const bfloat* p, i64) { return p->bits; }  // the last element that can be read
};

template <int MR, int NV, int kChains, int Columns>
struct PairSums : SeveralSums<Pairs, f32, MR, NV, kChains, Columns> {};

}  // namespace detail
#endif

// Panels, `outer` elements apart for each outer axis. k: terms of a segment.
template <int R>
struct PairsB {
  const bfloat* base;
  Strides<R> outer;
  i64 k;

  static constexpr bool kDots = false, kStreams = false;
  using Sum = f32;
  RT_FN f32 add(f32 sum, f32 x, f32 y) const { return fma(x, y, sum); }
  RT_FN bool shared() const { return outer.all_zero(); }
  RT_FN bool dots(i64) const { return false; }
  RT_FN i64 panel_step(i64 k_total) const { return pairs_of(k_total / k, k) * kPairRow; }
  RT_FN f32 at(const i64* index, i64 t, i64 col, i64 k_total) const {
    return load(base, outer.at(index) + col / kPanel * panel_step(k_total) + pair_offset(t, col % kPanel, k));
  }
#if !defined(RT_KERNEL)
  template <int MR, int NV, int kChains, int Columns = kPanel>
  using Sums = detail::PairSums<MR, NV, kChains, Columns>;
  template <class A>
  RT_FN detail::NoBias bias(const A&) const {
    return {};
  }
  RT_FN PairPanels panels(const Call&, const i64* index, i64 panel, i64, i64, i64, i64 k_total) const {
    const i64 step = panel_step(k_total);
    return {&base[outer.at(index) + panel * step].bits, step};
  }
#endif
};
template <int R>
RT_FN PairsB<R> pairs_b(const bfloat* base, Strides<R> outer, i64 k) {
  return {base, outer, k};
}

}  // namespace rt
