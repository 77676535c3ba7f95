// The tile under contract: MR rows by NV vectors of 16 sums in registers, over weights in panels. Each step of k loads
// NV vectors of B and broadcasts MR elements of A; loops over the tile unroll completely, k by four.
#pragma once
#include "runtime/kernels/contract_shape.h"
#include "runtime/kernels/nest.h"

namespace rt {

template <int R>
struct Strides {
  i64 n[R == 0 ? 1 : R];
  template <int D = 0>
  RT_FN i64 at(const i64* index) const {
    if constexpr (D < R) {
      return index[D] * n[D] + at<D + 1>(index);
    } else {
      return 0;
    }
  }
  template <int D = 0>
  RT_FN bool all_zero() const {
    if constexpr (D < R) {
      return n[D] == 0 && all_zero<D + 1>();
    } else {
      return true;
    }
  }
  template <int N, int D = 0>
  RT_FN bool all_multiples_of() const {
    if constexpr (D < R) {
      return n[D] % N == 0 && all_multiples_of<N, D + 1>();
    } else {
      return true;
    }
  }
};
template <class... N>
RT_FN Strides<sizeof...(N)> strides(N... n) {
  return {{n...}};
}

template <class T>
struct Panels {  // B for one tile: vector j of step k at + j * panel_step + k * k_step
  const T* at;
  i64 panel_step, k_step;
  RT_FN void advance(i64 k) { at += k * k_step; }
};
template <class T>
struct PackedPanels {  // the same of constant weights
  const T* at;
  i64 panel_step;
  static constexpr i64 k_step = kPanel;
  RT_FN void advance(i64 k) { at += k * k_step; }
};

// Weights of 16 bits that a column's first tile multiplies, and stores as f32 for those below it: on some processors a
// conversion takes the place of an FMA.
template <class T>
struct WideningPanels : PackedPanels<T> {
  f32* to;  // panels of the same form
  RT_FN void advance(i64 k) {
    PackedPanels<T>::advance(k);
    to += k * kPanel;
  }
};
template <class T>
struct WidenedPanels : WideningPanels<T> {
  bool stored = false;
};

// Panels that come next, brought from memory into the second cache while a tile is summed: so many bytes at each step
// of k.
struct Ahead {
  const char* at;
  i64 k_step;
  RT_FN void step() {
    __builtin_prefetch(at, 0, 2);
    at += k_step;
  }
};
struct NoAhead {
  RT_FN void step() {}
};

namespace detail {

// Counting through outer axes as nest does, but written out for each axis: a loop over them would keep every number of
// the call in memory until it is unrolled, and every tile that cannot occur with it.
template <int D, int R>
RT_FN i64 points_of(const Extents<R>& e) {
  if constexpr (D == 0) {
    return 1;
  } else {
    return points_of<D - 1>(e) * e.n[D - 1];
  }
}
template <int D, int R>
RT_FN void index_of(i64 point, const Extents<R>& e, i64* index) {
  if constexpr (D > 0) {
    index[D - 1] = D == 1 ? point : point % e.n[D - 1];
    index_of<D - 1>(point / e.n[D - 1], e, index);
  }
}
template <int D, int R>
RT_FN void advance(const Extents<R>& e, i64* index) {
  if constexpr (D > 0) {
    if (++index[D - 1] < e.n[D - 1]) return;
    index[D - 1] = 0;
    advance<D - 1>(e, index);
  }
}

template <int D, int R>
RT_FN void last_index(const Extents<R>& e, i64* index) {
  if constexpr (D > 0) {
    index[D - 1] = e.n[D - 1] - 1;
    last_index<D - 1>(e, index);
  }
}
template <int D>
RT_FN void copy_index(const i64* from, i64* to) {
  if constexpr (D > 0) {
    to[D - 1] = from[D - 1];
    copy_index<D - 1>(from, to);
  }
}

template <int D, int S, class T, class F>
RT_FN void each_segment(const Extents<S>& extents, const Strides<S>& strides, const T* from, F f) {
  if constexpr (D == S) {
    f(from);
  } else {
    RT_ROLLED
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
// Whether parts of this size occur; a total that only the run knows admits all.
template <class Total>
constexpr bool occurs(int limit, int size) {
  if constexpr (kIsConstant<Total>) {
    const TileSplit s = split_tiles(Total::value, limit);
    return (s.full > 0 && size == s.size) || (s.full < s.parts && size == s.rest);
  } else {
    return size == limit || kDivisor<Total> % limit != 0;
  }
}
// Whether a part before the last one has this size.
constexpr bool occurs_before_last(i64 total, int limit, int size) {
  const TileSplit s = split_tiles(total, limit);
  return (s.full > (s.full == s.parts) && size == s.size) || (s.full + 1 < s.parts && size == s.rest);
}
// Panels of a number of columns fall into tiles of two widths, of an unknown number into whole tiles and single panels.
template <int N, class Columns>
RT_FN constexpr TileSplit split_columns(Columns n) {
  const i64 panels = panels_of(n);
  if constexpr (kIsConstant<Columns>) {
    return split_tiles(panels, N);
  } else if constexpr (kIsMultiple<Columns, N * kPanel>) {
    return {panels / N, panels / N, N, N};
  } else {
    return {panels / N + panels % N, panels / N, N, 1};
  }
}
template <class Columns>
struct PanelCount {
  using Type = i64;
};
template <i64 N>
struct PanelCount<Constant<N>> {
  using Type = Constant<panels_of(N)>;
};
template <i64 N>
struct PanelCount<MultipleOf<N>> {
  using Type = MultipleOf<N % kPanel == 0 ? N / kPanel : 1>;
};

template <class Total>
constexpr int largest_part(int limit) {
  return occurs<Total>(limit, limit) ? limit : occurs<Total>(limit, limit - 1) ? limit - 1 : 1;
}
// Calls f with the size of this part, as a type.
template <int N, class Total, class F>
RT_FN void each_size(const TileSplit& split, i64 part, F f) {
  if constexpr (kIsMultiple<Total, N>) {
    return f(Size<N>{});
  } else if constexpr (occurs<Total>(N, N)) {
    if (part < split.full) return f(Size<N>{});
  }
  if constexpr (N > 2 && kIsConstant<Total> && occurs<Total>(N, N - 1)) {
    if (split.rest == N - 1) return f(Size<N - 1>{});
  }
  if constexpr (N > 1 && occurs<Total>(N, 1)) f(Size<1>{});
}

// Rows fall into parts of one height, the largest that there are rows for of N and, below that, Second and its halves.
// The last part reaches back into the one before, and says how many of its rows belong there, so that each height is
// one tile at most. Of a known number that is less than N, which no tile is chosen for, the parts have several heights.
template <int N, class M>
constexpr bool one_height() {
  return !kIsConstant<M> || kLeast<M> >= N;
}
template <int N, int Second>
constexpr int kBelow = N > Second ? Second
                       : N > 1    ? N / 2
                                  : 0;
template <int N, int Second>
constexpr i64 height_of(i64 m) {
  if constexpr (N == 1) {
    return 1;
  } else {
    return m >= N && even_part(m, N) > kBelow<N, Second> ? N : height_of<kBelow<N, Second>, Second>(m);
  }
}
template <int N, int Second = kSecondRows, class M>
RT_FN constexpr TileSplit split_rows(M m) {
  if constexpr (one_height<N, M>()) {
    const i64 height = kLeast<M> >= N || kIsMultiple<M, N> ? N : height_of<N, Second>(m);
    const i64 parts = round_up_div(m, height);
    return {parts, parts, height, height};
  } else {
    return split_tiles(m, N);
  }
}
// Calls f with a part's height as a type; Next: the largest that was not asked for yet.
template <int Next, int Second, class M, class F>
RT_FN void with_height(i64 height, F f) {
  if constexpr (Next == 1 || kLeast<M> >= Next) {
    f(Size<Next>{});
  } else if (height == Next) {
    f(Size<Next>{});
  } else {
    with_height<kBelow<Next, Second>, Second, M>(height, f);
  }
}
// Calls f with the height of a part, where it begins, and how many of its rows belong to the part before.
template <int N, int Second = kSecondRows, class M, class F>
RT_FN void each_rows(M m, const TileSplit& split, i64 part, F f) {
  if constexpr (!one_height<N, M>()) {
    each_size<N, M>(split, part, [&](auto size) __attribute__((always_inline)) { f(size, split.begin(part), 0); });
  } else if constexpr (kIsMultiple<M, N>) {
    f(Size<N>{}, part * N, 0);
  } else {
    const i64 begin = part * split.size;
    with_height<N, Second, M>(split.size, [&](auto height) __attribute__((always_inline)) {
      const i64 row = begin + height.value <= m ? begin : m - height.value;
      f(height, row, begin - row);
    });
  }
}

// The tiles of the rows of all outer points, MR rows at most each, which chunks share in this order: f(height, index of
// the point, row, known) as above.
template <int MR, int Second = kSecondRows, int R, class M, class F>
RT_FN void each_tile_of_rows(const Call& call, Extents<R> outer, M m, const TileSplit& rows, F f) {
  const i64 units = points_of<R>(outer) * rows.parts, end = units * (call.chunk + 1) / call.chunks;
  i64 index[R == 0 ? 1 : R];
  RT_ROLLED
  for (i64 u = units * call.chunk / call.chunks; u < end; ++u) {
    index_of<R>(u / rows.parts, outer, index);
    each_rows<MR, Second>(m, rows, u % rows.parts, [&](auto height, i64 row, i64 known) __attribute__((always_inline)) {
      f(height, index, row, known);
    });
  }
}

// 0, 1, .. N - 1 as a type: the tile is written out by folds over it, since loops that the optimizer has to unroll take
// most of a kernel's compile time.
template <class, int... I>
struct Indices {};
#if defined(__clang__)
template <int N>
using indices = __make_integer_seq<Indices, int, N>;
#else
template <int N>
using indices = Indices<int, __integer_pack(N)...>;
#endif

#if !defined(RT_KERNEL)  // a GPU's lanes are threads
// Lanes that have bit D move between two vectors of as many as there are L: log2 of that rounds transpose a square, of
// which the vectors are rows. (J. O. Eklundh, "A Fast Computer Method for Matrix Transposing", 1972.)
template <int D, class V, int... L>
RT_FN void exchange(Indices<int, L...>, V& a, V& b) {
  constexpr int W = sizeof...(L);
  const V low = __builtin_shufflevector(a, b, ((L & D) ? W + L - D : L)...);
  const V high = __builtin_shufflevector(a, b, ((L & D) ? W + L : L + D)...);
  a = low;
  b = high;
}
template <int D, class V, int... P>
RT_FN void transpose_square(Indices<int, P...> pairs, V* rows) {  // of half as many pairs as it has rows
  constexpr int W = 2 * sizeof...(P);
  if constexpr (D < W) {
    (..., exchange<D>(indices<W>{}, rows[P / D * 2 * D + P % D], rows[P / D * 2 * D + P % D + D]));
    transpose_square<2 * D>(pairs, rows);
  }
}

// What a row's last vector has of columns, in halves: 8, 4, 2 and 1 of them, each where it is wanted.
template <int W, class T, class N, class F>
RT_FN void emit_tail(const T* sums, i64 col, N n, F f) {
  const auto part = [&]() __attribute__((always_inline)) {
    if constexpr (W == 1) {
      f(*sums, col);
    } else {
      f(load(sums, Lanes<W>{0}), Lanes<W>{col});
    }
    sums += W;
    col += W;
  };
  if constexpr (!kIsConstant<N>) {
    if (n % (2 * W) / W) part();
  } else if constexpr (N::value % (2 * W) / W) {
    part();
  }
  if constexpr (W > 1) emit_tail<W / 2>(sums, col, n, f);
}
// A panel's row of sums is kParts vectors.
inline constexpr int kPart = kAtOnce<kPanel>, kParts = kPanel / kPart;

// One vector of sums, columns `col` on: of the last one of a row only the lanes that are columns.
template <class V, class N, class F>
RT_FN void emit(V v, i64 col, N n, F f) {
  if constexpr (kIsMultiple<N, kPanel>) {
    f(v, Lanes<kPart>{col});
  } else {
    if (col + kPart <= n) return f(v, Lanes<kPart>{col});
    if (kParts > 1 && col >= n) return;
    element_of<V> lanes[kPart];
    store(lanes, Lanes<kPart>{0}, v);
    emit_tail<kPart / 2>(lanes, col, n, f);
  }
}

// Calls f at every `Step` terms from `at` to `k`; Unrolled: two of them at once.
template <bool Unrolled, int Step, class F>
RT_FN void each_step(i64& at, i64 k, F f) {
  if constexpr (Unrolled) {
#pragma GCC unroll 2
    for (; at + Step <= k; at += Step) f();
  } else {
    RT_ROLLED
    for (; at + Step <= k; at += Step) f();
  }
}

// The rows of a tile of `a`. Where they stand apart by no literal, one in four has an address of its own, which the
// others are reached from: a compiler would take all of theirs out of the loop over the terms, and take registers for
// them from the sums.
template <int MR, class T>
class TileRows {
 public:
  RT_FN TileRows(const T* a, i64 stride) : stride_(stride) { find(indices<kFours>{}, a); }
  RT_FN const T* operator[](int row) const { return first_[row / 4] + row % 4 * stride_; }

 private:
  static constexpr int kFours = (MR + 3) / 4;
  template <int... I>
  RT_FN void find(Indices<int, I...>, const T* a) {
    (..., (first_[I] = a + 4 * I * stride_));
    if (!__builtin_constant_p(stride_)) (..., keep(first_[I]));
  }
  RT_FN static void keep(const T*& address) { asm("" : "+r"(address)); }

  const T* first_[kFours];
  i64 stride_;
};

// What a B takes off each sum: nothing, or so many times the sum of its column's weights (contract_quads.h).
struct NoBias {};

// A tile's sums, of T. Each is split into kChains, which take the terms in turn. Columns: of its last panel.
template <class T, int MR, int NV, int kChains, int Columns = kPanel>
struct TileSums {
  using V = vec<T, kPart>;
  static constexpr int kAcross = (NV - 1) * kParts + (Columns + kPart - 1) / kPart, kSums = MR * kAcross;
  V sum[kChains * kSums];

  RT_FN void clear() { clear(indices<kChains * kSums>{}); }
  template <int... I>
  RT_FN void clear(Indices<int, I...>) {
    (..., (sum[I] = V{}));
  }
  template <class P>
  RT_FN void begin(NoBias, P) {
    clear();
  }
  RT_FN static void clear_totals(V* totals) {
    RT_ROLLED
    for (int i = 0; i < kSums; ++i) totals[i] = V{};
  }
  RT_FN void join() { join(indices<(kChains - 1) * kSums>{}); }
  template <int... I>
  RT_FN void join(Indices<int, I...>) {
    (..., (sum[I % kSums] = add(sum[I % kSums], sum[kSums + I])));
  }
  /// Adds the sums to those in memory and starts anew.
  RT_FN void flush(V* totals) { flush(indices<kSums>{}, totals); }
  template <int... I>
  RT_FN void flush(Indices<int, I...>, V* totals) {
    join();
    (..., (totals[I] += sum[I]));
    clear();
  }

  /// The sums in memory, for a loop over them.
  RT_FN void put(V* totals) { put(indices<kSums>{}, totals); }
  template <int... I>
  RT_FN void put(Indices<int, I...>, V* totals) {
    join();
    (..., (totals[I] = sum[I]));
  }

  template <class N, class F>
  RT_FN static void emit_at(V v, int i, int j, N n, i64 col, F f) {
    auto row = [&](auto sum, auto at) __attribute__((always_inline)) { f(sum, i, at); };
    if constexpr (kIsMultiple<N, kPanel>) {
      row(v, Lanes<kPart>{col + j * kPart});
    } else {
      if (j < (NV - 1) * kParts) return row(v, Lanes<kPart>{col + j * kPart});
      emit(v, col + j * kPart, n, row);
    }
  }
  template <class N, class F>
  RT_FN void each(N n, i64 col, F f) {
    join();
    each(indices<kSums>{}, n, col, f);
  }
  template <class N, class F, int... I>
  RT_FN void each(Indices<int, I...>, N n, i64 col, F f) {
    (..., emit_at(sum[I], I / kAcross, I % kAcross, n, col, f));
  }
  template <class N, class F>
  RT_FN static void each_total(const V* totals, N n, i64 col, F f) {
    RT_ROLLED
    for (int i = 0; i < MR; ++i) RT_ROLLED
    for (int j = 0; j < kAcross; ++j) emit_at(totals[i * kAcross + j], i, j, n, col, f);
  }
};

// sum + x w in the lower half of 16 lanes; zeros in the upper one.
template <class V>
RT_FN V add_half_product(f32 x, V w, V sum) {
  using H = vec<f32, kLanes<V> / 2>;
  const auto half = [](V v) RT_INLINE { return __builtin_shufflevector(v, v, 0, 1, 2, 3, 4, 5, 6, 7); };
  return __builtin_shufflevector(fma<H>(splat<H>(x), half(w), half(sum)), H{}, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12,
                                 13, 14, 15);
}
// The weights that a row's vector J is multiplied by in step k.
template <int J, class P>
RT_FN auto load_weights(const P& b, i64 k) {
  return load_next<bare<decltype(*b.at)>, kPart>(b.at + k * b.k_step + J / kParts * b.panel_step + J % kParts * kPart);
}
template <int J, class T>
RT_FN auto load_weights(const WideningPanels<T>& b, i64 k) {
  const auto wide = load_weights<J, PackedPanels<T>>(b, k);
  store(b.to + J / kParts * b.panel_step, Lanes<kPart>{k * kPanel + J % kParts * kPart}, wide);
  return wide;
}
// Calls f with the panels as a tile reads them.
template <class P, class F>
RT_FN void with_panels(P panels, F f) {
  f(panels);
}
template <class T, class F>
RT_FN void with_panels(WidenedPanels<T> panels, F f) {
  if (panels.stored) {
    f(PackedPanels<f32>{panels.to, panels.panel_step});
  } else {
    f(static_cast<WideningPanels<T>>(panels));
  }
}
// The panels for the tiles below a column's first.
template <class P>
RT_FN P next_tile(P panels) {
  return panels;
}
template <class T>
RT_FN WidenedPanels<T> next_tile(WidenedPanels<T> panels) {
  panels.stored = true;
  return panels;
}

// Of products of f32. Rounded, so that long sums are taken in blocks.
template <int MR, int NV, int kChains, int Columns = kPanel>
struct Accumulators : TileSums<f32, MR, NV, kChains, Columns> {
  using Base = TileSums<f32, MR, NV, kChains, Columns>;
  using Base::kAcross, Base::kSums, Base::sum;
  using typename Base::V;
  static constexpr bool kExact = false;

  // x w added to the sum of a row's vector J.
  template <int J>
  RT_FN static V add_product(f32 x, V w, V sum) {
    if constexpr (J == kAcross - 1 && Columns < kPart) {
      return add_half_product(x, w, sum);
    } else {
      return fma<V>(splat<V>(x), w, sum);
    }
  }
  // Weights come from the second cache: the processor's own prefetching falls behind where the core's other thread is
  // busy. A single row waits for memory anyway.
  template <int J, class P>
  RT_FN static void prefetch(const P& b, i64 k) {
    constexpr i64 kSteps = 8;
    if constexpr (MR > 1 && J % kParts == 0)
      __builtin_prefetch(b.at + (k + kSteps) * b.k_step + J / kParts * b.panel_step);
  }
  using Rows = TileRows<MR, f32>;
  template <int C, class P, int... I, int... J>
  RT_FN void step(Indices<int, I...>, Indices<int, J...>, const Rows& a, const P& b, i64 k) {
    (..., prefetch<J>(b, k));
    const V w[kAcross] = {load_weights<J>(b, k)...};
    (..., (sum[C * kSums + I] = add_product<I % kAcross>(a[I / kAcross][k], w[I % kAcross], sum[C * kSums + I])));
  }
  template <class P, class Next, int... C>
  RT_FN void steps(Indices<int, C...>, const Rows& a, const P& b, i64 k, Next& ahead) {
    (..., (ahead.step(), step<C>(indices<kSums>{}, indices<kAcross>{}, a, b, k + C)));
  }
  template <class P>
  RT_FN void add_products(const f32* a, i64 row_stride, const P& b, i64 k) {
    NoAhead none;
    add_products(a, row_stride, b, k, none);
  }
  template <bool Unrolled = true, class P, class Next>
  RT_FN void add_products(const f32* a, i64 row_stride, const P& b, i64 k, Next& ahead) {
    const Rows rows(a, row_stride);
    i64 at = 0;
    if constexpr (kChains > 1)
      each_step<Unrolled, kChains>(at, k, [&]() RT_INLINE { steps(indices<kChains>{}, rows, b, at, ahead); });
    each_step<Unrolled, 1>(at, k, [&]() RT_INLINE {
      // Rows that overlap share elements between steps; kept in registers for that they would push out the sums.
      if (kVectorBytes < 64 && row_stride < 4) asm volatile("" ::: "memory");
      steps(indices<1>{}, rows, b, at, ahead);
    });
  }
};

// Sums of products of which a lane takes several in one step: Form::kTerms neighbouring terms, weights of Form::kRow
// elements for a panel's columns, and what is made of a row's terms and of weights, which serves a whole row or column.
template <class Form, class Sum, int MR, int NV, int kChains, int Columns>
struct SeveralSums : TileSums<Sum, MR, NV, kChains, Columns> {
  using Base = TileSums<Sum, MR, NV, kChains, Columns>;
  using Base::kAcross, Base::kSums, Base::sum;
  using typename Base::V;
  using W = typename Form::Weight;
  using Weights = typename Form::template Weights<V>;
  using Elements = typename Form::template Elements<V>;
  static constexpr bool kExact = true;  // in any order, or as far as blocks of a sum would tell
  static constexpr int kTerms = Form::kTerms, kLoaded = kTerms * kPart;

  template <int C, int... I, int... J, class Group>
  RT_FN void step(Indices<int, I...>, Indices<int, J...> columns, const W* b, i64 panel_step, Group group_of_row) {
    const Weights w[kAcross] = {
        Form::template weights<V>(load_next<W, kLoaded>(b + J / kParts * panel_step + J % kParts * kLoaded))...};
    (..., add_row<C>(columns, I, Form::template elements<V>(group_of_row(I)), w));
  }
  template <int C, int... J>
  RT_FN void add_row(Indices<int, J...>, int row, Elements x, const Weights* w) {
    (..., (sum[C * kSums + row * kAcross + J] = x.add_products(sum[C * kSums + row * kAcross + J], w[J])));
  }
  template <class T, class Next, int... C>
  RT_FN void steps(Indices<int, C...>, const TileRows<MR, T>& a, i64 at, const W* b, i64 panel_step, Next& ahead) {
    (..., (ahead.step(), step<C>(indices<MR>{}, indices<kAcross>{}, b + C * Form::kRow, panel_step,
                                 [&](int row) RT_INLINE { return Form::load(a[row] + at + C * kTerms); })));
  }
  template <bool Unrolled = true, class T, class P, class Next>
  RT_FN void add_products(const T* a, i64 row_stride, P b, i64 k, Next& ahead) {
    const TileRows<MR, T> rows(a, row_stride);
    i64 at = 0;
    if constexpr (kChains > 1)
      each_step<Unrolled, kChains * kTerms>(
          at, k, [&]() RT_INLINE { steps(indices<kChains>{}, rows, at, b.at + at * kPanel, b.panel_step, ahead); });
    each_step<Unrolled, kTerms>(
        at, k, [&]() RT_INLINE { steps(indices<1>{}, rows, at, b.at + at * kPanel, b.panel_step, ahead); });
    if (at < k)
      step<0>(indices<MR>{}, indices<kAcross>{}, b.at + at * kPanel, b.panel_step,
              [&](int row) RT_INLINE { return Form::load(rows[row] + at, k - at); });
  }
};

template <class K>
inline constexpr bool kUnrolls = kIsConstant<K> || kIsMultiple<K, kTermsOfRound>;
// All segments' products: what `acc` holds then.
template <class Sums, class T, int S, class P, class K, class Next, class Bias>
RT_FN void sum_up(Sums& acc, const Extents<S>& segments, const Strides<S>& strides, const T* from, i64 row_stride,
                  P panels, K k, Next& ahead, Bias bias) {
  acc.begin(bias, panels);
  each_segment<0, S>(segments, strides, from, [&](auto* p) __attribute__((always_inline)) {
    acc.template add_products<kUnrolls<K>>(p, row_stride, panels, k, ahead);
    panels.advance(k);
  });
}
// The same into `totals`. OneBlock: a sum has no more terms than one; else they are taken in blocks.
template <bool OneBlock, class Sums, class V, class T, int S, class P, class K, class Next, class Bias>
RT_FN void sum_into(Sums& acc, V* totals, const Extents<S>& segments, const Strides<S>& strides, const T* from,
                    i64 row_stride, P panels, K k, Next ahead, Bias bias) {
  if constexpr (OneBlock || Sums::kExact) {
    sum_up(acc, segments, strides, from, row_stride, panels, k, ahead, bias);
    acc.put(totals);
  } else {
    acc.begin(bias, panels);
    acc.clear_totals(totals);
    i64 terms = 0, left = points_of<S>(segments) * k;
    each_segment<0, S>(segments, strides, from, [&](auto* p) __attribute__((always_inline)) {
      RT_ROLLED
      for (i64 at = 0; at < k; at += kSumBlock) {
        const i64 steps = k - at < kSumBlock ? k - at : kSumBlock;
        acc.template add_products<kUnrolls<K>>(p + at, row_stride, panels, steps, ahead);
        panels.advance(steps);
        terms += steps;
        left -= steps;
        if (terms < kSumBlock && left > 0) continue;
        acc.flush(totals);
        terms = 0;
      }
    });
  }
}
#endif

}  // namespace detail
}  // namespace rt
