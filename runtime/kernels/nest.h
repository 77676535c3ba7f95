// nest: any loop nest. The outer axes run as scalars; for each of their points `row(i0, ..)` computes what does not
// depend on the last axis and returns `element(at)`, which is called with W consecutive indices at a time and with
// single ones for the rest. On a GPU a thread takes W points, or a team of threads a row, whose folds it shares
// (fold_team). nest_of_rows: of short rows a processor takes W at once, each in a lane, element by element. serial:
// points one after another, for updates that must keep their order. The naive family: specification and fallback of
// every other one.
#pragma once
#include "runtime/call.h"
#include "runtime/rt/fold.h"
#include "runtime/rt/fold_team.h"
#include "runtime/rt/load.h"
#include "runtime/rt/math.h"
#include "runtime/rt/scalar.h"

// In front of a function that is not rare, but one for all kernels of a file.
#define RT_CALLED RT_COLD

namespace rt {

// A number that is known when a kernel is compiled, and known to the family before that: what cannot occur with it (a
// rest beside whole vectors, a tile of another size) is not instantiated, which halves the time that kernels take to
// compile.
template <i64 N>
struct Constant {
  static constexpr i64 value = N;
  constexpr operator i64() const { return N; }
};
template <i64 N>
inline constexpr Constant<N> c{};
// One that only the run knows, and that N divides; of which a compiler knows the bits that are 0.
template <i64 N>
struct MultipleOf {
  i64 value;
  constexpr operator i64() const { return value & ~((N & -N) - 1); }
};
template <i64 N>
RT_FN constexpr MultipleOf<N> multiple_of(i64 value) {
  return {value};
}

namespace detail {
template <class N>
inline constexpr bool kIsConstant = false;
template <i64 N>
inline constexpr bool kIsConstant<Constant<N>> = true;
// What a number is known to be at least when a kernel is compiled.
template <class N>
inline constexpr i64 kLeast = 0;
template <i64 N>
inline constexpr i64 kLeast<Constant<N>> = N;
// What is known to divide it.
template <class N>
inline constexpr i64 kDivisor = 1;
template <i64 N>
inline constexpr i64 kDivisor<Constant<N>> = N;
template <i64 N>
inline constexpr i64 kDivisor<MultipleOf<N>> = N;
template <class N, int W>
inline constexpr bool kIsMultiple = kDivisor<N> % W == 0;
}  // namespace detail

template <int R>
struct Extents {
  i64 n[R == 0 ? 1 : R];
  RT_FN i64 points() const {
    i64 p = 1;
    for (int d = 0; d < R; ++d) p *= n[d];
    return p;
  }
};
template <class... N>
RT_FN Extents<sizeof...(N)> extents(N... n) {
  return {{n...}};
}

namespace detail {
template <int D, int R, class F, class... I>
RT_FN auto call_at(const i64* index, F&& f, I... i) {
  if constexpr (D == R) {
    return f(i...);
  } else {
    return call_at<D + 1, R>(index, f, i..., index[D]);
  }
}
template <int R>
RT_FN void split_index(i64 point, const Extents<R>& e, i64* index) {
  for (int d = R - 1; d >= 0; --d) {
    index[d] = point % e.n[d];
    point /= e.n[d];
  }
}
template <int R>
RT_FN void next_index(const Extents<R>& e, i64* index) {
  for (int d = R - 1; d >= 0; --d) {
    if (++index[d] < e.n[d]) return;
    index[d] = 0;
  }
}
// What a row has behind its last whole vector, `Rest` elements: halves and quarters of one, but no fewer than 4 at
// once.
template <int W, int Rest, class Element>
RT_FN i64 run_parts(i64 at, i64 end, const Element& element) {
  if constexpr (W >= 4) {
    if constexpr ((Rest & W) != 0) {
      if (at + W <= end) {
        element(Lanes<W>{at});
        at += W;
      }
    }
    return run_parts<W / 2, Rest>(at, end, element);
  } else {
    return at;
  }
}
// From a multiple of the lanes on; N: of the whole row, a number or a constant.
template <int Wanted, class N, class Element>
RT_FN void run_lanes(i64 begin, i64 end, const Element& element) {
  constexpr int W = kAtOnce<Wanted>, kLeast = kIsConstant<N> && W > 4 ? 4 : W;  // at once, before elements are left
  i64 at = begin;
  if constexpr (W > 1)
    for (; at + W <= end; at += W) element(Lanes<W>{at});
  if constexpr (kIsConstant<N>) at = run_parts<W / 2, int(N::value % W)>(at, end, element);
  constexpr bool kLeavesElements = W == 1 || !kIsMultiple<N, kLeast>;
  if constexpr (kLeavesElements)
    for (; at < end; ++at) element(at);
}

// What a chunk has of all units.
struct Share {
  i64 begin, end;
};
RT_CALLED Share share_of(const Call& call, i64 units) {
  if (call.chunks == 1) return {0, units};
  return {units * call.chunk / call.chunks, units * (call.chunk + 1) / call.chunks};
}

// A nest's rows, each of so many pieces of the last axis; what a chunk has of them, from a piece of a row on.
struct Pieces {
  i64 pieces, step, row, piece, count;
};
RT_FN Pieces pieces_in_place(const Call& call, i64 rows, i64 inner, i64 lanes) {
  const i64 pieces = rows == 0 || rows >= call.chunks || inner < 2 * lanes ? 1 : (call.chunks + rows - 1) / rows;
  const i64 step = pieces == 1 ? inner : ((inner + pieces - 1) / pieces + lanes - 1) / lanes * lanes;
  const i64 units = rows * pieces;
  const i64 begin = units * call.chunk / call.chunks, end = units * (call.chunk + 1) / call.chunks;
  return {pieces, step, begin / pieces, begin % pieces, end - begin};
}
RT_CALLED Pieces pieces_of_run(const Call& call, i64 rows, i64 inner, i64 lanes) {
  if (call.chunks == 1) return {1, inner, 0, 0, rows};
  return pieces_in_place(call, rows, inner, lanes);
}
// Divisions by numbers that only the run knows are a call: each would take more code than what most nests compute.
RT_FN Pieces pieces_of(const Call& call, i64 rows, i64 inner, i64 lanes) {
  if (__builtin_constant_p(rows) && __builtin_constant_p(inner)) return pieces_in_place(call, rows, inner, lanes);
  return pieces_of_run(call, rows, inner, lanes);
}
template <int R>
struct Index {
  i64 n[R];
};
template <int R>
RT_CALLED Index<R> index_of_run(i64 point, Extents<R> e) {
  Index<R> index{};
  if (point == 0) return index;
  split_index<R>(point, e, index.n);
  return index;
}
template <int R>
RT_FN void first_index(i64 point, const Extents<R>& e, i64* index) {
  if constexpr (R == 1) {
    index[0] = point;  // an extent of 0 divides nothing
  } else if (R == 0 || __builtin_constant_p(e.points())) {
    split_index<R>(point, e, index);
  } else {
    const Index<R> first = index_of_run<R>(point, e);
    for (int d = 0; d < R; ++d) index[d] = first.n[d];
  }
}

// The threads of all chunks take units in turn: the first one's number, and how far it is to the next.
RT_FN i64 first_unit(const Call& call) { return i64(call.chunk) * threads() + thread(); }
RT_FN i64 next_unit(const Call& call) { return i64(call.chunks) * threads(); }

#if defined(RT_KERNEL)
#if defined(RT_CUDA) && !defined(__clang__)
inline constexpr bool kThreadsHaveLanes = false;  // nvcc has no vectors in device code: a point after the other
#else
inline constexpr bool kThreadsHaveLanes = true;
#endif

template <int W, int R, class Inner, class Row>
RT_FN void run_points(const Call& call, Inner inner, const Extents<R>& outer, Row& row) {
  static_assert(W == 1 || kIsMultiple<Inner, W>);
  const i64 length = inner / W, units = outer.points() * length;
  i64 index[R == 0 ? 1 : R];
  for (i64 u = first_unit(call); u < units; u += next_unit(call)) {
    split_index<R>(u / length, outer, index);
    const auto element = call_at<0, R>(index, row);
    if constexpr (W == 1) {
      element(u % length);
    } else {
      element(Lanes<W>{u % length * W});
    }
  }
}
// Teams that have no row left run one along: they too come to what a block does together.
template <int Team, int R, class Row>
RT_FN void run_rows(const Call& call, i64 inner, const Extents<R>& outer, Row& row) {
  constexpr i64 kTeams = kBlockThreads / Team;
  const i64 rows = outer.points();
  i64 index[R == 0 ? 1 : R];
  for (i64 first = call.chunk * kTeams; first < rows; first += call.chunks * kTeams) {
    const i64 own = first + thread() / Team;
    split_index<R>(own < rows ? own : rows - 1, outer, index);
    const auto element = call_at<0, R>(index, row);
    for (i64 at = own < rows ? thread() % Team : inner; at < inner; at += Team) element(at);
  }
}
#endif
}  // namespace detail

// Chunks share the rows; where there are fewer rows than chunks they share pieces of the last axis too. The split
// depends on the number of chunks alone, which the plan fixes. WholeRows: no row is shared.
template <int W, int Team = 1, bool WholeRows = false, int R, class Inner, class Row>
RT_FN void nest(const Call& call, Inner inner, Extents<R> outer, Row row) {
#if defined(RT_KERNEL)
  if constexpr (Team == 1) {
    detail::run_points<detail::kThreadsHaveLanes ? W : 1, R>(call, inner, outer, row);
  } else {
    detail::run_rows<Team, R>(call, inner, outer, row);
  }
#else
  const detail::Pieces own = detail::pieces_of(call, outer.points(), inner, WholeRows ? i64{inner} : W);
  i64 index[R == 0 ? 1 : R];
  detail::first_index<R>(own.row, outer, index);
  i64 piece = own.piece;
  for (i64 left = own.count; left > 0; --left) {
    const i64 first = piece * own.step, last = first + own.step < inner ? first + own.step : i64{inner};
    const auto element = detail::call_at<0, R>(index, row);
    detail::run_lanes<W, Inner>(first, last, element);
    if (++piece < own.pieces) continue;
    piece = 0;
    detail::next_index<R>(outer, index);
  }
#endif
}

// The last outer axis is that of the rows, which `row` takes behind the others: P of them as Lanes<P>, and one by one
// those that are left, whose elements run in lanes as nest's do.
template <int P, int W, int R, class Inner, class Rows, class Row>
RT_FN void nest_of_rows(const Call& call, Inner inner, Rows rows, Extents<R> outer, Row row) {
  constexpr int kRows = kAtOnce<P>;
  Extents<R + 1> blocks{};
  for (int d = 0; d < R; ++d) blocks.n[d] = outer.n[d];
  blocks.n[R] = (rows + kRows - 1) / kRows;
  const detail::Share own = detail::share_of(call, blocks.points());
  i64 index[R + 1];
  detail::first_index<R + 1>(own.begin, blocks, index);
  for (i64 left = own.end - own.begin; left > 0; --left) {
    const i64 first = index[R] * kRows;
    const auto row_at = [&](auto at) RT_INLINE {
      return detail::call_at<0, R>(index, [&](auto... i) RT_INLINE { return row(i..., at); });
    };
    if (detail::kIsMultiple<Rows, kRows> || first + kRows <= rows) {
      const auto element = row_at(Lanes<kRows>{first});
      for (i64 at = 0; at < inner; ++at) element(at);
    } else if constexpr (!detail::kIsMultiple<Rows, kRows>) {
      for (i64 at = first; at < rows; ++at) detail::run_lanes<W, Inner>(0, inner, row_at(at));
    }
    detail::next_index<R + 1>(blocks, index);
  }
}

// Points of different owners write different elements, so owners may run at once. Without owners all threads of a GPU
// walk all points in order, and each stores the elements that it owns (store_own).
template <int P, int R, class Point>
RT_FN void serial(const Call& call, Extents<P> owners, Extents<R> ordered, Point point) {
  const i64 all = owners.points(), points = ordered.points();
  constexpr bool kOwnWalk = kBlocks && P == 0;
  for (i64 o = kOwnWalk ? 0 : detail::first_unit(call); o < all; o += kOwnWalk ? 1 : detail::next_unit(call)) {
    i64 index[P + R == 0 ? 1 : P + R] = {};
    detail::split_index<P>(o, owners, index);
    for (i64 p = 0; p < points; ++p) {
      detail::call_at<0, P + R>(index, point);
      detail::next_index<R>(ordered, index + P);
    }
  }
}

template <class T, class X>
RT_FN void store_own(const Call& call, T* p, i64 index, X value) {
  if constexpr (kBlocks)
    if (u32(index) % u32(detail::next_unit(call)) != u32(detail::first_unit(call))) return;
  store(p, index, value);
}

namespace detail {
// The first axis whose index is outside in this lane, or the last one. Three arguments an axis: the index as the data
// has it, the same counted from 0, the extent.
template <class Given, class Index, class... More>
RT_COLD void raise_index(Fault* fault, int at, Given given, Index index, i64 extent, More... more) {
  const i64 i = lane(index, at);
  if constexpr (sizeof...(More) > 0) {
    if (i >= 0 && i < extent) return raise_index(fault, at, more...);
  }
  raise_fault(fault, kIndexFault, lane(given, at), extent);
}
template <class G>
RT_COLD int first_outside(G inside) {
  int i = 0;
  while (i < kLanes<G> && lane(inside, i)) ++i;
  return i;
}
}  // namespace detail

// A condition that only the data can break: false ends the run with CAMEO_OUT_OF_RANGE. `axes` as raise_index takes
// them, those that may be outside.
template <class G, class... Axes>
RT_FN bool check(const Call& call, G inside, Axes... axes) {
  const bool holds = all(inside);
  if (!holds) [[unlikely]]
    detail::raise_index(call.fault, detail::first_outside(inside), axes...);
  return holds;
}
// A load whose index comes from data and must be in range.
template <class T, class I, class G, class... Axes>
RT_FN auto load_checked(const Call& call, const T* x, I at, G inside, Axes... axes) {
  check(call, inside, axes...);
  return load_or(x, at, inside, detail::value_in<T>{});
}

}  // namespace rt
