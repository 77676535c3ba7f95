// What the planner knows of the Attention family: its sizes, how a unit of work walks them, and the scratch that takes.
// Numbers only, so the compiler includes it too.
#pragma once
#include "runtime/kernels/contract_shape.h"

namespace rt {

/// `heads` query heads share the keys and values of a group; their queries are the rows of one matrix, head by head.
struct AttentionShape {
  i64 batch, groups, heads, queries;
  i64 past, keys;  // of the cache, and new ones behind it
  i64 size, value_size = 0;
  constexpr i64 rows() const { return heads * queries; }
  constexpr i64 total() const { return past + keys; }
};

/// Keys of a block at most, and how far the scores of a tile's rows stand apart, in floats: the same for all blocks, so
/// that it is known when a kernel is compiled and addresses of rows take no registers from a tile's sums.
inline constexpr i64 kMostKeys = 512, kScoreStride = kMostKeys + kPanel;

/// A unit of work is `block` rows of one group with all of its keys, `keys` of them at a time; a tile of `rows` rows by
/// `vectors` panels of sums stays in registers.
struct AttentionTile {
  int rows, vectors;
  i64 block, keys;
};
constexpr i64 attention_units(const AttentionShape& s, const AttentionTile& t) {
  return s.batch * s.groups * round_up_div(s.rows(), t.block);
}

/// Floats of one thread's scratch, and where its parts begin.
struct AttentionScratch {
  i64 q, k, v, scores, sums, top, total, limit, rescale, largest, end;
};
constexpr AttentionScratch attention_scratch(const AttentionShape& s, const AttentionTile& t) {
  const i64 rows = round_up_div(t.block, t.rows) * t.rows, wide = panels_of(s.value_size) * kPanel;
  const i64 padded = round_up_div(rows, kPanel) * kPanel;  // every part begins at a multiple of 64 bytes
  AttentionScratch at{};
  at.k = at.q + round_up_div(rows * s.size, kPanel) * kPanel;
  at.v = at.k + t.keys * s.size;
  at.scores = at.v + t.keys * wide;
  at.sums = at.scores + t.rows * kScoreStride;
  at.top = at.sums + rows * wide;
  at.total = at.top + padded;
  at.limit = at.total + padded;
  at.rescale = at.limit + padded;
  at.largest = at.rescale + round_up_div(t.rows, kPanel) * kPanel;
  at.end = at.largest + t.rows * kPanel;
  return at;
}
constexpr i64 attention_scratch_bytes(const AttentionShape& s, const AttentionTile& t) {
  return attention_scratch(s, t).end * i64(sizeof(f32));
}

}  // namespace rt
