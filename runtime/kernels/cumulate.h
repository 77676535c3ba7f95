// cumulate: running sums or products along an axis, y[i] = x[0] + .. + x[i], from either end, the element itself
// included or not; of floats in f64. On a processor one pass over rows, of which those that are neighbours run in
// lanes. On a GPU each element folds those that it counts.
#pragma once
#include "runtime/kernels/nest.h"
#include "runtime/rt/elementwise.h"

namespace rt {
namespace detail {

template <class T, bool = kIsFloat<T>>
struct Running {
  using Type = T;
};
template <class T>
struct Running<T, true> {
  using Type = f64;
};

template <class A, class V>
RT_FN A cumulated(A all, V x, i64 product) {
  return product ? mul(all, cast<element_of<A>>(x)) : add(all, cast<element_of<A>>(x));
}

}  // namespace detail

// x[outer, length, inner] -> y of the same shape.
template <class T>
RT_FN void cumulate(const Call& call, T* y, const T* x, i64 outer, i64 length, i64 inner, i64 product, i64 exclusive,
                    i64 reverse) {
  using V = decltype(load(x, i64{0}));
  using A = typename detail::Running<V>::Type;
#if defined(RT_KERNEL)
  for (i64 u = detail::first_unit(call); u < outer * length * inner; u += detail::next_unit(call)) {
    const i64 row = u / inner / length, here = u / inner % length, from = row * length * inner + u % inner;
    const i64 begin = reverse ? here + exclusive : 0, end = reverse ? length : here + 1 - exclusive;
    A all = A(product);
    for (i64 i = begin; i < end; ++i) all = detail::cumulated(all, load(x, from + i * inner), product);
    store(y, u, cast<V>(all));
  }
#else
  constexpr int W = kAtOnce<16>;
  const i64 blocks = round_up_div(inner, W);
  const detail::Share own = detail::share_of(call, outer * blocks);
  for (i64 unit = own.begin; unit < own.end; ++unit) {
    const i64 column = unit % blocks * W, from = unit / blocks * length * inner;
    const auto along = [&](auto columns) RT_INLINE {
      auto all = splat<like<A, decltype(load(x, columns))>>(A(product));
      for (i64 step = 0; step < length; ++step) {
        const auto at = columns + (from + (reverse ? length - 1 - step : step) * inner);
        const auto before = all;
        all = detail::cumulated(all, load(x, at), product);
        store(y, at, cast<V>(exclusive ? before : all));
      }
    };
    if (column + W <= inner)
      along(Lanes<W>{column});
    else
      for (i64 rest = column; rest < inner; ++rest) along(rest);
  }
#endif
}

}  // namespace rt
