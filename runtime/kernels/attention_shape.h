// What the planner knows of the Attention family: its sizes, how a unit of work walks them, and the scratch that takes.
// Numbers only, so the compiler includes it too.
#pragma once
#include "runtime/kernels/bf16x3_shape.h"

namespace rt {

/// `heads` query heads share the keys and values of a group; their queries are the rows of one matrix, head by head.
struct AttentionShape {
  i64 batch, groups, heads, queries;
  i64 past, keys;  // of the cache, and new ones behind it
  i64 size, value_size = 0;
  constexpr i64 rows() const { return heads * queries; }
  constexpr i64 total() const { return past + keys; }
};

/// How a block of keys stands for a tile's products: as it was made, in panels, or, as queries, values and weights then
/// too, in parts of bf16 (bf16x3_shape.h), which tile registers multiply.
enum class KeyForm : i64 { AsMade, Panels, Parts };

/// A unit of work is `block` rows of one group with all of its keys, `keys` of them at a time; a tile of `rows` rows by
/// `vectors` panels of sums stays in registers.
struct AttentionTile {
  int rows, vectors;
  i64 block, keys;
  KeyForm form = KeyForm::Panels;
};
constexpr i64 attention_units(const AttentionShape& s, const AttentionTile& t) {
  return s.batch * s.groups * round_up_div(s.rows(), t.block);
}

/// Floats of one thread's scratch, and where its parts begin.
struct AttentionScratch {
  i64 q, k, v, weights, scores, sums, top, total, limit, rescale, end;
};
/// Floats that so many rows, or columns of panels, of `terms` numbers take in parts.
constexpr i64 floats_in_parts(i64 rows, i64 terms) {
  return rows * bf16x3_steps(terms) * kParts16 * kStepTerms / i64(sizeof(f32) / sizeof(bfloat));
}
constexpr AttentionScratch attention_scratch(const AttentionShape& s, const AttentionTile& t) {
  const i64 rows = round_up_div(t.block, t.rows) * t.rows, wide = panels_of(s.value_size) * kPanel;
  const i64 padded = round_up_div(rows, kPanel) * kPanel;  // every part begins at a multiple of 64 bytes
  AttentionScratch at{};
  if (t.form == KeyForm::Parts) {
    at.k = at.q + floats_in_parts(rows, s.size);
    at.v = at.k + floats_in_parts(t.keys, s.size);
    at.weights = at.v + floats_in_parts(wide, t.keys);
    at.scores = at.weights + floats_in_parts(t.rows, t.keys);
  } else {
    at.k = at.q + round_up_div(rows * s.size, kPanel) * kPanel;
    at.v = at.weights = at.k + t.keys * s.size;
    at.scores = at.v + t.keys * wide;
  }
  at.sums = at.scores + t.rows * (t.keys + kPanel);
  at.top = at.sums + rows * wide;
  at.total = at.top + padded;
  at.limit = at.total + padded;
  at.rescale = at.limit + padded;
  at.end = at.rescale + round_up_div(t.rows, kPanel) * kPanel;
  return at;
}
constexpr i64 attention_scratch_bytes(const AttentionShape& s, const AttentionTile& t) {
  return attention_scratch(s, t).end * i64(sizeof(f32));
}

}  // namespace rt
