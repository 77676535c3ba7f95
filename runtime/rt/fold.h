// Reductions. `fold<Kind>(extent, body)` runs r = 0, 1, .. in order, body(r) being a scalar or a vector whose lanes are
// reduced separately. `fold_lanes<Kind, W>` vectorises along r itself: four accumulators of W lanes, a fixed order of
// merging, the rest by halves of W and one by one. Both results depend on the extent (and on W) only, never on the
// machine. Sums are taken in blocks, and f32 lanes join in f64, so that a sum's error hardly grows with its length.
// Min, Max carry NaN; ArgMin, ArgMax give the first extreme (..Last the last), where NaN is the most extreme of all. An
// empty fold gives the identity, Arg.. 0.
#pragma once
#include "scalar.h"

namespace rt {

enum FoldKind { Sum, Prod, Min, Max, ArgMin, ArgMax, ArgMinLast, ArgMaxLast };

namespace detail {

inline constexpr i64 kFoldBlock = 64;  // steps summed before they join the total

template <FoldKind K, class V>
RT_FN auto wide(V value) {  // what lanes join in
  if constexpr (K == Sum && kSame<element_of<V>, f32>) {
    return cast<f64>(value);
  } else {
    return value;
  }
}

template <FoldKind K, class V>
struct Accumulator {
  static constexpr bool is_arg = false;
  V value = splat<V>(K == Sum    ? element_of<V>(0)
                     : K == Prod ? element_of<V>(1)
                     : K == Min  ? Limits<element_of<V>>::min_identity
                                 : Limits<element_of<V>>::max_identity);
  template <class I>
  RT_FN void take(V v, I) {
    value = combine(value, v);
  }
  RT_FN void merge(const Accumulator& later) { value = combine(value, later.value); }
  RT_FN auto widened() const { return Accumulator<K, decltype(wide<K>(value))>{wide<K>(value)}; }
  RT_FN V result() const { return value; }
  RT_FN static V combine(V a, V b) {
    if constexpr (K == Sum) {
      return add(a, b);
    } else if constexpr (K == Prod) {
      return mul(a, b);
    } else if constexpr (K == Min) {
      return min(a, b);
    } else {
      return max(a, b);
    }
  }
};

template <FoldKind K>
inline constexpr bool kIsArg = K == ArgMin || K == ArgMax || K == ArgMinLast || K == ArgMaxLast;
template <FoldKind K, class V>
  requires(kIsArg<K>)
struct Accumulator<K, V> {
  using T = element_of<V>;
  using Index = like<i64, V>;
  static constexpr bool is_max = K == ArgMax || K == ArgMaxLast, is_last = K == ArgMinLast || K == ArgMaxLast;
  V best = splat<V>(is_max ? Limits<T>::max_identity : Limits<T>::min_identity);
  Index at{};

  RT_FN static auto beats(V v, V best) {  // strictly
    const auto better = condition(is_max ? v > best : v < best);
    if constexpr (kFloats<V>) {
      return logical_or(better, condition((v != v) & (best == best)));
    } else {
      return better;
    }
  }
  template <class M>
  RT_FN void replace(M take, V v, Index i) {
    best = select(take, v, best);
    at = select(take, i, at);
  }
  template <class I>
  RT_FN void take(V v, I r) {  // r grows from call to call
    if constexpr (is_last) {
      replace(logical_not(beats(best, v)), v, widen<Index>(r));
    } else {
      replace(beats(v, best), v, widen<Index>(r));
    }
  }
  RT_FN void merge(const Accumulator& other) {
    const auto tie = logical_not(logical_or(beats(other.best, best), beats(best, other.best)));
    const auto nearer = condition(is_last ? other.at > at : other.at < at);
    replace(logical_or(beats(other.best, best), logical_and(tie, nearer)), other.best, other.at);
  }
  RT_FN Accumulator widened() const { return *this; }
  RT_FN Index result() const { return at; }
};

template <class V>
struct Halves {
  vec<element_of<V>, kLanes<V> / 2> part[2];
};
template <FoldKind K, class V>
RT_FN Accumulator<K, element_of<V>> across(const Accumulator<K, V>& a) {  // all lanes into one, halving
  if constexpr (kLanes<V> == 1) {
    if constexpr (kIsArg<K>) {
      return {a.best[0], a.at[0]};
    } else {
      return {a.value[0]};
    }
  } else {
    using Half = Accumulator<K, vec<element_of<V>, kLanes<V> / 2>>;
    Half low, high;
    if constexpr (kIsArg<K>) {
      const auto best = __builtin_bit_cast(Halves<V>, a.best);
      const auto at = __builtin_bit_cast(Halves<like<i64, V>>, a.at);
      low = Half{best.part[0], at.part[0]}, high = Half{best.part[1], at.part[1]};
    } else {
      const auto value = __builtin_bit_cast(Halves<V>, a.value);
      low = Half{value.part[0]}, high = Half{value.part[1]};
    }
    low.merge(high);
    return across(low);
  }
}

template <int M, class A>
RT_FN auto across(A* all) {  // the first M vectors, of successive lanes, into one; halving as their lanes do
  if constexpr (M == 1) {
    return across(all[0]);
  } else {
    for (int i = 0; i < M / 2; ++i) all[i].merge(all[i + M / 2]);
    return across<M / 2>(all);
  }
}

// What an extent leaves behind its last whole vector: halves and quarters of one, but no fewer than 4 lanes at once,
// and elements. Where the extent is a constant, those that do not occur are left out.
template <FoldKind K, int W, class Total, class Body>
RT_FN void fold_rest(Total& total, i64 extent, Body& body) {
  const i64 first = extent - extent % (2 * W);
  if constexpr (W >= 4) {
    if (extent % (2 * W) >= W) {
      Accumulator<K, bare<decltype(wide<K>(general(body(Lanes<W>{0}))))>> part;
      part.take(wide<K>(general(body(Lanes<W>{first}))), Lanes<W>{first});
      if constexpr (K == Sum) hide_products(part.value);
      total.merge(across(part));
    }
    fold_rest<K, W / 2>(total, extent, body);
  } else {
    for (i64 r = first; r < extent; ++r) total.take(wide<K>(general(body(r))), r);
  }
}

}  // namespace detail

template <FoldKind K, class Body>
RT_FN auto fold(i64 extent, Body&& body) {
  using V = bare<decltype(general(body(i64(0))))>;
  detail::Accumulator<K, V> total;
  if constexpr (K == Sum && detail::kFloats<V>) {
    for (i64 r = 0; r < extent;) {
      const i64 end = extent - r < detail::kFoldBlock ? extent : r + detail::kFoldBlock;
      detail::Accumulator<K, V> block;
      for (; r < end; ++r) block.take(general(body(r)), r);
      total.merge(block);
    }
  } else {
    for (i64 r = 0; r < extent; ++r) total.take(general(body(r)), r);
  }
  return total.result();
}

template <FoldKind K, int W, class Body>
RT_FN auto fold_lanes(i64 extent, Body&& body) {
  constexpr int P = kAtOnce<W>, N = W / P;
  using V = bare<decltype(general(body(Lanes<P>{0})))>;
  if constexpr (kLanes<V> == 0) {
    return fold<K>(extent, body);  // a body that does not depend on r
  } else {
    using Part = detail::Accumulator<K, V>;
    decltype(Part{}.widened()) total[N];  // vector j: lanes j * P on
    i64 r = 0;
    while (extent - r >= 4 * W) {
      Part part[4 * N];
      const i64 end = extent - r < detail::kFoldBlock * 4 * W ? extent : r + detail::kFoldBlock * 4 * W;
      for (; end - r >= 4 * W; r += 4 * W) {
        for (int j = 0; j < 4 * N; ++j) part[j].take(general(body(Lanes<P>{r + j * P})), Lanes<P>{r + j * P});
      }
      for (int j = 0; j < 4 * N; ++j) total[j % N].merge(part[j].widened());
    }
    for (; extent - r >= W; r += W)
      for (int j = 0; j < N; ++j)
        total[j].take(detail::wide<K>(general(body(Lanes<P>{r + j * P}))), Lanes<P>{r + j * P});
    if constexpr (K == Sum)
      for (auto& sum : total) detail::hide_products(sum.value);
    auto rest = detail::across<N>(total);
    detail::fold_rest<K, W / 2>(rest, extent, body);
    if constexpr (K == Sum) {
      return cast<element_of<V>>(rest.result());
    } else {
      return rest.result();
    }
  }
}

}  // namespace rt
