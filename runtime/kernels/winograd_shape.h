// What the planner knows of the Winograd family, after Lavin and Gray, "Fast Algorithms for Convolutional Neural
// Networks" (2016). Numbers only, so the compiler includes it too. With g the three taps along an axis, d neighbours of
// the input and . a product of elements, four neighbours of the output are
//   y = At ((G g) . (Bt d)), in two dimensions Y = At ((G g Gt) . (Bt d B)) A.
// Stride 1: F(4, 3) over the points 0, +-a, +-b and infinity, 6 products in place of 12. Stride 2: the taps before and
// behind meet neighbours of even places, F(4, 2) over +-a, +-b and infinity; the one between meets those of odd places
// and is multiplied as it is: 9 products in place of 12. In two dimensions 36 or 81 in place of 144.
// Of the usual points (1 and 2) sums would err three times as much (Barabasz and others, "Error Analysis and Improving
// the Accuracy of Winograd Convolution for Deep Neural Networks", 2020).
// Weights are panels of taps, [n / 16 rounded up][k][down][across][16], and brought to the points by each run: there
// they would take two to nine times the memory, and reading them the time that this takes.
#pragma once
#include "runtime/kernels/contract_shape.h"

namespace rt {

/// Along an axis, by the stride of the convolution; stride 0: an axis without taps.
struct WinogradAxis {
  i64 stride, tile, taps, reach, points;  // a tile's outputs, and the neighbours of the input that they read
  i64 weight_operations = 0, source_operations = 0, output_operations = 0;  // of a transform along it
  double weight[9][3];                                                      // G: by point and tap
};
template <i64 Stride>
struct WinogradAlong;

template <>
struct WinogradAlong<0> {
  static constexpr WinogradAxis kAxis = {.stride = 0, .tile = 1, .taps = 1, .reach = 1, .points = 1, .weight = {{1}}};
  template <class T, class AddTimes>
  static constexpr void weight_points(const T* tap, T* point, AddTimes) {
    point[0] = tap[0];
  }
  template <class T, class AddTimes>
  static constexpr void source_points(const T* d, T* point, AddTimes) {
    point[0] = d[0];
  }
  template <class T, class AddTimes>
  static constexpr void outputs(const T* point, T* y, AddTimes) {
    y[0] = point[0];
  }
};

// All powers of the points are exact in f32.
template <>
struct WinogradAlong<1> {
  static constexpr double kA = 0.625, kB = 1.5, kA2 = kA * kA, kB2 = kB * kB;
  static constexpr double kAtZero = 1 / (kA2 * kB2), kAtA = 1 / (2 * kA2 * (kA2 - kB2)),
                          kAtB = 1 / (2 * kB2 * (kB2 - kA2));
  static constexpr WinogradAxis kAxis = {.stride = 1,
                                         .tile = 4,
                                         .taps = 3,
                                         .reach = 6,
                                         .points = 6,
                                         .weight_operations = 11,
                                         .source_operations = 12,
                                         .output_operations = 12,
                                         .weight = {{kAtZero, 0, 0},
                                                    {kAtA, kAtA* kA, kAtA* kA2},
                                                    {kAtA, -kAtA* kA, kAtA* kA2},
                                                    {kAtB, kAtB* kB, kAtB* kB2},
                                                    {kAtB, -kAtB* kB, kAtB* kB2},
                                                    {0, 0, 1}}};

  // G: taps at the points. T: numbers, or vectors of them; add_times(f, x, y): f * x + y.
  template <class T, class AddTimes>
  static constexpr void weight_points(const T* tap, T* point, AddTimes add_times) {
    constexpr f32 zero = kAtZero, at_a = kAtA, at_b = kAtB, a = kAtA * kA, b = kAtB * kB, a2 = kAtA * kA2,
                  b2 = kAtB * kB2;
    const T even_a = add_times(a2, tap[2], add_times(at_a, tap[0], T{})), odd_a = add_times(a, tap[1], T{});
    const T even_b = add_times(b2, tap[2], add_times(at_b, tap[0], T{})), odd_b = add_times(b, tap[1], T{});
    point[0] = add_times(zero, tap[0], T{});
    point[1] = even_a + odd_a;
    point[2] = even_a - odd_a;
    point[3] = even_b + odd_b;
    point[4] = even_b - odd_b;
    point[5] = tap[2];
  }
  // Bt: neighbours at the points.
  template <class T, class AddTimes>
  static constexpr void source_points(const T* d, T* point, AddTimes add_times) {
    constexpr f32 a = kA, b = kB, a2 = kA2, b2 = kB2;
    const T even_a = add_times(-b2, d[2], d[4]), odd_a = add_times(-b2, d[1], d[3]);
    const T even_b = add_times(-a2, d[2], d[4]), odd_b = add_times(-a2, d[1], d[3]);
    point[0] = add_times(a2 * b2, d[0], add_times(-(a2 + b2), d[2], d[4]));
    point[1] = add_times(a, odd_a, even_a);
    point[2] = add_times(-a, odd_a, even_a);
    point[3] = add_times(b, odd_b, even_b);
    point[4] = add_times(-b, odd_b, even_b);
    point[5] = add_times(a2 * b2, d[1], add_times(-(a2 + b2), d[3], d[5]));
  }
  // At: neighbours of the output from the points.
  template <class T, class AddTimes>
  static constexpr void outputs(const T* point, T* y, AddTimes add_times) {
    constexpr f32 a = kA, b = kB, a2 = kA2, b2 = kB2;
    const T even_a = point[1] + point[2], odd_a = point[1] - point[2];
    const T even_b = point[3] + point[4], odd_b = point[3] - point[4];
    y[0] = point[0] + even_a + even_b;
    y[1] = add_times(b, odd_b, add_times(a, odd_a, T{}));
    y[2] = add_times(b2, even_b, add_times(a2, even_a, T{}));
    y[3] = add_times(b * b2, odd_b, add_times(a * a2, odd_a, point[5]));
  }
};

template <>
struct WinogradAlong<2> {
  static constexpr double kA = 0.5, kB = 1, kA2 = kA * kA, kB2 = kB * kB;
  static constexpr double kAtA = 1 / (2 * kA * (kA2 - kB2)), kAtB = 1 / (2 * kB * (kB2 - kA2));
  static constexpr WinogradAxis kAxis = {.stride = 2,
                                         .tile = 4,
                                         .taps = 3,
                                         .reach = 9,
                                         .points = 9,
                                         .weight_operations = 8,
                                         .source_operations = 10,
                                         .output_operations = 16,
                                         .weight = {{kAtA, 0, kAtA* kA},
                                                    {-kAtA, 0, kAtA* kA},
                                                    {kAtB, 0, kAtB* kB},
                                                    {-kAtB, 0, kAtB* kB},
                                                    {0, 0, 1},
                                                    {0, 1, 0},
                                                    {0, 1, 0},
                                                    {0, 1, 0},
                                                    {0, 1, 0}}};

  template <class T, class AddTimes>
  static constexpr void weight_points(const T* tap, T* point, AddTimes add_times) {
    constexpr f32 at_a = kAtA, at_b = kAtB, a = kAtA * kA, b = kAtB * kB;
    const T even_a = add_times(at_a, tap[0], T{}), odd_a = add_times(a, tap[2], T{});
    const T even_b = add_times(at_b, tap[0], T{}), odd_b = add_times(b, tap[2], T{});
    point[0] = odd_a + even_a;
    point[1] = odd_a - even_a;
    point[2] = odd_b + even_b;
    point[3] = odd_b - even_b;
    point[4] = tap[2];
    for (int i = 5; i < 9; ++i) point[i] = tap[1];
  }
  template <class T, class AddTimes>
  static constexpr void source_points(const T* d, T* point, AddTimes add_times) {
    constexpr f32 a = kA, b = kB, a2 = kA2, b2 = kB2;
    const T even_a = add_times(-b2, d[0], d[4]), odd_a = add_times(-b2, d[2], d[6]);
    const T even_b = add_times(-a2, d[0], d[4]), odd_b = add_times(-a2, d[2], d[6]);
    point[0] = add_times(a, even_a, odd_a);
    point[1] = add_times(-a, even_a, odd_a);
    point[2] = add_times(b, even_b, odd_b);
    point[3] = add_times(-b, even_b, odd_b);
    point[4] = add_times(a2 * b2, d[0], add_times(-(a2 + b2), d[4], d[8]));
    for (int i = 0; i < 4; ++i) point[5 + i] = d[2 * i + 1];
  }
  template <class T, class AddTimes>
  static constexpr void outputs(const T* point, T* y, AddTimes add_times) {
    constexpr f32 a = kA, b = kB, a2 = kA2, b2 = kB2;
    const T even_a = point[0] + point[1], odd_a = point[0] - point[1];
    const T even_b = point[2] + point[3], odd_b = point[2] - point[3];
    y[0] = even_a + even_b + point[5];
    y[1] = add_times(b, odd_b, add_times(a, odd_a, point[6]));
    y[2] = add_times(b2, even_b, add_times(a2, even_a, point[7]));
    y[3] = add_times(b * b2, odd_b, add_times(a * a2, odd_a, point[4] + point[8]));
  }
};

constexpr WinogradAxis winograd_axis(i64 stride) {
  return stride == 0 ? WinogradAlong<0>::kAxis : stride == 1 ? WinogradAlong<1>::kAxis : WinogradAlong<2>::kAxis;
}

/// How rows of points come of rows of taps. One that has the weights of the row before it repeats that; where the sign
/// of one tap differs it mirrors that, and both are made together.
struct WinogradRows {
  struct Row {
    bool repeats = false, mirrors = false;
    signed char count = 0, tap[3] = {};  // the taps that it has: last the one whose sign differs in the row behind it
    f32 factor[3] = {};
  };
  Row row[9];
};
constexpr WinogradRows winograd_rows(const WinogradAxis& axis) {
  WinogradRows rows{};
  const auto changes_sign = [&](i64 y, i64 t) {
    return y > 0 && y < axis.points && axis.weight[y][t] != 0 && axis.weight[y][t] == -axis.weight[y - 1][t];
  };
  for (i64 y = 0; y < axis.points; ++y) {
    auto& row = rows.row[y];
    bool alike = y > 0, mirrored = false;
    for (i64 t = 0; t < axis.taps; ++t) {
      alike = alike && (changes_sign(y, t) || axis.weight[y][t] == axis.weight[y - 1][t]);
      mirrored = mirrored || changes_sign(y, t);
    }
    row.repeats = alike && !mirrored;
    row.mirrors = alike && mirrored;
    for (int last = 0; last < 2; ++last)
      for (i64 t = 0; t < axis.taps; ++t)
        if (axis.weight[y][t] != 0 && changes_sign(y + 1, t) == (last == 1)) {
          row.tap[row.count] = static_cast<signed char>(t);
          row.factor[row.count++] = static_cast<f32>(axis.weight[y][t]);
        }
  }
  return rows;
}

/// Tiles of so many outputs, and where a tile begins: the outputs of a tile are `dilation` apart, as the taps are.
constexpr i64 winograd_tiles(const WinogradAxis& axis, i64 outputs, i64 dilation) {
  return round_up_div(round_up_div(outputs, dilation), axis.tile) * dilation;
}
// Not of i64, whose division takes more code.
constexpr unsigned long winograd_first(const WinogradAxis& axis, unsigned long tile, unsigned long dilation) {
  return tile % dilation + tile / dilation * static_cast<unsigned long>(axis.tile) * dilation;
}

// Elements from one point to the next of a block's transformed tiles, and of its products with `vectors` panels: never
// a multiple of 4096 bytes, which would be one set of the first cache.
constexpr i64 winograd_source_pitch(i64 tiles, i64 k) { return tiles * k + kPanel; }
constexpr i64 winograd_product_pitch(i64 tiles, i64 vectors) { return (tiles * vectors + 1) * kPanel; }
/// Channels that are summed at a time. For few tiles it is bringing weights to the points that takes time: so few that
/// their taps, and two rows of points, are largely in the first cache. Else as many as the products' panels leave room
/// for there.
constexpr i64 winograd_block(bool kept, i64 tiles) { return kept || tiles > 24 ? 256 : 64; }
// Of weights that are not kept, for blocks of so many tiles: elements from one point to the next, of `vectors` panels;
// and those of a row of points and the one that mirrors it. Then from one point to the next of all that are kept.
constexpr i64 winograd_weight_pitch(i64 tiles, i64 vectors, i64 k) {
  const i64 block = winograd_block(false, tiles);
  return ((k < block ? k : block) * vectors + 1) * kPanel;
}
constexpr i64 winograd_row_elements(const WinogradAxis& down, const WinogradAxis& across, i64 tiles, i64 vectors,
                                    i64 k) {
  return (down.taps > 1 ? 2 : 1) * across.points * winograd_weight_pitch(tiles, vectors, k);
}
constexpr i64 winograd_kept_pitch(i64 n, i64 k) { return packed_b_elements(n, k) + kPanel; }
/// Elements of Call::scratch, for blocks of so many tiles, behind which the weights stand.
constexpr i64 winograd_block_elements(i64 points, i64 tiles, i64 vectors, i64 k) {
  return kPanel + points * (round_up_div(winograd_source_pitch(tiles, k), kPanel) * kPanel +
                            winograd_product_pitch(tiles, vectors));
}

}  // namespace rt
