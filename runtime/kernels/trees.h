// trees: an ensemble of decision trees, y[row, target] = the sum (or least, or greatest) of what the leaves that a row
// comes to say of the target. Eight trees at a time are walked in step, one element of the row each, so that eight
// chains of loads hide each other's latency and nothing is predicted: a step goes to `next + (x > threshold)`, where
// the two children stand side by side and a leaf, whose threshold is NaN, stays. Trees stand by depth, and a group ends
// when all of it stays. Loads bound the speed: three a step.
#pragma once
#include "runtime/kernels/nest.h"
#include "runtime/kernels/trees_shape.h"

namespace rt {
namespace detail {

enum : i64 { kTreesAdd = 0, kTreesMin = 1, kTreesMax = 2 };

// A node of 8 bytes: the threshold, and a word of where NaN goes, the feature and how far it is to the next.
struct ShortNode {
  f32 limit;
  u32 word;
  RT_FN f32 threshold() const { return limit; }
  RT_FN f32 element(const f32* row) const {
    const u64 offset = word & (kShortFeatures - 1) << (kShortFeatureAt - 32);
    return *reinterpret_cast<const f32*>(reinterpret_cast<const char*>(row) + offset);
  }
  RT_FN bool nan_goes_right() const { return word & 1; }
  RT_FN i64 next() const { return i64(i32(word)) >> (kShortNextAt - 32); }
  RT_FN i64 leaf() const { return __builtin_bit_cast(u32, limit) & (kShortLeaves - 1); }
};
// One of 16: the threshold, f64; the feature and where NaN goes; how far it is to the next.
struct LongNode {
  f64 limit;
  u32 word;
  i32 distance;
  RT_FN f64 threshold() const { return limit; }
  template <class T>
  RT_FN f64 element(const T* row) const {
    return static_cast<f64>(row[word >> 1]);
  }
  RT_FN bool nan_goes_right() const { return word & 1; }
  RT_FN i64 next() const { return distance; }
  RT_FN i64 leaf() const { return __builtin_bit_cast(u64, limit) & 0xFFFFFFFF; }
};

template <bool HasNan, class Node, class T>
RT_FN const Node* next_node(const Node* node, const T* row) {
  const auto t = node->threshold(), x = node->element(row);
  bool right = x > t;
  if constexpr (HasNan) right |= x != x && node->nan_goes_right();
  return node + node->next() + right;
}

// Where a row comes to in each tree of a group: numbers of leaves. `roots`: eight nodes, then how deep they are.
template <bool HasNan, class Node, class T>
RT_FN void walk_trees(const Node* nodes, const i32* roots, const T* row, i64 (&leaves)[kTreesAtOnce]) {
  const Node* at[kTreesAtOnce];
#pragma GCC unroll 8
  for (int t = 0; t < kTreesAtOnce; ++t) at[t] = nodes + roots[t];
  for (i32 step = 0; step < roots[kTreesAtOnce]; ++step) {
#pragma GCC unroll 8
    for (int t = 0; t < kTreesAtOnce; ++t) at[t] = next_node<HasNan>(at[t], row);
    if (step < kStepsAtLeast || step % 2) continue;
    i64 moves = 0;
#pragma GCC unroll 8
    for (int t = 0; t < kTreesAtOnce; ++t) moves |= at[t]->next();
    if (moves == 0) break;
  }
#pragma GCC unroll 8
  for (int t = 0; t < kTreesAtOnce; ++t) leaves[t] = at[t]->leaf();
}

template <class V>
RT_FN V first_of_trees(i64 combine) {
  const V most = static_cast<V>(__builtin_huge_val());
  return combine == kTreesAdd ? V(0) : combine == kTreesMin ? most : -most;
}
template <class V>
RT_FN V join_trees(V a, V b, i64 combine) {
  return combine == kTreesAdd ? a + b : (combine == kTreesMin ? b < a : a < b) ? b : a;
}

// What one group adds to a row of y. `each`: how many targets a leaf has.
template <class V>
RT_FN void add_leaves(V* y, const i64 (&leaves)[kTreesAtOnce], const V* values, const i32* targets, i64 each, i64 width,
                      i64 combine) {
  if (each == 1 && width == 1) {
    V v[kTreesAtOnce];
    for (int t = 0; t < kTreesAtOnce; ++t) v[t] = values[leaves[t]];
    for (int half = kTreesAtOnce / 2; half > 0; half /= 2)
      for (int t = 0; t < half; ++t) v[t] = join_trees(v[t], v[t + half], combine);
    y[0] = join_trees(y[0], v[0], combine);
    return;
  }
  for (int t = 0; t < kTreesAtOnce; ++t)
    for (i64 k = leaves[t] * each; k < (leaves[t] + 1) * each; ++k)
      y[targets[k]] = join_trees(y[targets[k]], values[k], combine);
}

template <class T>
RT_FN bool has_nan(const T* row, i64 features) {
  bool found = false;
  for (i64 f = 0; f < features; ++f) found |= row[f] != row[f];
  return found;
}

// A few rows, whose nodes stay near while a group is walked for all of them.
template <class Node, class V, class T>
RT_FN void rows_of_trees(V* y, const T* x, const Node* nodes, const i32* roots, const V* values, const i32* targets,
                         i64 rows, i64 features, i64 groups, i64 each, i64 width, i64 combine) {
  u64 nans = 0;
  for (i64 r = 0; r < rows; ++r) nans |= u64{has_nan(x + r * features, features)} << r;
  for (i64 i = 0; i < rows * width; ++i) y[i] = first_of_trees<V>(combine);
  for (i64 g = 0; g < groups; ++g, roots += kTreesAtOnce + 1)
    for (i64 r = 0; r < rows; ++r) {
      i64 leaves[kTreesAtOnce];
      if (nans >> r & 1) {
        walk_trees<true>(nodes, roots, x + r * features, leaves);
      } else {
        walk_trees<false>(nodes, roots, x + r * features, leaves);
      }
      add_leaves(y + r * width, leaves, values, targets, each, width, combine);
    }
  for (i64 i = 0; i < rows * width && combine != kTreesAdd; ++i)
    if (y[i] == first_of_trees<V>(combine)) y[i] = 0;  // no leaf says anything of it
}

template <class Node, class V, class T>
RT_FN void all_of_trees(const Call& call, V* y, const T* x, const Node* nodes, const i32* roots, const V* values,
                        const i32* targets, i64 rows, i64 features, i64 groups, i64 each, i64 width, i64 combine) {
#if defined(RT_KERNEL)
  for (i64 r = first_unit(call); r < rows; r += next_unit(call))
    rows_of_trees(y + r * width, x + r * features, nodes, roots, values, targets, 1, features, groups, each, width,
                  combine);
#else
  const i64 end = rows * (call.chunk + 1) / call.chunks;
  for (i64 r = rows * call.chunk / call.chunks, count; r < end; r += count) {
    count = end - r < kTreeRows ? end - r : kTreeRows;
    rows_of_trees(y + r * width, x + r * features, nodes, roots, values, targets, count, features, groups, each, width,
                  combine);
  }
#endif
}

}  // namespace detail

// x[rows, features] -> y[rows, width]. `nodes`: ShortNodes, or with `is_long`, as for x of f64, LongNodes;
// `roots`[groups, 9]; `values` and `targets`[leaves, each].
template <class V, class T>
RT_FN void trees(const Call& call, V* y, const T* x, const i64* nodes, const i32* roots, const V* values,
                 const i32* targets, i64 rows, i64 features, i64 groups, i64 each, i64 width, i64 combine,
                 i64 is_long) {
  const auto walk = [&](auto* typed) {
    detail::all_of_trees(call, y, x, typed, roots, values, targets, rows, features, groups, each, width, combine);
  };
  if constexpr (kSame<T, f32>) {
    if (!is_long) return walk(reinterpret_cast<const detail::ShortNode*>(nodes));
  }
  walk(reinterpret_cast<const detail::LongNode*>(nodes));
}

}  // namespace rt
