// depthwise: out(i.., row, col) = epilogue(sum over segments and taps of (A - zero) * B) of 8-bit integers, where
// column `col` reads its own elements of A: depthwise convolutions in i32, exact in any order. Columns stand in lanes.
// The bytes of four neighbouring taps are brought into one lane by unpacking registers of bytes, and multiplied as
// contract_quads.h says: four products in one instruction (VNNI) or two by two as 16-bit integers. A quad serves all
// rows of the tile whose taps it has: of rows that begin a tap apart two, with weights that are shifted by a tap for
// the second. So a tile's sums cost as many shuffles as products.
#pragma once
#include "runtime/kernels/contract_operands.h"
#include "runtime/kernels/contract_quads.h"
#include "runtime/kernels/depthwise_shape.h"

namespace rt {

// The innermost taps, `stride` elements of A apart. A row begins RowStep taps behind the one before; 0: anywhere.
template <int Taps, int RowStep>
struct TapWindow {
  static constexpr int kTaps = Taps, kRowStep = RowStep;
  static constexpr i64 kShifts = tap_shifts(RowStep), kQuads = tap_quads(Taps, kShifts);
  i64 stride;
};
// Weights in panels, for elements less `zero`.
struct TapsB {
  const i8* base;
  i32 zero;
  RT_FN i8 at(i64 segment, i64 t, i64 col, i64 segments, i64 taps, i64 shifts) const {
    return base[col / kPanel * tap_panel_bytes(segments, taps, shifts) +
                tap_offset(segment, t, col % kPanel, taps, shifts, 0)];
  }
};
RT_FN TapsB taps_b(const i8* base, i32 zero) { return {base, zero}; }

// ---- specification -------------------------------------------------------------------------------------------------
template <class Window, int R, int S, class A, class Epilogue>
RT_FN void depthwise_naive(const Call& call, Window window, Extents<R> outer, Extents<S> segments, i64 m, i64 n,
                           i64 taps, A a, TapsB b, Epilogue epilogue) {
  const i64 points = outer.points() * m * n;
  for (i64 u = points * call.chunk / call.chunks; u < points * (call.chunk + 1) / call.chunks; ++u) {
    i64 index[R == 0 ? 1 : R], s[S == 0 ? 1 : S];
    detail::split_index<R>(u / (m * n), outer, index);
    const i64 row = u / n % m, col = u % n;
    i32 sum = 0;
    for (i64 t = 0; t < segments.points() * taps; ++t) {
      detail::split_index<S>(t / taps, segments, s);
      const i64 at = a.outer.at(index) + row * a.row_stride + a.segment.at(s) + t % taps * window.stride + col;
      const i8 w = b.at(t / taps, t % taps, col, segments.points(), taps, Window::kShifts);
      sum = i32(u32(sum) + u32((i32(a.base[at]) - b.zero) * i32(w)));
    }
    detail::store_element<R>(epilogue, index, sum, row, col);
  }
}

#if !defined(RT_KERNEL)
namespace detail {

// Registers of W bytes.
template <int W>
struct TapBytes {
  using Bytes = vec<u8, W>;
  static constexpr int kParts = W / 16;  // of 16 bytes, which the instructions unpack each for itself

  // Part p has the groups of four columns p, p + kParts, ..: unpacked twice, columns stand in order.
  template <int... I>
  RT_FN static Bytes in_turn(Indices<int, I...>, Bytes x) {
    using Fours = vec<i32, W / 4>;
    return (Bytes)__builtin_shufflevector((Fours)x, (Fours)x, (I % 4 * kParts + I / 4)...);
  }
  // The elements of x and y by turns, of each part the first or the second half.
  template <int Half, class E, int... I>
  RT_FN static E unpack(Indices<int, I...>, E x, E y) {
    constexpr int kCount = sizeof...(I), kOfPart = kCount / kParts;
    return __builtin_shufflevector(x, y,
                                   (I / kOfPart * kOfPart + (Half * kOfPart + I % kOfPart) / 2 + I % 2 * kCount)...);
  }
  // The first `Count` are columns; i8 as u8 that are larger by 128.
  template <int Count, class T>
  RT_FN static Bytes load(const T* p) {
    Bytes x{};
    if constexpr (Count == W) {
      x = reinterpret_cast<const Unaligned<Bytes>*>(p)->value;
    } else {
      __builtin_memcpy(&x, p, Count);
    }
    if constexpr (kSame<T, i8>) x ^= splat<Bytes>(0x80);
    return in_turn(indices<W / 4>{}, x);
  }
};

// Sums of H rows by `Count` columns, at most W of them.
template <int H, int W, int Count, class Window>
struct TapSums {
  using V = vec<i32, W / 4>;
  using Of = TapBytes<W>;
  using Words = vec<u16, W / 2>;
  struct Pair {  // two taps: those of the first and of the second half of each part's columns
    Words first, second;
  };
  static constexpr int kVectors = 4, kStep = Window::kRowStep, kTaps = Window::kTaps,
                       kLast = (H - 1) * kStep + kTaps - 1, kPairs = kLast / 2 + 1;
  V sum[H * kVectors];

  RT_FN static V weights(const i8* w, i64 panel_step, int vector) {
    const int column = vector * W / 4;
    return (V)load_next<i8, W>(w + column / kPanel * panel_step + column % kPanel * kQuad);
  }
  // What the bias of each element adds is taken off before. `sums`: of the weights.
  template <int... I>
  RT_FN void begin(Indices<int, I...>, i32 bias, const i8* sums, i64 panel_step) {
    (..., (sum[I] = sub(V{}, mul(splat<V>(bias), weights(sums, panel_step, I % kVectors)))));
  }

  template <int P, class T>
  RT_FN static Pair pair(const T* a, i64 stride) {
    const auto x = Of::template load<Count>(a + 2 * P * stride);
    auto y = x;
    if constexpr (2 * P < kLast) y = Of::template load<Count>(a + (2 * P + 1) * stride);
    return {(Words)Of::template unpack<0>(indices<W>{}, x, y), (Words)Of::template unpack<1>(indices<W>{}, x, y)};
  }
  // The quad of a row's taps that begins at pair P; -1: none does.
  static constexpr int quad_of(int pair, int row) {
    const int tap = 2 * pair - row * kStep / 2 * 2;
    return tap >= 0 && tap % 4 == 0 && tap < row * kStep % 2 + kTaps ? tap / 4 : -1;
  }
  template <int P, int Row, int... J>
  RT_FN void add_row(Indices<int, J...>, const QuadElements<V>* quads, const i8* w, i64 panel_step) {
    if constexpr (quad_of(P, Row) >= 0) {
      const i8* const at = w + (Row * kStep % 2 * Window::kQuads + quad_of(P, Row)) * kQuadRow;
      (..., (sum[Row * kVectors + J] =
                 quads[J].add_products(sum[Row * kVectors + J], QuadWeights<V>(weights(at, panel_step, J)))));
    }
  }
  template <int P, int... Row>
  RT_FN void add_quads(Indices<int, Row...>, const Pair& x, const Pair& y, const i8* w, i64 panel_step) {
    if constexpr ((... || (quad_of(P, Row) >= 0))) {
      constexpr indices<W / 2> words{};
      const QuadElements<V> quads[] = {QuadElements<V>((V)Of::template unpack<0>(words, x.first, y.first)),
                                       QuadElements<V>((V)Of::template unpack<1>(words, x.first, y.first)),
                                       QuadElements<V>((V)Of::template unpack<0>(words, x.second, y.second)),
                                       QuadElements<V>((V)Of::template unpack<1>(words, x.second, y.second))};
      (..., add_row<P, Row>(indices<kVectors>{}, quads, w, panel_step));
    }
  }
  // A segment's taps from `a` on, which end at the last one of the last row.
  template <class T, int... P>
  RT_FN void add(Indices<int, P...>, const T* a, i64 stride, const i8* w, i64 panel_step) {
    const Pair pairs[] = {pair<P>(a, stride)...};
    (..., add_quads<P>(indices<H>{}, pairs[P], pairs[P + 1 < kPairs ? P + 1 : P], w, panel_step));
  }
};

template <int MR, class Window, int R, int S, class M, class N, class A, class Epilogue>
struct Depthwise {
  const Call& call;
  Window window;
  Extents<R> outer;
  Extents<S> segments;
  M m;
  A a;
  TapsB b;
  Epilogue& epilogue;
  TileSplit rows;

  RT_FN i32 bias() const { return kSame<bare<decltype(*a.base)>, i8> ? b.zero + 128 : b.zero; }

  // H rows, of which the first `known` were computed before, by `Count` columns.
  template <int H, int W, int Count>
  RT_FN void tile(const i64* index, i64 row, i64 known, i64 col) const {
    constexpr i64 kStep = Window::kShifts * Window::kQuads * kQuadRow;
    const i64 panel_step = tap_panel_bytes(points_of<S>(segments), Window::kTaps, Window::kShifts);
    const i8* w = b.base + col / kPanel * panel_step;
    using Sums = TapSums<H, W, Count, Window>;
    Sums acc;
    acc.begin(indices<H * Sums::kVectors>{}, bias(), w + panel_step - kQuadRow, panel_step);
    each_segment<0, S>(segments, a.segment, a.base + a.outer.at(index) + row * a.row_stride + col,
                       [&](auto* p) __attribute__((always_inline)) {
                         acc.add(indices<Sums::kPairs>{}, p, window.stride, w, panel_step);
                         w += kStep;
                       });
    const auto at = [&](auto sum, i64 in_tile, auto column) __attribute__((always_inline)) {
      store_element<R>(epilogue, index, sum, row + in_tile, column);
    };
    emit<H, Count>(indices<H * Sums::kVectors>{}, acc, known, col, at);
  }
  template <int H, int Count, class Sums, class F, int... I>
  RT_FN static void emit(Indices<int, I...>, const Sums& acc, i64 known, i64 col, F f) {
    (..., (I / Sums::kVectors >= known ? emit_vector<Count, I % Sums::kVectors>(acc.sum[I], I / Sums::kVectors, col, f)
                                       : void()));
  }
  template <int Count, int J, class V, class F>
  RT_FN static void emit_vector(V sum, i64 row, i64 col, F f) {
    constexpr int kWidth = kLanes<V>, kLeft = Count - J * kWidth;
    const auto at = [&](auto x, auto c) RT_INLINE { f(x, row, c); };
    if constexpr (kLeft >= kWidth) {
      at(sum, Lanes<kWidth>{col + J * kWidth});
    } else if constexpr (kLeft > 0) {
      i32 lanes[kWidth];
      store(lanes, Lanes<kWidth>{0}, sum);
      emit_tail<kWidth / 2>(lanes, col + J * kWidth, Constant<kLeft>{}, at);
    }
  }
  // The columns behind the last register of 2 W bytes: in halves of 16 or more, then those that are left.
  template <int H, int W>
  RT_FN void rest(const i64* index, i64 row, i64 known, i64 col) const {
    if constexpr (W < 16) {
      if constexpr (N::value % 16 > 0) tile<H, 16, N::value % 16>(index, row, known, col);
    } else {
      constexpr bool kHere = N::value % (2 * W) / W > 0;
      if constexpr (kHere) tile<H, W, W>(index, row, known, col);
      rest<H, W / 2>(index, row, known, kHere ? col + W : col);
    }
  }
  RT_FN void run() const {
    each_tile_of_rows<MR, 1>(call, outer, m, rows, [&](auto height, const i64* index, i64 row, i64 known) RT_INLINE {
      constexpr int H = decltype(height)::value;
      i64 col = 0;
      if constexpr (N::value >= kVectorBytes) {
        RT_ROLLED
        for (; col + kVectorBytes <= N::value; col += kVectorBytes)
          tile<H, kVectorBytes, kVectorBytes>(index, row, known, col);
      }
      rest<H, kVectorBytes / 2>(index, row, known, col);
    });
  }
};

}  // namespace detail

// n and taps are constants (`c<16>`), those of the weights; A is u8 or i8, with neighbouring columns. Chunks share the
// tiles.
template <int MR, class Window, int R, int S, class M, class N, class K, class A, class Epilogue>
RT_FN void depthwise(const Call& call, Window window, Extents<R> outer, Extents<S> segments, M m, N, K, A a, TapsB b,
                     Epilogue epilogue) {
  static_assert(K::value == Window::kTaps && (Window::kRowStep > 0 || MR == 1));
  detail::Depthwise<MR, Window, R, S, M, N, A, Epilogue>{
      call, window, outer, segments, m, a, b, epilogue, detail::split_rows<MR, 1>(m)}
      .run();
}
#endif

}  // namespace rt
