// What contract multiplies: matrix_a (rows with contiguous k), packed_b (constant weights in panels, as
// contract_shape.h says) and strided_b (a computed matrix, brought into panels a tile at a time); contract_quads.h has
// integers. Each says how a tile reads it and, by `at`, what its elements are.
#pragma once
#include "runtime/call.h"
#include "runtime/kernels/contract_tile.h"

namespace rt {

namespace detail {
RT_FN bool is_aligned(const void* p) { return reinterpret_cast<u64>(p) % 16 == 0; }
}  // namespace detail

template <class T, int R, int S>
struct MatrixA {  // (i.., row, s.., k) at base + i * outer + row * row_stride + s * segment + k
  const T* base;
  Strides<R> outer;
  i64 row_stride;
  Strides<S> segment;

  // Whether aligned runs of so many elements make up its rows; k is a segment's.
  template <int Run>
  RT_FN bool has_runs(i64 k) const {
    return detail::is_aligned(base) && row_stride % Run == 0 && outer.template all_multiples_of<Run>() &&
           segment.template all_multiples_of<Run>() && (S == 0 || k % Run == 0);
  }
};
template <class T, int R, int S>
RT_FN MatrixA<T, R, S> matrix_a(const T* base, Strides<R> outer, i64 row_stride, Strides<S> segment) {
  return {base, outer, row_stride, segment};
}

// Panels that are the same for all points, and more than the second cache holds: while one column of tiles is summed,
// the next one's come from memory.
template <class B>
struct Streamed : B {
  static constexpr bool kStreams = true;
};
template <class B>
RT_FN Streamed<B> streamed(B b) {
  return {b};
}

// Panels, `outer` elements apart for each outer axis.
template <class T, int R>
struct PackedB {
  const T* base;
  Strides<R> outer;

  // Runs of elements, 16 bytes, for a GPU's copies: whether they go along k, whether they are aligned, the columns they
  // cover.
  RT_FN bool runs_along_k() const { return false; }
  template <int Run>
  RT_FN bool has_runs() const {
    return detail::is_aligned(base) && outer.template all_multiples_of<Run>();
  }
  RT_FN i64 columns(i64 n) const { return panels_of(n) * kPanel; }

  static constexpr bool kDots = false, kStreams = false;
  using Sum = f32;
  RT_FN f32 add(f32 sum, f32 x, f32 y) const { return fma(x, y, sum); }
#if !defined(RT_KERNEL)
  template <int MR, int NV, int kChains, int Columns = kPanel>
  using Sums = detail::Accumulators<MR, NV, kChains, Columns>;
  template <class A>
  RT_FN detail::NoBias bias(const A&) const {
    return {};
  }
#endif
  RT_FN bool shared() const { return outer.all_zero(); }
  RT_FN bool dots(i64) const { return false; }
  RT_FN const T* address(const i64* index, i64 k, i64 col, i64 k_total) const {
    return base + outer.at(index) + (col / kPanel * k_total + k) * kPanel + col % kPanel;
  }
  RT_FN auto at(const i64* index, i64 k, i64 col, i64 k_total) const {
    return load(address(index, k, col, k_total), 0);
  }
  RT_FN PackedPanels<T> panels(const Call&, const i64* index, i64 panel, i64, i64, i64, i64 k_total) const {
    return {base + outer.at(index) + panel * k_total * kPanel, k_total * kPanel};
  }
};
template <class T, int R>
RT_FN PackedB<T, R> packed_b(const T* base, Strides<R> outer) {
  return {base, outer};
}

// The same of 16 bits, brought into scratch as f32 once for all tiles of a column.
template <class T, int R>
struct WidenedB : PackedB<T, R> {
  RT_FN WidenedPanels<T> panels(const Call& call, const i64* index, i64 panel, i64, i64, i64, i64 k_total) const {
    return {{narrow_panels(call, index, panel, k_total), static_cast<f32*>(call.scratch)}};
  }
  // As they stand, for a few tiles.
  RT_FN PackedPanels<T> narrow_panels(const Call& call, const i64* index, i64 panel, i64 k_total) const {
    return PackedB<T, R>::panels(call, index, panel, 0, 0, 0, k_total);
  }
};
template <class T, int R>
RT_FN WidenedB<T, R> widened(PackedB<T, R> b) {
  return {b};
}

#if !defined(RT_KERNEL)  // a block reads B where it stands
namespace detail {

inline constexpr int kBlock = kVectorBytes / 4;
using Block = vec<f32, kBlock>;

template <int D, int... P>
RT_FN void add_across(Indices<int, P...>, Block* rows) {  // rows[0] lane l becomes the sum of row l
  if constexpr (D < kBlock) {
    (..., exchange<D>(indices<kBlock>{}, rows[P * 2 * D], rows[P * 2 * D + D]));
    (..., (rows[P * 2 * D] += rows[P * 2 * D + D]));
    add_across<2 * D>(indices<sizeof...(P) / 2>{}, rows);
  }
}

// kBlock columns by kBlock steps, columns contiguous; those past `last` repeat it.
template <int... I>
RT_FN void pack_square(Indices<int, I...>, f32* to, const f32* from, i64 n_stride, i64 last) {
  Block rows[kBlock] = {load_next<f32, kBlock>(from + (I < last ? I : last) * n_stride)...};
  transpose_square<1>(indices<kBlock / 2>{}, rows);
  (..., store(to + I * kPanel, Lanes<kBlock>{0}, rows[I]));
}
// The products of one row with kBlock columns.
template <int... I>
RT_FN Block dot_square(Indices<int, I...>, const f32* a, const f32* b, i64 n_stride, i64 last, i64 k) {
  const f32* const column[kBlock] = {b + (I < last ? I : last) * n_stride...};
  Block total = {};
  i64 at = 0;
  do {  // kSumBlock products a lane
    const i64 end = k - at < kBlock * kSumBlock ? k : at + kBlock * kSumBlock;
    Block sums[kBlock] = {};
    for (; at + kBlock <= end; at += kBlock) {
      const Block x = load_next<f32, kBlock>(a + at);
      (..., (sums[I] = fma<Block>(x, load_next<f32, kBlock>(column[I] + at), sums[I])));
    }
    add_across<1>(indices<kBlock / 2>{}, sums);
    for (; at < end; ++at) sums[0] = fma<Block>(splat<Block>(a[at]), Block{column[I][at]...}, sums[0]);
    total += sums[0];
  } while (at < k);
  return total;
}

}  // namespace detail
#endif

template <class T, int R>
struct StridedB {  // (i.., k, col) at base + i * outer + k * k_stride + col * n_stride
  const T* base;
  Strides<R> outer;
  i64 k_stride, n_stride;
  i64 pack_from;  // rows of A, that a processor brings it into panels for

  RT_FN bool runs_along_k() const { return k_stride == 1; }
  template <int Run>
  RT_FN bool has_runs() const {
    const bool strides = k_stride == 1 ? n_stride % Run == 0 : n_stride == 1 && k_stride % Run == 0;
    return strides && detail::is_aligned(base) && outer.template all_multiples_of<Run>();
  }
  RT_FN i64 columns(i64 n) const { return n; }

  static constexpr bool kDots = true, kStreams = false;
  using Sum = f32;
  RT_FN f32 add(f32 sum, f32 x, f32 y) const { return fma(x, y, sum); }
#if !defined(RT_KERNEL)
  template <int MR, int NV, int kChains, int Columns = kPanel>
  using Sums = detail::Accumulators<MR, NV, kChains, Columns>;
  template <class A>
  RT_FN detail::NoBias bias(const A&) const {
    return {};
  }
#endif
  RT_FN bool shared() const { return false; }
  // Columns that are contiguous are multiplied with few rows as they stand, adding up across lanes.
  RT_FN bool dots(i64 m) const { return k_stride == 1 && m < pack_from; }
  RT_FN const T* address(const i64* index, i64 k, i64 col, i64) const {
    return base + outer.at(index) + k * k_stride + col * n_stride;
  }
  RT_FN auto at(const i64* index, i64 k, i64 col, i64 k_total) const {
    return load(address(index, k, col, k_total), 0);
  }
#if !defined(RT_KERNEL)
  // Rows of B that are contiguous can be read where they stand.
  RT_FN Panels<f32> panels(const Call& call, const i64* index, i64 panel, i64 width, i64 m, i64 n, i64 k_total) const {
    const T* const from = base + outer.at(index) + panel * kPanel * n_stride;
    if (n_stride == 1 && m < pack_from && (n % kPanel == 0 || (panel + width) * kPanel <= n))
      return {from, kPanel, k_stride};
    f32* const to = static_cast<f32*>(call.scratch);
    RT_ROLLED
    for (i64 p = 0; p < width; ++p)
      pack_panel(to + p * k_total * kPanel, from + p * kPanel * n_stride, n - (panel + p) * kPanel, k_total);
    return {to, k_total * kPanel, kPanel};
  }
  RT_FN void pack_panel(f32* to, const T* from, i64 columns, i64 k_total) const {
    if (n_stride == 1 && columns >= kPanel) {
      for (i64 k = 0; k < k_total; ++k)
        store(to + k * kPanel, Lanes<kPanel>{0}, load(from, Lanes<kPanel>{k * k_stride}));
    } else if (k_stride == 1 && k_total >= detail::kBlock) {
      for (i64 c = 0; c < kPanel && c < columns; c += detail::kBlock)
        for (i64 k = 0; k < k_total; k += detail::kBlock) {
          const i64 at = k + detail::kBlock <= k_total ? k : k_total - detail::kBlock;  // the last square overlaps
          detail::pack_square(detail::indices<detail::kBlock>{}, to + at * kPanel + c, from + c * n_stride + at,
                              n_stride, columns - 1 - c);
        }
    } else {
      for (i64 k = 0; k < k_total; ++k)
        for (i64 l = 0; l < kPanel && l < columns; ++l) to[k * kPanel + l] = load(from, k * k_stride + l * n_stride);
    }
  }
  // One row with one panel's columns.
  RT_FN void dot(f32* sums, const T* a, const i64* index, i64 panel, i64 n, i64 k) const {
    const T* const from = base + outer.at(index) + panel * kPanel * n_stride;
    for (i64 c = 0; c < kPanel && panel * kPanel + c < n; c += detail::kBlock)
      store(sums, Lanes<detail::kBlock>{c},
            detail::dot_square(detail::indices<detail::kBlock>{}, a, from + c * n_stride, n_stride,
                               n - 1 - panel * kPanel - c, k));
  }
#endif
};
#if !defined(RT_KERNEL)
namespace detail {

// `count` parts of a contraction's rows from `part` on times the columns of `width` panels, as B stands.
template <class C>
RT_FN void dot_rows(const C& c, const i64* index, i64 part, i64 count, i64 panel, i64 width) {
  if constexpr (C::kDots) {
    const i64 end = c.rows.begin(part + count) < c.m ? c.rows.begin(part + count) : i64(c.m);
    RT_ROLLED
    for (i64 row = c.rows.begin(part); row < end; ++row) RT_ROLLED
    for (i64 p = panel; p < panel + width; ++p) {
      f32 sums[kPanel] = {};
      c.b.dot(sums, c.row_at(index, row), index, p, c.n, c.k);
      for (int at = 0; at < kPanel; at += kPart)
        emit(load(sums, Lanes<kPart>{at}), p * kPanel + at, c.n,
             [&](auto sum, auto col) __attribute__((always_inline)) { c.store(index, sum, row, col); });
    }
  }
}
// The part of the next panels, `width` of them, that a tile brings: that of `share` of a column's `total` tiles, or
// rows, from number `at` on.
template <class B, class P>
RT_FN auto ahead_of(P panels, i64 width, i64 at, i64 share, i64 total) {
  if constexpr (B::kStreams) {
    const i64 bytes = width * panels.panel_step * i64(sizeof *panels.at);
    const i64 step = round_up_div(width * panels.k_step * i64(sizeof *panels.at) * share, total);
    return Ahead{reinterpret_cast<const char*>(panels.at) + bytes + bytes * at / total, step};
  } else {
    return NoAhead{};
  }
}

}  // namespace detail
#endif

template <class T, int R>
RT_FN StridedB<T, R> strided_b(const T* base, Strides<R> outer, i64 k_stride, i64 n_stride, i64 pack_from = 0) {
  return {base, outer, k_stride, n_stride, pack_from};
}

}  // namespace rt
