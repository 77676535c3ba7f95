// What contract multiplies where both operands have 8 bits: quads_b, constant weights in the panels that
// contract_shape.h says, with rows of u8 or i8. Sums of i32 are exact, in any order. A lane takes four products in one
// instruction (VNNI), or, elsewhere, two by two as 16-bit integers. Those instructions want u8 by i8: i8 rows are
// read as u8 that are larger by 128, and what that and the rows' zero point add to each sum is the same number of times
// the sum of the column's weights, from which, less than nothing, the sum begins.
#pragma once
#include "runtime/call.h"
#include "runtime/kernels/contract_tile.h"

namespace rt {

struct QuadPanels {  // panel j of one tile at + j * panel_step bytes
  const i8* at;
  i64 panel_step;
  static constexpr i64 k_step = kQuadRow;  // of four terms
  RT_FN void advance(i64 k) { at += round_up_div(k, kQuad) * kQuadRow; }
  // What rows that are smaller by `bias` add to the sums of a panel's columns: of those of its `part`, a vector each.
  template <class V>
  RT_FN V sums_of_bias(i32 bias, i64 panel, i64 part) const {
    constexpr int kBytes = sizeof(V);
    const i8* const sums = at + (panel + 1) * panel_step - kQuadRow + part * kBytes;
    return sub(V{}, mul(splat<V>(bias), (V)detail::load_next<i8, kBytes>(sums)));
  }
};

#if !defined(RT_KERNEL)
namespace detail {

// ---- four products a lane ------------------------------------------------------------------------------------------
#if defined(__AVX512VNNI__) || defined(__AVXVNNI__)
#define RT_HAS_QUADS 1
#else
#define RT_HAS_QUADS 0
#endif

template <class V>
using Words = vec<i16, 2 * kLanes<V>>;

// sum[l] + a[2 l] * b[2 l] + a[2 l + 1] * b[2 l + 1]
template <class V>
RT_FN V add_pairs(V sum, Words<V> a, Words<V> b) {
#if defined(__AVX512BW__)
  using P = vec<i32, 16>;
#elif defined(__AVX2__)
  using P = vec<i32, 8>;
#elif defined(__SSE2__)
  using P = vec<i32, 4>;
#else
  using P = vec<i32, 1>;
#endif
  if constexpr (sizeof(P) >= 16 && sizeof(V) >= sizeof(P)) {
    return by_parts<P>(
        [](P s, P x, P y) RT_INLINE {
          const auto u = (Words<P>)x, v = (Words<P>)y;
#if defined(__AVX512BW__) && defined(__clang__)
          return add(s, (P)__builtin_ia32_pmaddwd512(u, v));
#elif defined(__AVX512BW__)
          return add(s, (P)__builtin_ia32_pmaddwd512_mask(u, v, P{}, -1));
#elif defined(__AVX2__)
          return add(s, (P)__builtin_ia32_pmaddwd256(u, v));
#elif defined(__SSE2__)
          return add(s, (P)__builtin_ia32_pmaddwd128(u, v));
#else
          return s;
#endif
        },
        sum, (V)a, (V)b);
  } else {
    const V x = (V)a, y = (V)b;
    return add(sum, add(V((x << 16 >> 16) * (y << 16 >> 16)), V((x >> 16) * (y >> 16))));
  }
}

#if RT_HAS_QUADS
// sum[l] + the products of the four u8 and the four i8 that are lane l of a and b
template <class V>
RT_FN V add_quads(V sum, V a, V b) {
#if defined(__AVX512VNNI__)
  using P = vec<i32, sizeof(V) < 64 ? kLanes<V> : 16>;
#else
  using P = vec<i32, sizeof(V) < 32 ? kLanes<V> : 8>;
#endif
  return by_parts<P>(
      [](P s, P x, P y) RT_INLINE {
#if defined(__AVX512VNNI__) && defined(__clang__)
        if constexpr (sizeof(P) == 64) return (P)__builtin_ia32_vpdpbusd512(s, x, y);
#elif defined(__AVX512VNNI__)
        if constexpr (sizeof(P) == 64) return (P)__builtin_ia32_vpdpbusd_v16si(s, x, y);
#endif
#if defined(__clang__)
        if constexpr (sizeof(P) == 32) return (P)__builtin_ia32_vpdpbusd256(s, x, y);
        if constexpr (sizeof(P) == 16) return (P)__builtin_ia32_vpdpbusd128(s, x, y);
#else
        if constexpr (sizeof(P) == 32) return (P)__builtin_ia32_vpdpbusd_v8si(s, x, y);
        if constexpr (sizeof(P) == 16) return (P)__builtin_ia32_vpdpbusd_v4si(s, x, y);
#endif
      },
      sum, a, b);
}
#endif

// Weights and a row's elements as the instructions want them: what is made of them serves a whole row or column of a
// tile.
template <class V>
struct QuadWeights {
#if RT_HAS_QUADS
  V bytes;
  RT_FN explicit QuadWeights(V w) : bytes(w) {}
#else
  Words<V> even, odd;
  RT_FN explicit QuadWeights(V w) : even((Words<V>)w << 8 >> 8), odd((Words<V>)w >> 8) {}
#endif
};
template <class V>
struct QuadElements {
#if RT_HAS_QUADS
  V bytes;
  RT_FN explicit QuadElements(V x) : bytes(x) {}
  RT_FN V add_products(V sum, const QuadWeights<V>& w) const { return add_quads<V>(sum, bytes, w.bytes); }
#else
  Words<V> even, odd;
  RT_FN explicit QuadElements(V x)
      : even((Words<V>)(x & 0x00ff00ff)), odd((Words<V>)((vec<u16, 2 * kLanes<V>>)x >> 8)) {}
  RT_FN V add_products(V sum, const QuadWeights<V>& w) const {
    return add_pairs<V>(add_pairs<V>(sum, even, w.even), odd, w.odd);
  }
#endif
};

// A quad of a row, as u8: the sign bits of i8 are turned, which adds 128.
template <class T>
RT_FN u32 biased_quad(u32 x) {
  return kSame<T, i8> ? x ^ 0x80808080u : x;
}
template <class T>
RT_FN u32 load_quad(const T* p) {
  struct __attribute__((packed, may_alias)) Quad {
    u32 value;
  };
  return biased_quad<T>(reinterpret_cast<const Quad*>(p)->value);
}
template <class T>
RT_FN u32 load_quad(const T* p, i64 count) {  // fewer than four, which may be the last ones that can be read
  u32 x = u8(p[0]);
  if (count > 1) x |= u32(u8(p[1])) << 8;
  if (count > 2) x |= u32(u8(p[2])) << 16;
  return biased_quad<T>(x);
}

struct Quads {
  using Weight = i8;
  template <class V>
  using Weights = QuadWeights<V>;
  template <class V>
  using Elements = QuadElements<V>;
  static constexpr int kTerms = kQuad;
  static constexpr i64 kRow = kQuadRow;
  template <class V>
  RT_FN static QuadWeights<V> weights(vec<i8, kTerms * kLanes<V>> w) {
    return QuadWeights<V>((V)w);
  }
  template <class V>
  RT_FN static QuadElements<V> elements(u32 quad) {
    return QuadElements<V>(splat<V>(i32(quad)));
  }
  template <class T>
  RT_FN static u32 load(const T* p) {
    return load_quad(p);
  }
  template <class T>
  RT_FN static u32 load(const T* p, i64 count) {
    return load_quad(p, count);
  }
};

template <int MR, int NV, int kChains, int Columns>
struct QuadSums : SeveralSums<Quads, i32, MR, NV, kChains, Columns> {
  using Base = SeveralSums<Quads, i32, MR, NV, kChains, Columns>;
  using Base::kAcross, Base::kSums, Base::sum;
  using typename Base::V;

  // From what takes off all that the bias of each element will add.
  RT_FN void begin(i32 bias, QuadPanels panels) {
    this->clear();
    if (bias != 0) begin(indices<kSums>{}, bias, panels);
  }
  template <int... I>
  RT_FN void begin(Indices<int, I...>, i32 bias, QuadPanels panels) {
    (..., (sum[I] = panels.template sums_of_bias<V>(bias, I % kAcross / kParts, I % kAcross % kParts)));
  }
};

}  // namespace detail
#endif

// Panels, `outer` bytes apart for each outer axis, for rows less `zero`. k: terms of a segment.
template <int R>
struct QuadsB {
  const i8* base;
  Strides<R> outer;
  i64 k;
  i32 zero;

  static constexpr bool kDots = false, kStreams = false;
  using Sum = i32;
  template <class T>
  RT_FN i32 add(i32 sum, T x, i8 w) const {
    return i32(u32(sum) + u32((i32(x) - zero) * i32(w)));
  }
  RT_FN bool shared() const { return outer.all_zero(); }
  RT_FN bool dots(i64) const { return false; }
  RT_FN i64 panel_step(i64 k_total) const { return quad_panel_bytes(quads_of(k_total / k, k)); }
  RT_FN i8 at(const i64* index, i64 t, i64 col, i64 k_total) const {
    return base[outer.at(index) + col / kPanel * panel_step(k_total) + quad_offset(t, col % kPanel, k)];
  }
#if !defined(RT_KERNEL)
  template <int MR, int NV, int kChains, int Columns = kPanel>
  using Sums = detail::QuadSums<MR, NV, kChains, Columns>;
  template <class A>
  RT_FN i32 bias(const A&) const {
    return kSame<bare<decltype(*A::base)>, i8> ? zero + 128 : zero;
  }
  RT_FN QuadPanels panels(const Call&, const i64* index, i64 panel, i64, i64, i64, i64 k_total) const {
    return {base + outer.at(index) + panel * panel_step(k_total), panel_step(k_total)};
  }
#endif
};
template <int R>
RT_FN QuadsB<R> quads_b(const i8* base, Strides<R> outer, i64 k, i32 zero) {
  return {base, outer, k, zero};
}

}  // namespace rt
