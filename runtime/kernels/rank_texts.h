// rank_texts: the place of each string among the different ones, in the order of their bytes. `order` is room to work
// in, zero in the end. A heap of numbers: O(count log count) comparisons.
#pragma once
#include "runtime/kernels/nest.h"
#include "runtime/rt/order.h"

namespace rt {

RT_FN void rank_texts(const RowCall& call, i64* ranks, i64* order, const i64* x, i64 count) {
  LockedStrings strings(call);
  const auto precedes = [&](i64 a, i64 b) {
    const Text left = strings.text(x[a]), right = strings.text(x[b]);
    const i64 shared = left.bytes < right.bytes ? left.bytes : right.bytes;
    for (i64 i = 0; i < shared; ++i) {
      const u8 of_left = static_cast<u8>(left.data[i]), of_right = static_cast<u8>(right.data[i]);
      if (of_left != of_right) return of_left < of_right;
    }
    return left.bytes < right.bytes;
  };
  rank_all(ranks, order, count, precedes);
  for (i64 i = 0; i < count; ++i) order[i] = 0;
}

}  // namespace rt
