// top_k: for each row the k largest (or smallest) elements in order, of equals the one with the lower index first, NaN
// as the largest of all. On a processor the k kept so far are a heap in the output, the last in order at its root; one
// pass over the row, O(length log k), no scratch. On a GPU each element counts the elements of its row that rank before
// it, which is its place.
#pragma once
#include "runtime/kernels/nest.h"
#include "runtime/rt/order.h"

namespace rt {

// x[outer, length, inner] -> values and indices [outer, k, inner].
#if defined(RT_KERNEL)
template <class T, class I>
RT_FN void top_k(const Call& call, T* values, I* indices, const T* x, i64 outer, i64 length, i64 inner, i64 k,
                 i64 largest) {
  for (i64 u = detail::first_unit(call); u < outer * length * inner; u += detail::next_unit(call)) {
    const i64 row = u / inner / length, i = u / inner % length, from = row * length * inner + u % inner;
    const auto v = load(x, u);
    i64 place = 0;
    for (i64 j = 0; j < length && place < k; ++j) {
      const auto other = load(x, from + j * inner);
      place += ranks_before(other, v, largest != 0) || (j < i && !ranks_before(v, other, largest != 0));
    }
    if (place >= k) continue;
    const i64 to = (row * k + place) * inner + u % inner;
    store(values, to, v);
    indices[to] = static_cast<I>(i);
  }
}
#else
template <class T, class I>
RT_FN void top_k(const Call& call, T* values, I* indices, const T* x, i64 outer, i64 length, i64 inner, i64 k,
                 i64 largest) {
  for (i64 row = detail::first_unit(call); row < outer * inner; row += detail::next_unit(call)) {
    const i64 from = row / inner * length * inner + row % inner, to = row / inner * k * inner + row % inner;
    const auto value = [&](i64 place) { return load(values, to + place * inner); };
    const auto index = [&](i64 place) -> I& { return indices[to + place * inner]; };
    const auto keep = [&](i64 place, i64 i) {
      store(values, to + place * inner, load(x, from + i * inner));
      index(place) = static_cast<I>(i);
    };
    const auto follows = [&](i64 a, i64 b) {
      return ranks_before(value(b), value(a), largest != 0) ||
             (index(a) > index(b) && !ranks_before(value(a), value(b), largest != 0));
    };
    const auto swap = [&](i64 a, i64 b) {
      const auto kept = value(a);
      const I kept_index = index(a);
      store(values, to + a * inner, value(b));
      store(values, to + b * inner, kept);
      index(a) = index(b);
      index(b) = kept_index;
    };
    for (i64 i = 0; i < k; ++i) keep(i, i);
    make_heap(k, follows, swap);
    for (i64 i = k; i < length && k > 0; ++i) {
      if (!ranks_before(load(x, from + i * inner), value(0), largest != 0)) continue;
      keep(0, i);
      sink(0, k, follows, swap);
    }
    sort_heap(k, follows, swap);
  }
}
#endif
// `K` itself is known and not read.
template <class T, class I>
RT_FN void top_k(const Call& call, T* values, I* indices, const T* x, const i64*, i64 outer, i64 length, i64 inner,
                 i64 k, i64 largest) {
  top_k(call, values, indices, x, outer, length, inner, k, largest);
}

}  // namespace rt
