// grouped: out(i.., row, col) = epilogue(sum over segments, taps and k of A * B) for convolutions whose groups are
// narrower than a vector: column `col` is one of `Out` of group col / Out, and reads its k neighbouring elements of A.
// A vector has the columns of several groups; element t of each group is spread over the group's lanes by one shuffle.
// What a shuffle gives serves all rows of the tile whose windows reach it, since rows that are neighbours read the same
// elements at different taps. FMAs and shuffles bound the speed: AVX-512 has both on one port.
// Wider groups are contract's: a group is an outer axis of its panels.
#pragma once
#include "runtime/kernels/contract_operands.h"
#include "runtime/kernels/contract_tile.h"
#include "runtime/kernels/nest.h"

namespace rt {

// Columns of a group, and the innermost taps: a row begins RowStep units behind the one before, a tap TapStep units
// behind the one before. The unit is A's row stride by RowStep.
template <int Out, int Taps = 1, int RowStep = 1, int TapStep = 1>
struct GroupWindow {
  static constexpr int kOut = Out, kTaps = Taps, kRowStep = RowStep, kTapStep = TapStep;
};

// ---- specification -------------------------------------------------------------------------------------------------
template <class Window, int R, int S, class A, class B, class Epilogue>
RT_FN void grouped_naive(const Call& call, Window, Extents<R> outer, Extents<S> segments, i64 m, i64 n, i64 k, A a, B b,
                         Epilogue epilogue) {
  const i64 points = outer.points() * m * n, run = Window::kTaps * k, terms = segments.points() * run;
  const i64 tap_stride = a.row_stride / Window::kRowStep * Window::kTapStep;
  for (i64 u = points * call.chunk / call.chunks; u < points * (call.chunk + 1) / call.chunks; ++u) {
    i64 index[R == 0 ? 1 : R], s[S == 0 ? 1 : S];
    detail::split_index<R>(u / (m * n), outer, index);
    const i64 row = u / n % m, col = u % n;
    f32 acc = 0;
    for (i64 t = 0; t < terms; ++t) {
      detail::split_index<S>(t / run, segments, s);
      const i64 at = a.outer.at(index) + row * a.row_stride + a.segment.at(s) + t / k % Window::kTaps * tap_stride;
      acc = fma(load(a.base, at + col / Window::kOut * k + t % k), b.at(index, t, col, terms), acc);
    }
    detail::store_element<R>(epilogue, index, acc, row, col);
  }
}

#if !defined(RT_KERNEL)
namespace detail {

inline constexpr int kGroupLanes = kVectorBytes / 4;

// H rows by one register of sums, of a panel of N columns.
template <int H, int N, int K, class Window>
struct GroupSums {
  static constexpr int kLanes = kGroupLanes,
                       kPositions = (H - 1) * Window::kRowStep + (Window::kTaps - 1) * Window::kTapStep + 1;
  using V = vec<f32, kLanes>;
  V sum[H];

  RT_FN void clear() { clear(indices<H>{}); }
  template <int... I>
  RT_FN void clear(Indices<int, I...>) {
    (..., (sum[I] = V{}));
  }
  // Adds the sums to those in memory and starts anew.
  RT_FN void flush(V* totals) { flush(indices<H>{}, totals); }
  template <int... I>
  RT_FN void flush(Indices<int, I...>, V* totals) {
    (..., (totals[I] += sum[I]));
    clear();
  }

  // Lane l has element T of its group.
  template <int T, int... L>
  RT_FN static V spread(Indices<int, L...>, const f32* a) {
    if constexpr (Window::kOut >= kLanes) {
      return splat<V>(a[T]);
    } else {  // lanes behind the last column repeat the first groups
      constexpr int kGroups = (N < kLanes ? N : kLanes) / Window::kOut;
      const auto x = load_next<f32, kGroups * K>(a);
      return __builtin_shufflevector(x, x, (L / Window::kOut % kGroups * K + T)...);
    }
  }
  template <int Position>
  static constexpr bool reaches(int tap) {
    const int at = Position - tap * Window::kTapStep;
    return at >= 0 && at % Window::kRowStep == 0 && at / Window::kRowStep < H;
  }
  template <int Position, int Tap>
  RT_FN void take(V x, const V* w) {
    if constexpr (reaches<Position>(Tap)) {
      V& s = sum[(Position - Tap * Window::kTapStep) / Window::kRowStep];
      s = fma<V>(x, w[Tap], s);
    }
  }
  template <int T, int Position, int... Tap>
  RT_FN void take_all(Indices<int, Tap...>, const f32* a, i64 unit, const V* w) {
    if constexpr ((... || reaches<Position>(Tap))) {
      const V x = spread<T>(indices<kLanes>{}, a + Position * unit);
      (..., take<Position, Tap>(x, w));
    }
  }
  template <int T, class B, int... Tap, int... Position>
  RT_FN void add_member(Indices<int, Tap...> taps, Indices<int, Position...>, const f32* a, i64 unit, const B* b) {
    const V w[] = {load_next<B, kLanes>(b + (Tap * K + T) * kPanel)...};
    (..., take_all<T, Position>(taps, a, unit, w));
  }
  // The products of all taps of one segment.
  template <class B, int... T>
  RT_FN void add(Indices<int, T...>, const f32* a, i64 unit, const B* b) {
    (..., add_member<T>(indices<Window::kTaps>{}, indices<kPositions>{}, a, unit, b));
  }
};

template <int MR, bool InRegisters, class Window, int R, int S, class M, class N, class K, class A, class B,
          class Epilogue>
struct Groups {
  static constexpr int kLanes = kGroupLanes, kRun = Window::kTaps * K::value,
                       kVectors = static_cast<int>(round_up_div(N::value, kLanes));
  static_assert(N::value <= kPanel && (Window::kOut % kLanes == 0 || kLanes % Window::kOut == 0));

  const Call& call;
  Extents<R> outer;
  Extents<S> segments;
  M m;
  A a;
  B b;
  Epilogue& epilogue;
  TileSplit rows;

  // Columns J * kLanes on.
  template <int J, class V>
  RT_FN void emit(const i64* index, V sum, i64 row) const {
    const auto at = [&](auto x, auto col)
                        __attribute__((always_inline)) { store_element<R>(epilogue, index, x, row, col); };
    if constexpr ((J + 1) * kLanes <= N::value) {
      at(sum, Lanes<kLanes>{J * kLanes});
    } else {
      f32 lanes[kLanes];
      store(lanes, Lanes<kLanes>{0}, sum);
      emit_tail<kLanes / 2>(lanes, J * kLanes, Constant<N::value % kLanes>{}, at);
    }
  }
  // H rows by vector J of the panel, of which the first `known` rows were computed before.
  template <int J, int H, int... I>
  RT_FN void tile(Indices<int, I...>, const i64* index, i64 row, i64 known) const {
    using Sums = GroupSums<H, N::value, K::value, Window>;
    const auto* const from = a.base + a.outer.at(index) + row * a.row_stride + J * kLanes / Window::kOut * K::value;
    const auto* panel = b.base + b.outer.at(index) + J * kLanes;
    const i64 unit = a.row_stride / Window::kRowStep;
    Sums acc;
    acc.clear();
    if constexpr (InRegisters) {
      each_segment<0, S>(segments, a.segment, from, [&](auto* p) __attribute__((always_inline)) {
        acc.add(indices<K::value>{}, p, unit, panel);
        panel += kRun * kPanel;
      });
      (..., (I >= known ? emit<J>(index, acc.sum[I], row + I) : void()));
    } else {
      typename Sums::V totals[H] = {};
      i64 terms = 0;
      each_segment<0, S>(segments, a.segment, from, [&](auto* p) __attribute__((always_inline)) {
        acc.add(indices<K::value>{}, p, unit, panel);
        panel += kRun * kPanel;
        terms += kRun;
        if (terms < kSumBlock) return;
        acc.flush(totals);
        terms = 0;
      });
      acc.flush(totals);
      RT_ROLLED
      for (i64 i = known; i < H; ++i) emit<J>(index, totals[i], row + i);
    }
  }
  template <int H, int... J>
  RT_FN void tiles(Indices<int, J...>, const i64* index, i64 row, i64 known) const {
    (..., tile<J, H>(indices<H>{}, index, row, known));
  }
  RT_FN void run() const {
    each_tile_of_rows<MR>(call, outer, m, rows, [&](auto height, const i64* index, i64 row, i64 known) RT_INLINE {
      tiles<height.value>(indices<kVectors>{}, index, row, known);
    });
  }
};

}  // namespace detail

// m, n (a panel at most) and k are constants (`c<16>`); A is f32. InRegisters: as contract's. Chunks share the tiles.
template <int MR, bool InRegisters, class Window, int R, int S, class M, class N, class K, class A, class B,
          class Epilogue>
RT_FN void grouped(const Call& call, Window, Extents<R> outer, Extents<S> segments, M m, N, K, A a, B b,
                   Epilogue epilogue) {
  detail::Groups<MR, InRegisters, Window, R, S, M, N, K, A, B, Epilogue>{
      call, outer, segments, m, a, b, epilogue, detail::split_rows<MR>(m)}
      .run();
}
#endif

}  // namespace rt
