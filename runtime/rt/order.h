// The order that sorting operators go by, and heaps to sort with: nothing but the elements' own memory is needed, and
// n elements take O(n log n) steps. A heap stands at places 0 .. count - 1 of whatever holds the elements:
// `above(i, j)` says whether the one at place i belongs nearer to the root, place 0, than the one at j, and
// `swap(i, j)` exchanges them. Where no two elements are equal in that order, what comes out is one and the same.
#pragma once
#include "types.h"

namespace rt {

/// NaN is larger than every number and equal to itself.
template <class V>
RT_FN bool ranks_before(V a, V b, bool largest) {
  if constexpr (kIsFloat<V>) {
    if (a != a || b != b) return largest ? a != a && b == b : b != b && a == a;
  }
  return largest ? a > b : a < b;
}

/// The element at `at` moves down to where it belongs.
template <class Above, class Swap>
RT_FN void sink(i64 at, i64 count, Above above, Swap swap) {
  for (i64 child = 2 * at + 1; child < count; at = child, child = 2 * at + 1) {
    if (child + 1 < count && above(child + 1, child)) ++child;
    if (!above(child, at)) return;
    swap(child, at);
  }
}

template <class Above, class Swap>
RT_FN void make_heap(i64 count, Above above, Swap swap) {
  for (i64 at = count / 2; at-- > 0;) sink(at, count, above, swap);
}

/// The element at the root goes to place count - 1, behind the heap of the others.
template <class Above, class Swap>
RT_FN void take_root(i64 count, Above above, Swap swap) {
  swap(0, count - 1);
  sink(0, count - 1, above, swap);
}

/// A heap becomes the sequence of its elements, the root's the last.
template <class Above, class Swap>
RT_FN void sort_heap(i64 count, Above above, Swap swap) {
  for (; count > 1; --count) take_root(count, above, swap);
}

/// The place of each of `count` elements among the different ones; gives how many these are. In `order` come their
/// numbers as they stand, of equal ones the first in front. `precedes(a, b)`: whether element a stands before b.
template <class Precedes>
RT_FN i64 rank_all(i64* ranks, i64* order, i64 count, Precedes precedes) {
  const auto follows = [&](i64 i, i64 j) {
    return precedes(order[j], order[i]) || (order[i] > order[j] && !precedes(order[i], order[j]));
  };
  const auto swap = [&](i64 i, i64 j) {
    const i64 kept = order[i];
    order[i] = order[j];
    order[j] = kept;
  };
  for (i64 i = 0; i < count; ++i) order[i] = i;
  make_heap(count, follows, swap);
  sort_heap(count, follows, swap);
  i64 different = 0;
  for (i64 i = 0; i < count; ++i) {
    different += i == 0 || precedes(order[i - 1], order[i]);
    ranks[order[i]] = different - 1;
  }
  return different;
}

}  // namespace rt
