// non_max_suppression: of each class of each batch the boxes in descending order of their scores, of equals the one
// with the lower index first, without those that overlap one taken before by more than `overlap`, an intersection over
// a union. `rows` gets {batch, class, box} of each and zeros up to its end, `room` rows, `count` how many there are.
// `order`, as long as there are boxes, is a heap of candidates, of which no more are sorted than are taken, and zero in
// the end. One thread does it all.
#pragma once
#include "runtime/kernels/nest.h"
#include "runtime/rt/order.h"

namespace rt {
namespace detail {

struct Box {
  f32 low[2], high[2];  // along both axes
};

/// Four numbers: a centre and extents, or two corners.
RT_FN Box box_of(const f32* p, bool is_centred) {
  Box box;
  for (int a = 0; a < 2; ++a) {
    if (is_centred) {
      const f32 half = p[2 + a] / 2;
      box.low[a] = p[a] - half;
      box.high[a] = p[a] + half;
    } else {
      box.low[a] = p[a] > p[2 + a] ? p[2 + a] : p[a];
      box.high[a] = p[a] > p[2 + a] ? p[a] : p[2 + a];
    }
  }
  return box;
}
RT_FN f32 area_of(const Box& box) { return (box.high[1] - box.low[1]) * (box.high[0] - box.low[0]); }

/// Whether the intersection is more than this share of the union; boxes without an area have none.
RT_FN bool overlaps_by(const Box& a, const Box& b, f32 share) {
  Box both;
  for (int axis = 0; axis < 2; ++axis) {
    both.low[axis] = a.low[axis] > b.low[axis] ? a.low[axis] : b.low[axis];
    both.high[axis] = a.high[axis] < b.high[axis] ? a.high[axis] : b.high[axis];
    if (both.high[axis] <= both.low[axis]) return false;
  }
  const f32 intersection = area_of(both), area_a = area_of(a), area_b = area_of(b);
  const f32 whole = area_a + area_b - intersection;
  if (intersection <= 0 || area_a <= 0 || area_b <= 0 || whole <= 0) return false;
  return intersection / whole > share;
}

/// Takes boxes out of `order`, a list of `left` candidates, until there are `most`; gives how many.
template <class Take>
RT_FN i64 take_best(i64* order, i64 left, const f32* boxes, const f32* scores, i64 most, f32 overlap, bool is_centred,
                    Take take) {
  const auto above = [&](i64 i, i64 j) {
    const f32 a = scores[order[i]], b = scores[order[j]];
    return ranks_before(a, b, true) || (order[i] < order[j] && !ranks_before(b, a, true));
  };
  const auto swap = [&](i64 i, i64 j) {
    const i64 kept = order[i];
    order[i] = order[j];
    order[j] = kept;
  };
  make_heap(left, above, swap);
  i64 taken = 0;
  for (; left > 0 && taken < most; --left) {
    const i64 index = order[0];
    const Box box = box_of(boxes + index * 4, is_centred);
    take_root(left, above, swap);
    bool is_free = true;
    for (i64 t = 0; t < taken && is_free; ++t)
      is_free = !overlaps_by(box, box_of(boxes + take(t) * 4, is_centred), overlap);
    if (is_free) take(taken++) = index;
  }
  return taken;
}

}  // namespace detail

// boxes[batches, length, 4], scores[batches, classes, length]. Where `is_bounded`, scores must be larger than `least`.
RT_FN void non_max_suppression(const Call& call, i64* rows, i64* count, i64* order, const f32* boxes, const f32* scores,
                               const i64* most, const f32* overlap, const f32* least, i64 batches, i64 classes,
                               i64 length, i64 room, i64 is_centred, i64 is_bounded) {
  if (detail::first_unit(call) != 0) return;
  i64 found = 0;
  for (i64 u = 0; u < batches * classes; ++u) {
    const f32* const own = scores + u * length;
    i64 candidates = 0;
    for (i64 i = 0; i < length; ++i)
      if (!is_bounded || own[i] > *least) order[candidates++] = i;
    const auto box_taken = [&](i64 t) -> i64& { return rows[(found + t) * 3 + 2]; };
    const i64 taken = detail::take_best(order, candidates, boxes + u / classes * length * 4, own, *most, *overlap,
                                        is_centred != 0, box_taken);
    for (i64 t = 0; t < taken; ++t, ++found) {
      rows[found * 3] = u / classes;
      rows[found * 3 + 1] = u % classes;
    }
  }
  *count = found;
  for (i64 i = found * 3; i < room * 3; ++i) rows[i] = 0;
  for (i64 i = 0; i < length; ++i) order[i] = 0;
}

}  // namespace rt
