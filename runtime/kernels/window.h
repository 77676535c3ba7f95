// window: out(i.., row, col) = epilogue(fold over taps of what `step` adds): depthwise convolutions, pools and every
// other fold whose body reads along the columns. A tile of rows stays in registers while the taps run, so what its rows
// share (weights, overlapping windows) is loaded once. Columns run in lanes, the last tap may be written out. Pools of
// 8-bit integers fold these: a register of them at a time.
#pragma once
#include "runtime/kernels/contract_tile.h"
#include "runtime/kernels/nest.h"

namespace rt {

// ---- specification -------------------------------------------------------------------------------------------------
template <FoldKind K, class T = f32, int R, int S, class Step, class Epilogue>
RT_FN void window_naive(const Call& call, Extents<R> outer, Extents<S> taps, i64 m, i64 n, i64 last, Step step,
                        Epilogue epilogue) {
  const i64 points = outer.points() * m * n;
  for (i64 u = points * call.chunk / call.chunks; u < points * (call.chunk + 1) / call.chunks; ++u) {
    i64 index[R == 0 ? 1 : R], tap[S == 0 ? 1 : S];
    detail::split_index<R>(u / (m * n), outer, index);
    T acc = detail::Accumulator<K, T>{}.value;
    for (i64 t = 0; t < taps.points() * last; ++t) {
      detail::split_index<S>(t / last, taps, tap);
      auto at_tap = [&](auto... s) __attribute__((always_inline)) {
        auto at_index = [&](auto... i)
                            __attribute__((always_inline)) { acc = step(acc, i..., u / n % m, u % n, s..., t % last); };
        detail::call_at<0, R>(index, at_index);
      };
      detail::call_at<0, S>(tap, at_tap);
    }
    detail::store_element<R>(epilogue, index, acc, u / n % m, u % n);
  }
}

// ---- loops over tiles ----------------------------------------------------------------------------------------------
namespace detail {

template <class T>
inline constexpr int kWindowLanes = sizeof(T) == 1 ? kVectorBytes : kAtOnce<kPanel>;

template <int MR, FoldKind K, bool Written, class T, int R, int S, class M, class N, class L, class Step,
          class Epilogue>
struct Windows {
  const Call& call;
  Extents<R> outer;
  Extents<S> taps;
  M m;
  N n;
  L last;
  TileSplit rows;
  Step& step;
  Epilogue& epilogue;

  template <class V, class Col, int... I>
  RT_FN void take(Indices<int, I...>, V* acc, const i64* index, const i64* tap, i64 row, Col col, i64 t) const {
    auto at_tap = [&](auto... s) __attribute__((always_inline)) {
      auto at_index = [&](auto... i) __attribute__((always_inline)) {
        (..., (acc[I] = step(acc[I], i..., row + I, col, s..., t)));
      };
      call_at<0, R>(index, at_index);
    };
    call_at<0, S>(tap, at_tap);
  }
  template <int H, class V, class Col, int... Tap>
  RT_FN void take_written(Indices<int, Tap...>, V* acc, const i64* index, const i64* tap, i64 row, Col col) const {
    (..., take(indices<H>{}, acc, index, tap, row, col, Tap));
  }
  template <int D, int H, class V, class Col>
  RT_FN void take_taps(V* acc, const i64* index, i64* tap, i64 row, Col col) const {
    if constexpr (D < S) {
      RT_ROLLED
      for (tap[D] = 0; tap[D] < taps.n[D]; ++tap[D]) take_taps<D + 1, H>(acc, index, tap, row, col);
    } else if constexpr (Written) {
      take_written<H>(indices<L::value>{}, acc, index, tap, row, col);
    } else {
      RT_ROLLED
      for (i64 t = 0; t < last; ++t) take(indices<H>{}, acc, index, tap, row, col, t);
    }
  }
  // H rows from `row` on, of which the first `known` were computed before.
  template <int H, class Col, int... I>
  RT_FN void tile(Indices<int, I...>, const i64* index, i64 row, i64 known, Col col) const {
    using V = value_of<T, kLanes<Col>>;
    V acc[H] = {((void)I, Accumulator<K, V>{}.value)...};
    i64 tap[S == 0 ? 1 : S];
    take_taps<0, H>(acc, index, tap, row, col);
    (..., (I >= known ? store_element<R>(epilogue, index, acc[I], row + I, col) : void()));
  }
  // The columns behind the last whole vector, in halves.
  template <int H, int W>
  RT_FN void tail(const i64* index, i64 row, i64 known, i64 col) const {
    const auto part = [&]() __attribute__((always_inline)) {
      if constexpr (W == 1) {
        tile<H>(indices<H>{}, index, row, known, col);
      } else {
        tile<H>(indices<H>{}, index, row, known, Lanes<W>{col});
      }
      col += W;
    };
    if constexpr (!kIsConstant<N>) {
      if (n % (2 * W) / W) part();
    } else if constexpr (N::value % (2 * W) / W) {
      part();
    }
    if constexpr (W > 1) tail<H, W / 2>(index, row, known, col);
  }
#if defined(RT_KERNEL)
  // A thread has a column of a tile; neighbours have neighbouring columns.
  RT_FN void run() const {
    const i64 units = points_of<R>(outer) * rows.parts * n;
    i64 index[R == 0 ? 1 : R];
    for (i64 p = first_unit(call); p < units; p += next_unit(call)) {
      const i64 u = p / n, col = p % n;
      index_of<R>(u / rows.parts, outer, index);
      each_rows<MR, 1>(m, rows, u % rows.parts, [&](auto height, i64 row, i64 known) __attribute__((always_inline)) {
        constexpr int H = decltype(height)::value;
        tile<H>(indices<H>{}, index, row, known, col);
      });
    }
  }
#else
  RT_FN void run() const {
    constexpr int W = kWindowLanes<T>;
    const Pieces own = pieces_of(call, points_of<R>(outer) * rows.parts, n, W);
    i64 index[R == 0 ? 1 : R], u = own.row, piece = own.piece;
    RT_ROLLED
    for (i64 left = own.count; left > 0; --left) {
      index_of<R>(u / rows.parts, outer, index);
      const i64 part = u % rows.parts, first = piece * own.step, end = first + own.step < n ? first + own.step : i64{n};
      each_rows<MR, 1>(m, rows, part, [&](auto height, i64 row, i64 known) __attribute__((always_inline)) {
        constexpr int H = decltype(height)::value;
        i64 col = first;
        RT_ROLLED
        for (; col + W <= end; col += W) tile<H>(indices<H>{}, index, row, known, Lanes<W>{col});
        if (col >= end) return;
        if constexpr (kIsConstant<N>) {
          tail<H, W / 2>(index, row, known, col);
        } else {  // a rest may have every width: a row at a time
          RT_ROLLED
          for (i64 each = known; each < H; ++each) tail<1, W / 2>(index, row + each, 0, col);
        }
      });
      if (++piece < own.pieces) continue;
      piece = 0;
      ++u;
    }
  }
#endif
};

}  // namespace detail

// m, n and last are numbers or constants (`c<16>`). `step(acc, i.., row, col, tap.., last tap)` gives the new acc, a T
// or as many as col has lanes. Written: the last tap, a constant, is written out. Chunks share the tiles;
// where these are fewer they share pieces of their columns.
template <int MR, FoldKind K, bool Written, class T = f32, int R, int S, class M, class N, class L, class Step,
          class Epilogue>
RT_FN void window(const Call& call, Extents<R> outer, Extents<S> taps, M m, N n, L last, Step step, Epilogue epilogue) {
  detail::Windows<MR, K, Written, T, R, S, M, N, L, Step, Epilogue>{
      call, outer, taps, m, n, last, detail::split_rows<MR, 1>(m), step, epilogue}
      .run();
}

}  // namespace rt
