// top_k: for each row the k largest (or smallest) elements in order, of equals the one with the lower index first, NaN
// as the largest of all. On a processor by insertion into the k kept so far, which stand in the output: no scratch, one
// pass over the row. On a GPU each element counts the elements of its row that rank before it, which is its place.
#pragma once
#include "runtime/kernels/nest.h"

namespace rt {

namespace detail {
template <class V>
RT_FN bool ranks_before(V a, V b, bool largest) {
  if constexpr (kIsFloat<V>) {
    if (a != a || b != b) return largest ? a != a && b == b : b != b && a == a;
  }
  return largest ? a > b : a < b;
}
}  // namespace detail

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
      place += detail::ranks_before(other, v, largest != 0) || (j < i && !detail::ranks_before(v, other, largest != 0));
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
    i64 kept = 0;
    for (i64 i = 0; i < length; ++i) {
      const auto v = load(x, from + i * inner);
      i64 at = kept < k ? kept++ : k;
      if (at == k && (k == 0 || !detail::ranks_before(v, load(values, to + (k - 1) * inner), largest != 0))) continue;
      if (at == k) at = k - 1;
      for (; at > 0 && detail::ranks_before(v, load(values, to + (at - 1) * inner), largest != 0); --at) {
        store(values, to + at * inner, load(values, to + (at - 1) * inner));
        indices[to + at * inner] = indices[to + (at - 1) * inner];
      }
      store(values, to + at * inner, v);
      indices[to + at * inner] = static_cast<I>(i);
    }
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
