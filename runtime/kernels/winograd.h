// winograd: out(i.., y, x, col) = epilogue(sum over 3 x 3 taps and k channels of A * B) by the transforms that
// winograd_shape.h says, for stride 1. A block of tiles, 4 x 4 outputs each, is brought to the 36 points, multiplied at
// each point with all weights, a few panels of columns at a time, and brought back: what is between stays in the second
// cache. FMAs bound it, a quarter of those of the plain sum and some 10 to 20% for the transforms; where the weights
// are larger than the second cache, reading them once a block does.
// Each output is a sum over the channels at each point, then over points, whatever block it is in. A NaN or an infinity
// of A reaches all of its tile, which can be 4 rows and columns farther than in the plain sum.
#pragma once
#include "runtime/kernels/contract_operands.h"
#include "runtime/kernels/contract_tile.h"
#include "runtime/kernels/winograd_shape.h"

namespace rt {

template <class T, int R>
struct Image {  // (i.., y, x, c) at base + i * outer + y * row_stride + x * pixel_stride + c; f32, or 16 bits of it
  const T* base;
  Strides<R> outer;
  i64 row_stride, pixel_stride;
};
template <class T, int R>
RT_FN Image<T, R> image(const T* base, Strides<R> outer, i64 row_stride, i64 pixel_stride) {
  return {base, outer, row_stride, pixel_stride};
}

// ---- specification: the plain sum, of taps taken from the weights
// ----------------------------------------------------
template <class T, int R, class Epilogue>
RT_FN void winograd_naive(const Call& call, Extents<R> outer, i64 height, i64 width, i64 n, i64 k, Image<T, R> a,
                          const f32* weights, Epilogue epilogue) {
  const auto tap = [&](i64 y, i64 x, i64 channel, i64 col) {
    const WinogradTap v = kWinogradTapOf[y], h = kWinogradTapOf[x];
    const auto at = [&](int i, int j) {
      return double(weights[winograd_weight_offset((v.point + i) * kWinogradReach + h.point + j, channel, col, n, k)]);
    };
    const auto row = [&](int i) { return h.is_difference ? at(i, 0) - at(i, 1) : at(i, 0); };
    return (v.is_difference ? row(0) - row(1) : row(0)) * v.scale * h.scale;
  };
  const i64 points = outer.points() * height * width * n;
  for (i64 u = points * call.chunk / call.chunks; u < points * (call.chunk + 1) / call.chunks; ++u) {
    i64 index[R + 1];
    detail::split_index<R>(u / (height * width * n), outer, index);
    index[R] = u / (width * n) % height;
    const i64 x = u / n % width, col = u % n;
    double sum = 0;
    for (i64 i = 0; i < kWinogradTaps; ++i)
      for (i64 j = 0; j < kWinogradTaps; ++j)
        for (i64 c = 0; c < k; ++c)
          sum += tap(i, j, c, col) *
                 double(load(a.base, a.outer.at(index) + (index[R] + i) * a.row_stride + (x + j) * a.pixel_stride + c));
    detail::store_element<R + 1>(epilogue, index, f32(sum), x, col);
  }
}

#if !defined(RT_KERNEL)
namespace detail {

template <class V>
struct AddTimes {
  RT_FN V operator()(f32 factor, V x, V y) const { return fma<V>(splat<V>(factor), x, y); }
};

// The transforms of one vector are functions that kernels share, those of all files of an instruction set.
// Of a tile's input, rows `row_stride` and neighbours `pixel_stride` apart: at all points, `pitch` apart.
template <class V, class T, int = kInstructionSet>
__attribute__((noinline)) void transform_source(const T* from, i64 row_stride, i64 pixel_stride, f32* to, i64 pitch) {
  constexpr i64 kReach = kWinogradReach;
  V rows[kReach][kReach];  // by column, then row of points
  for (i64 x = 0; x < kReach; ++x) {
    V d[kReach];
    for (i64 y = 0; y < kReach; ++y) d[y] = load_next<T, kLanes<V>>(from + y * row_stride + x * pixel_stride);
    winograd_source_points(d, rows[x], AddTimes<V>{});
  }
  for (i64 y = 0; y < kReach; ++y) {
    V d[kReach], point[kReach];
    for (i64 x = 0; x < kReach; ++x) d[x] = rows[x][y];
    winograd_source_points(d, point, AddTimes<V>{});
    for (i64 x = 0; x < kReach; ++x) store(to + (y * kReach + x) * pitch, Lanes<kLanes<V>>{0}, point[x]);
  }
}
// Of a tile's products at all points: its outputs, row by row.
template <class V, int = kInstructionSet>
__attribute__((noinline)) void transform_product(const f32* from, i64 pitch, V* to) {
  constexpr i64 kReach = kWinogradReach, kTile = kWinogradTile;
  V rows[kReach][kTile];  // by column of points, then row
  for (i64 x = 0; x < kReach; ++x) {
    V point[kReach];
    for (i64 y = 0; y < kReach; ++y) point[y] = load_next<f32, kLanes<V>>(from + (y * kReach + x) * pitch);
    winograd_outputs(point, rows[x], AddTimes<V>{});
  }
  for (i64 y = 0; y < kTile; ++y) {
    V point[kReach];
    for (i64 x = 0; x < kReach; ++x) point[x] = rows[x][y];
    winograd_outputs(point, to + y * kTile, AddTimes<V>{});
  }
}

// Of the rows behind the last tile, at each point: nothing of them is stored, but products of what another kernel left
// there may be denormal, each of which takes a hundred times as long.
__attribute__((noinline)) inline void clear_rest(f32* sources, i64 first, i64 behind, i64 pitch) {
  RT_ROLLED
  for (i64 point = 0; point < kWinogradPoints; ++point, sources += pitch)
    for (i64 i = first; i < behind; ++i) sources[i] = 0;
}

template <int MR, int NV, int Tiles, class T, int R, class H, class W, class N, class K, class Epilogue>
struct Winograd {
  using V = vec<f32, kPart>;
  static constexpr i64 kReach = kWinogradReach, kTile = kWinogradTile;
  static_assert(Tiles % MR == 0);

  const Call& call;
  Extents<R> outer;
  H height;
  W width;
  N n;
  K k;
  Image<T, R> a;
  const f32* weights;
  Epilogue& epilogue;

  RT_FN i64 across() const { return round_up_div(width, kTile); }
  RT_FN i64 down() const { return round_up_div(height, kTile); }
  RT_FN i64 source_pitch() const { return winograd_source_pitch(Tiles, k); }
  // Of a tile: the index of its image, and its first row; gives its first column.
  RT_FN i64 place(i64 tile, i64* index) const {
    index_of<R>(tile / across() / down(), outer, index);
    index[R] = tile / across() % down() * kTile;
    return tile % across() * kTile;
  }

  // The last vector of channels reaches back into the one before.
  RT_FN void transform_sources(i64 first, i64 count, f32* sources) const {
    RT_ROLLED
    for (i64 t = 0; t < count; ++t) {
      i64 index[R + 1];
      const i64 x = place(first + t, index);
      const T* from = a.base + a.outer.at(index) + index[R] * a.row_stride + x * a.pixel_stride;
      RT_ROLLED
      for (i64 c = 0; c < k; c += kPart) {
        const i64 at = c + kPart <= k ? c : k - kPart;
        transform_source<V>(from + at, a.row_stride, a.pixel_stride, sources + t * k + at, source_pitch());
      }
    }
  }

  // The tiles of a block, in whole groups of rows, times `Width` panels at each point.
  template <int Width>
  RT_FN void multiply(const f32* sources, f32* products, i64 count, i64 panel) const {
    const i64 step = k * kPanel;
    RT_ROLLED
    for (i64 point = 0; point < kWinogradPoints; ++point) {
      const Panels<f32> b{weights + (point * panels_of(n) + panel) * step, step, kPanel};
      RT_ROLLED
      for (i64 row = 0; row < count; row += MR) {
        Accumulators<MR, Width, 1> acc;
        acc.clear();
        acc.add_products(sources + point * source_pitch() + row * k, k, b, k);
        acc.put(reinterpret_cast<V*>(products + point * winograd_product_pitch(Tiles, NV) + row * Width * kPanel));
      }
    }
  }

  // `width` panels of products.
  RT_FN void transform_products(i64 first, i64 count, const f32* products, i64 panel, i64 width) const {
    RT_ROLLED
    for (i64 t = 0; t < count; ++t) {
      i64 index[R + 1];
      const i64 column = place(first + t, index), row = index[R];
      const i64 rows = row + kTile <= height ? kTile : height - row,
                columns = column + kTile <= this->width ? kTile : this->width - column;
      RT_ROLLED
      for (i64 j = 0; j < width * kParts; ++j) {
        V values[kTile * kTile];
        transform_product(products + (t * width * kParts + j) * kPart, winograd_product_pitch(Tiles, NV), values);
        RT_ROLLED
        for (i64 y = 0; y < rows; ++y) {
          index[R] = row + y;
          RT_ROLLED
          for (i64 x = 0; x < columns; ++x)
            emit(values[y * kTile + x], panel * kPanel + j * kPart, n,
                 [&](auto sum, auto col)
                     __attribute__((always_inline)) { store_element<R + 1>(epilogue, index, sum, column + x, col); });
        }
      }
    }
  }

  RT_FN void run() const {
    const i64 tiles = points_of<R>(outer) * down() * across(), blocks = round_up_div(tiles, Tiles);
    f32* const sources = static_cast<f32*>(call.scratch);
    f32* const products = sources + round_up_div(source_pitch(), kPanel) * kPanel * kWinogradPoints;
    const TileSplit columns = split_columns<NV>(n);
    RT_ROLLED
    for (i64 block = blocks * call.chunk / call.chunks; block < blocks * (call.chunk + 1) / call.chunks; ++block) {
      const i64 first = block * Tiles, count = first + Tiles <= tiles ? Tiles : tiles - first;
      transform_sources(first, count, sources);
      if (tiles % MR && count < Tiles) clear_rest(sources, count * k, Tiles * k, source_pitch());
      RT_ROLLED
      for (i64 part = 0; part < columns.parts; ++part) {
        each_size<NV, typename PanelCount<N>::Type>(columns, part, [&](auto panels) __attribute__((always_inline)) {
          multiply<panels.value>(sources, products, count, columns.begin(part));
        });
        transform_products(first, count, products, columns.begin(part), columns.begin(part + 1) - columns.begin(part));
      }
    }
  }
};

}  // namespace detail

// MR rows, which are tiles, by NV vectors of columns are summed in registers; a block has `Tiles` tiles. A stands with
// zeros, or any finite numbers, where a tile reaches beyond the outputs. n, k (a vector at least) and the image's
// extents are numbers or constants. Chunks share the blocks.
template <int MR, int NV, int Tiles, class T, int R, class H, class W, class N, class K, class Epilogue>
RT_FN void winograd(const Call& call, Extents<R> outer, H height, W width, N n, K k, Image<T, R> a, const f32* weights,
                    Epilogue epilogue) {
  detail::Winograd<MR, NV, Tiles, T, R, H, W, N, K, Epilogue>{call, outer, height, width, n, k, a, weights, epilogue}
      .run();
}
#endif

}  // namespace rt
