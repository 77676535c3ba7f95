// What the planner knows of the Depthwise family: how weights of 8 bits are packed, and which tile the rule of thumb
// takes.
// Panels [n / 16 rounded up][segments][shifts][quads][16][4] of i8: a quad is four neighbouring taps of a column. Shift
// s has s zeros before the first tap, so that rows which begin at an odd tap share the quads of those before them; what
// is left behind the last tap is zeros too. The row behind a panel's quads has the sum of each column as an i32.
#pragma once
#include "runtime/kernels/contract_shape.h"

namespace rt {

inline constexpr i64 kMostTaps = 16, kMostRowStep = 4;

// Of rows that begin so many taps one behind the other; 0: no whole number, or many.
constexpr i64 tap_shifts(i64 row_step) { return row_step % 2 ? 2 : 1; }
constexpr i64 tap_quads(i64 taps, i64 shifts) { return round_up_div(taps + shifts - 1, kQuad); }
constexpr i64 tap_panel_bytes(i64 segments, i64 taps, i64 shifts) {
  return (segments * shifts * tap_quads(taps, shifts) + 1) * kQuadRow;
}
/// Where a panel has tap t of lane l.
constexpr i64 tap_offset(i64 segment, i64 t, i64 l, i64 taps, i64 shifts, i64 shift) {
  const i64 quad = (segment * shifts + shift) * tap_quads(taps, shifts) + (t + shift) / kQuad;
  return quad * kQuadRow + l * kQuad + (t + shift) % kQuad;
}
/// Writes panels_of(n) * tap_panel_bytes(..) bytes, which are 0; at(segment, tap, column) are the weights.
template <class At>
constexpr void pack_taps(i8* to, i64 n, i64 segments, i64 taps, i64 shifts, At at) {
  const i64 panel = tap_panel_bytes(segments, taps, shifts), sums = panel - kQuadRow;
  for (i64 column = 0; column < n; ++column) {
    i8* const p = to + column / kPanel * panel;
    const i64 l = column % kPanel;
    u32 sum = 0;
    for (i64 s = 0; s < segments; ++s)
      for (i64 t = 0; t < taps; ++t) {
        const i8 w = at(s, t, column);
        sum += u32(i32(w));
        for (i64 shift = 0; shift < shifts; ++shift) p[tap_offset(s, t, l, taps, shifts, shift)] = w;
      }
    for (i64 i = 0; i < kQuad; ++i) p[sums + l * kQuad + i] = static_cast<i8>(sum >> 8 * i);
  }
}

// A row's sums of as many columns as a register has bytes are four registers; half of all may hold them. Rows that
// share nothing that they read are a tile each.
constexpr i64 most_depthwise_rows(int registers, i64 row_step) { return row_step == 0 ? 1 : registers / 8; }

}  // namespace rt
