// fold_team: a fold whose terms a team of a block's threads share, a warp or the whole block: thread t of T takes the
// terms t, t + T, .. in order, then halves of the team meet, the lower one first, so that all threads have the same
// bits. f32 sums are taken in blocks and join in f64, as fold_lanes does. All of a block's threads come here together.
#pragma once
#include "fold.h"
#include "grid.h"

#if defined(RT_KERNEL)
namespace rt {
namespace detail {

template <FoldKind K, class Body>
RT_FN auto fold_terms(i64 first, i64 step, i64 extent, Body& body) {
  using V = bare<decltype(general(body(i64(0))))>;
  auto total = Accumulator<K, V>{}.widened();
  for (i64 r = first; r < extent;) {
    Accumulator<K, V> block;
    RT_ROLLED
    for (i64 i = 0; i < kFoldBlock && r < extent; ++i, r += step) block.take(general(body(r)), r);
    total.merge(block.widened());
  }
  return total;
}

template <FoldKind K, class V>
RT_FN Accumulator<K, V> of_other_thread(const Accumulator<K, V>& a, int mask) {
  if constexpr (kIsArg<K>) {
    return {shuffle(a.best, mask), shuffle(a.at, mask)};
  } else {
    return {shuffle(a.value, mask)};
  }
}
template <FoldKind K, class V>
RT_FN void meet_in_warp(Accumulator<K, V>& total) {
  for (int mask = 1; mask < kWarpThreads; mask *= 2) {
    auto other = of_other_thread(total, mask);
    if (thread() & mask) {
      other.merge(total);
      total = other;
    } else {
      total.merge(other);
    }
  }
}

/// One value of each warp, as all threads of the block see it. `Unique` is a type for each call of a kernel.
template <class Unique, class T>
struct OfWarps {
  static constexpr int kWarps = kBlockThreads / kWarpThreads;
  T of[kWarps];
  RT_FN explicit OfWarps(T own) {
    RT_SHARED T words[kWarps];
    if (thread() % kWarpThreads == 0) words[thread() / kWarpThreads] = own;
    barrier();
    for (int w = 0; w < kWarps; ++w) of[w] = words[w];
    barrier();
  }
};
template <class Unique, FoldKind K, class V>
RT_FN void meet_in_block(Accumulator<K, V>& total) {
  if constexpr (kIsArg<K>) {
    const OfWarps<Unique, V> best(total.best);
    const OfWarps<Unique, decltype(total.at)> at(total.at);
    total = {best.of[0], at.of[0]};
    for (int w = 1; w < best.kWarps; ++w) total.merge({best.of[w], at.of[w]});
  } else {
    const OfWarps<Unique, V> value(total.value);
    total = {value.of[0]};
    for (int w = 1; w < value.kWarps; ++w) total.merge({value.of[w]});
  }
}

}  // namespace detail

template <FoldKind K, int Team, class Body>
RT_FN auto fold_team(i64 extent, Body&& body) {
  static_assert(Team == kWarpThreads || Team == kBlockThreads);
  using V = bare<decltype(general(body(i64(0))))>;
  auto total = detail::fold_terms<K>(thread() % Team, Team, extent, body);
  detail::meet_in_warp(total);
  if constexpr (Team == kBlockThreads) detail::meet_in_block<Body>(total);
  if constexpr (detail::kIsArg<K>) {
    return total.result();
  } else {
    return cast<V>(total.result());
  }
}

}  // namespace rt
#endif
