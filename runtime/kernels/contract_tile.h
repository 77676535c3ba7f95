// The tile under contract: MR rows by NV vectors of 16 sums in registers, over weights in panels. Each step of k loads
// NV vectors of B and broadcasts MR elements of A; loops over the tile unroll completely, k by four.
#pragma once
#include "runtime/kernels/contract_shape.h"
#include "runtime/kernels/nest.h"

namespace rt {

template <int R>
struct Strides {
  i64 n[R == 0 ? 1 : R];
  RT_FN i64 at(const i64* index) const {
    i64 offset = 0;
    for (int d = 0; d < R; ++d) offset += index[d] * n[d];
    return offset;
  }
  RT_FN bool all_zero() const {
    bool zero = true;
    for (int d = 0; d < R; ++d) zero = zero && n[d] == 0;
    return zero;
  }
};
template <class... N>
RT_FN Strides<sizeof...(N)> strides(N... n) {
  return {{n...}};
}

struct Panels {  // B for one tile: vector j of step k at + j * panel_step + k * k_step
  const f32* at;
  i64 panel_step, k_step;
};

namespace detail {

// A register's bytes: how many of them a panel's vector takes decides how many independent sums hide the latency.
#if defined(__AVX512F__)
inline constexpr int kVectorBytes = 64;
#elif defined(__AVX__)
inline constexpr int kVectorBytes = 32;
#else
inline constexpr int kVectorBytes = 16;
#endif

// From this many products on, the epilogue is one copy in a loop over sums in memory (24 stores and loads beside
// thousands of products); below, a copy for each vector of the tile, straight from the registers.
inline constexpr i64 kRolledEpilogue = 256;

template <int D, int S, class T, class F>
RT_FN void each_segment(const Extents<S>& extents, const Strides<S>& strides, const T* from, F f) {
  if constexpr (D == S) {
    f(from);
  } else {
#pragma GCC unroll 1
    for (i64 s = 0; s < extents.n[D]; ++s) each_segment<D + 1, S>(extents, strides, from + s * strides.n[D], f);
  }
}

template <int R, class Epilogue, class V, class Col>
RT_FN void store_element(Epilogue& epilogue, const i64* index, V sum, i64 row, Col col) {
  auto at_index = [&](auto... i) __attribute__((always_inline)) { epilogue(sum, i..., row, col); };
  call_at<0, R>(index, at_index);
}

template <int N>
struct Size {
  static constexpr int value = N;
};
// Calls f with the size of this part, as a type. Split and part are literals or loop counters of the call: what cannot
// occur is dead code.
template <int N, class F>
RT_FN void each_size(const TileSplit& split, i64 part, F f) {
  if (part < split.full) return f(Size<N>{});
  if constexpr (N > 2) {
    if (split.rest == N - 1) return f(Size<N - 1>{});
  }
  if constexpr (N > 1) f(Size<1>{});
}

template <int MR, int NV>
struct Accumulators {
  using V = vec<f32, kPanel>;
  static constexpr int kRegisters = MR * NV * kPanel * 4 / kVectorBytes;
  // Eight independent sums keep two multipliers of latency four busy; small tiles split k over several.
  static constexpr int kChains = kRegisters >= 8 ? 1 : kRegisters >= 4 ? 2 : 4;
  V sum[kChains][MR][NV];

  RT_FN void clear() {
#pragma GCC unroll 4
    for (int c = 0; c < kChains; ++c)
#pragma GCC unroll 32
      for (int i = 0; i < MR; ++i)
#pragma GCC unroll 8
        for (int j = 0; j < NV; ++j) sum[c][i][j] = V{};
  }
  RT_FN void step(int chain, const f32* a, i64 row_stride, const f32* b, i64 panel_step) {
    V w[NV];
#pragma GCC unroll 8
    for (int j = 0; j < NV; ++j) w[j] = load(b, Lanes<kPanel>{j * panel_step});
#pragma GCC unroll 32
    for (int i = 0; i < MR; ++i) {
      const V x = splat<V>(a[i * row_stride]);
#pragma GCC unroll 8
      for (int j = 0; j < NV; ++j) sum[chain][i][j] = fma(x, w[j], sum[chain][i][j]);
    }
  }
  RT_FN void add_products(const f32* a, i64 row_stride, Panels b, i64 k) {
    i64 at = 0;
    if constexpr (kChains > 1) {
#pragma GCC unroll 2
      for (; at + kChains <= k; at += kChains)
#pragma GCC unroll 4
        for (int c = 0; c < kChains; ++c) step(c, a + at + c, row_stride, b.at + (at + c) * b.k_step, b.panel_step);
    }
#pragma GCC unroll 4
    for (; at < k; ++at) step(0, a + at, row_stride, b.at + at * b.k_step, b.panel_step);
  }
  RT_FN void join() {
#pragma GCC unroll 4
    for (int c = 1; c < kChains; ++c)
#pragma GCC unroll 32
      for (int i = 0; i < MR; ++i)
#pragma GCC unroll 8
        for (int j = 0; j < NV; ++j) sum[0][i][j] += sum[c][i][j];
  }

  // The lanes of the last vector that are columns go one by one.
  template <class F>
  RT_FN void each_lane(V v, int i, i64 col, i64 n, F f) {
    f32 lanes[kPanel];
    store(lanes, Lanes<kPanel>{0}, v);
#pragma GCC unroll 1
    for (i64 c = col; c < n; ++c) f(lanes[c - col], i, c);
  }
  template <class F>
  RT_FN void one(V v, int i, int j, i64 n, i64 col, F f) {
    const i64 at = col + j * kPanel;
    if (n % kPanel == 0 || j < NV - 1 || at + kPanel <= n) {
      f(v, i, Lanes<kPanel>{at});
    } else {
      each_lane(v, i, at, n, f);
    }
  }
  template <class F>
  RT_FN void each(bool rolled, i64 n, i64 col, F f) {
    if (!rolled) return unrolled([&](V v, int i, int j) __attribute__((always_inline)) { one(v, i, j, n, col, f); });
    V memory[MR * NV];  // its own array: one that is indexed at run time cannot stand in registers
    unrolled([&](V v, int i, int j) __attribute__((always_inline)) { memory[i * NV + j] = v; });
#pragma GCC unroll 1
    for (int i = 0; i < MR; ++i)
#pragma GCC unroll 1
      for (int j = 0; j < NV; ++j) one(memory[i * NV + j], i, j, n, col, f);
  }
  template <class F>
  RT_FN void unrolled(F f) {
#pragma GCC unroll 32
    for (int i = 0; i < MR; ++i)
#pragma GCC unroll 8
      for (int j = 0; j < NV; ++j) f(sum[0][i][j], i, j);
  }
};

}  // namespace detail
}  // namespace rt
