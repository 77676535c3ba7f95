// What the planner knows of the Winograd family: F(4, 3) of Lavin and Gray, "Fast Algorithms for Convolutional Neural
// Networks" (2016), over the points 0, +-a, +-b and infinity. Numbers only, so the compiler includes it too.
// With g the taps, d six neighbours of the input and . a product of elements, four neighbours of the output are
//   y = At ((G g) . (Bt d)), in two dimensions Y = At ((G g Gt) . (Bt d B)) A: 36 products in place of 144.
// Of the usual points (1 and 2) sums would err three times as much (Barabasz and others, "Error Analysis and Improving
// the Accuracy of Winograd Convolution for Deep Neural Networks", 2020).
// Weights: [36 points][n / 16 rounded up][k][16], each point packed as contract_shape.h says.
#pragma once
#include "runtime/kernels/contract_shape.h"

namespace rt {

inline constexpr i64 kWinogradTile = 4, kWinogradTaps = 3, kWinogradReach = kWinogradTile + kWinogradTaps - 1,
                     kWinogradPoints = kWinogradReach * kWinogradReach;

// The points, and the powers of them that the transforms have: all are exact in f32.
inline constexpr double kWinogradA = 0.625, kWinogradB = 1.5, kWinogradA2 = kWinogradA * kWinogradA,
                        kWinogradB2 = kWinogradB * kWinogradB;

// G: what makes a value at one of the six points of the three taps of a row.
struct WinogradWeights {
  double tap[kWinogradReach][kWinogradTaps];
};
constexpr WinogradWeights winograd_weights() {
  constexpr double a = kWinogradA, b = kWinogradB, a2 = kWinogradA2, b2 = kWinogradB2;
  constexpr double zero = 1 / (a2 * b2), at_a = 1 / (2 * a2 * (a2 - b2)), at_b = 1 / (2 * b2 * (b2 - a2));
  return {{{zero, 0, 0},
           {at_a, at_a * a, at_a * a2},
           {at_a, -at_a * a, at_a * a2},
           {at_b, at_b * b, at_b * b2},
           {at_b, -at_b * b, at_b * b2},
           {0, 0, 1}}};
}

// Bt: six neighbours at the six points. T: numbers, or vectors of them; add_times(f, x, y): f * x + y.
template <class T, class AddTimes>
constexpr void winograd_source_points(const T* d, T* point, AddTimes add_times) {
  constexpr f32 a = kWinogradA, b = kWinogradB, a2 = kWinogradA2, b2 = kWinogradB2;
  const T even_a = add_times(-b2, d[2], d[4]), odd_a = add_times(-b2, d[1], d[3]);
  const T even_b = add_times(-a2, d[2], d[4]), odd_b = add_times(-a2, d[1], d[3]);
  point[0] = add_times(a2 * b2, d[0], add_times(-(a2 + b2), d[2], d[4]));
  point[1] = add_times(a, odd_a, even_a);
  point[2] = add_times(-a, odd_a, even_a);
  point[3] = add_times(b, odd_b, even_b);
  point[4] = add_times(-b, odd_b, even_b);
  point[5] = add_times(a2 * b2, d[1], add_times(-(a2 + b2), d[3], d[5]));
}
// At: four neighbours of the output from the six points.
template <class T, class AddTimes>
constexpr void winograd_outputs(const T* point, T* y, AddTimes add_times) {
  constexpr f32 a = kWinogradA, b = kWinogradB, a2 = kWinogradA2, b2 = kWinogradB2;
  const T even_a = point[1] + point[2], odd_a = point[1] - point[2];
  const T even_b = point[3] + point[4], odd_b = point[3] - point[4];
  y[0] = point[0] + even_a + even_b;
  y[1] = add_times(b, odd_b, add_times(a, odd_a, T{}));
  y[2] = add_times(b2, even_b, add_times(a2, even_a, T{}));
  y[3] = add_times(b * b2, odd_b, add_times(a * a2, odd_a, point[5]));
}

// A tap is what the weights have at one point, or the difference of two neighbours, times a number.
struct WinogradTap {
  int point;
  bool is_difference;  // less what stands at the next point
  double scale;
};
inline constexpr WinogradTap kWinogradTapOf[kWinogradTaps] = {
    {0, false, kWinogradA2* kWinogradB2}, {1, true, kWinogradA*(kWinogradA2 - kWinogradB2)}, {5, false, 1}};

constexpr i64 winograd_weight_elements(i64 n, i64 k) { return kWinogradPoints * packed_b_elements(n, k); }
/// Where the weights have a channel of a column at a point.
constexpr i64 winograd_weight_offset(i64 point, i64 channel, i64 column, i64 n, i64 k) {
  return ((point * panels_of(n) + column / kPanel) * k + channel) * kPanel + column % kPanel;
}
/// Writes winograd_weight_elements(n, k) elements; at(y, x, channel, column) are the taps.
template <class At>
constexpr void pack_winograd(f32* to, i64 n, i64 k, At at) {
  constexpr WinogradWeights g = winograd_weights();
  for (i64 point = 0; point < kWinogradPoints; ++point, to += packed_b_elements(n, k))
    pack_b(to, n, k, [&](i64 channel, i64 column) {
      double sum = 0;
      for (i64 y = 0; y < kWinogradTaps; ++y)
        for (i64 x = 0; x < kWinogradTaps; ++x)
          sum += g.tap[point / kWinogradReach][y] * g.tap[point % kWinogradReach][x] *
                 static_cast<double>(at(y, x, channel, column));
      return static_cast<f32>(sum);
    });
}

// Elements from one point to the next of a block's transformed tiles, and of its products with `vectors` panels: never
// a multiple of 4096 bytes, which would be one set of the first cache.
constexpr i64 winograd_source_pitch(i64 tiles, i64 k) { return tiles * k + kPanel; }
constexpr i64 winograd_product_pitch(i64 tiles, i64 vectors) { return (tiles * vectors + 1) * kPanel; }
/// Bytes of Call::scratch for blocks of so many tiles.
constexpr i64 winograd_scratch_bytes(i64 tiles, i64 vectors, i64 k) {
  const i64 sources = round_up_div(winograd_source_pitch(tiles, k), kPanel) * kPanel;
  return kWinogradPoints * (sources + winograd_product_pitch(tiles, vectors)) * i64(sizeof(f32));
}

}  // namespace rt
