// winograd: out(i.., y, x, col) = epilogue(sum over 3 x 3 taps and k channels of A * B) by the transforms that
// winograd_shape.h says, for strides 1 and 2; or over 3 taps along x alone. A block of tiles, 4 x 4 outputs each (or
// 4), is brought to the points, multiplied at each point with the weights of a few panels of columns, which are brought
// there a row of points at a time, and brought back; few tiles are one block, larger than the second cache. FMAs bound
// it, a quarter to three quarters of those of the plain sum, and some 10 to 20% for the transforms. Each output is a
// sum over blocks of channels at each point, then over points, whatever block it is in. A NaN or an infinity of A
// reaches all of its tile, which can be 4 rows and columns farther than in the plain sum (times the dilation).
#pragma once
#include "runtime/kernels/contract_operands.h"
#include "runtime/kernels/contract_tile.h"
#include "runtime/kernels/winograd_shape.h"

namespace rt {

template <class T, int R>
struct Image {  // (i.., y, x, c) at base + i * outer + y * row_stride + x * pixel_stride + c; f32, or 16 bits of it
  const T* base;
  Strides<R> outer;
  i64 row_stride, pixel_stride, row_dilation, pixel_dilation;  // the taps' distances, in rows and pixels
};
template <class T, int R>
RT_FN Image<T, R> image(const T* base, Strides<R> outer, i64 row_stride, i64 pixel_stride, i64 row_dilation = 1,
                        i64 pixel_dilation = 1) {
  return {base, outer, row_stride, pixel_stride, row_dilation, pixel_dilation};
}

template <bool Kept, class T>
struct Taps {  // weights, [n / 16 rounded up][k][down][across][16]
  const T* at;
};
template <bool Kept, class T>
RT_FN Taps<Kept, T> taps(const T* at) {
  return {at};
}

// ---- specification: the plain sum -----------------------------------------------------------------------------------
template <int Down, int Across, bool Kept, class W, class T, int R, class Epilogue>
RT_FN void winograd_naive(const Call& call, Extents<R> outer, i64 height, i64 width, i64 n, i64 k, Image<T, R> a,
                          Taps<Kept, W> weights, Epilogue epilogue) {
  constexpr WinogradAxis kDown = winograd_axis(Down), kAcross = winograd_axis(Across);
  constexpr int kIndices = R + (Down > 0);
  const i64 points = outer.points() * height * width * n;
  for (i64 u = points * call.chunk / call.chunks; u < points * (call.chunk + 1) / call.chunks; ++u) {
    i64 index[R + 1];
    detail::split_index<R>(u / (height * width * n), outer, index);
    index[R] = u / (width * n) % height;
    const i64 x = u / n % width, col = u % n;
    double sum = 0;
    for (i64 c = 0; c < k; ++c)
      for (i64 i = 0; i < kDown.taps; ++i)
        for (i64 j = 0; j < kAcross.taps; ++j) {
          const i64 term = (c * kDown.taps + i) * kAcross.taps + j, terms = k * kDown.taps * kAcross.taps;
          sum += double(load(weights.at, (col / kPanel * terms + term) * kPanel + col % kPanel)) *
                 double(load(a.base, a.outer.at(index) + (index[R] * Down + i * a.row_dilation) * a.row_stride +
                                         (x * Across + j * a.pixel_dilation) * a.pixel_stride + c));
        }
    detail::store_element<kIndices>(epilogue, index, f32(sum), x, col);
  }
}

#if !defined(RT_KERNEL)
namespace detail {

template <class V>
struct AddTimes {
  RT_FN V operator()(f32 factor, V x, V y) const { return fma<V>(splat<V>(factor), x, y); }
};

// What stands between a kernel's source and its epilogue are functions that kernels share, those of all files of an
// instruction set: the numbers of a call come in memory.
struct WinogradCall {
  i64 n, k, block, tiles_across;                     // columns, channels, those summed at a time, a row's tiles
  i64 row_step, pixel_step, row_apart, pixel_apart;  // elements from one output's source to the next, and between taps
  i64 row_dilation, pixel_dilation;
  i64 source_pitch, product_pitch, weight_pitch;  // elements from one point to the next
  f32 *sources, *products = nullptr, *at_points = nullptr;
};

// Of a tile's input, neighbours `down` and `across` apart, k channels: at all points, `pitch` apart. The last vector of
// channels reaches back into the one before.
template <class V, int Down, int Across, class T>
RT_FN void transform_source(const T* from, i64 down, i64 across, f32* to, i64 pitch, i64 k) {
  constexpr i64 kRows = winograd_axis(Down).reach, kColumns = winograd_axis(Across).reach,
                kRowPoints = winograd_axis(Down).points, kColumnPoints = winograd_axis(Across).points;
  RT_ROLLED
  for (i64 c = 0; c < k; c += kLanes<V>) {
    const i64 at = c + kLanes<V> <= k ? c : k - kLanes<V>;
    V rows[kColumns][kRowPoints];
    for (i64 x = 0; x < kColumns; ++x) {
      V d[kRows];
      for (i64 y = 0; y < kRows; ++y) d[y] = load_next<T, kLanes<V>>(from + at + y * down + x * across);
      WinogradAlong<Down>::source_points(d, rows[x], AddTimes<V>{});
    }
    for (i64 y = 0; y < kRowPoints; ++y) {
      V d[kColumns], point[kColumnPoints];
      for (i64 x = 0; x < kColumns; ++x) d[x] = rows[x][y];
      WinogradAlong<Across>::source_points(d, point, AddTimes<V>{});
      for (i64 x = 0; x < kColumnPoints; ++x)
        store(to + at + (y * kColumnPoints + x) * pitch, Lanes<kLanes<V>>{0}, point[x]);
    }
  }
}
// Of tiles of an image, from number `first` on, the sources of a block from number `at` on.
template <class V, int Down, int Across, class T, int = kInstructionSet>
__attribute__((noinline)) void transform_sources(const WinogradCall& c, const T* image, u64 first, i64 at, i64 end) {
  RT_ROLLED
  for (; at < end; ++at, ++first) {
    const u64 row = first / u64(c.tiles_across), column = first % u64(c.tiles_across);
    const i64 y = i64(winograd_first(winograd_axis(Down), row, u64(c.row_dilation))),
              x = i64(winograd_first(winograd_axis(Across), column, u64(c.pixel_dilation)));
    transform_source<V, Down, Across>(image + y * c.row_step + x * c.pixel_step, c.row_apart, c.pixel_apart,
                                      c.sources + at * c.k, c.source_pitch, c.k);
  }
}
// Of a tile's products at all points: its outputs, row by row.
template <class V, int Down, int Across, int = kInstructionSet>
__attribute__((noinline)) void transform_product(const f32* from, i64 pitch, V* to) {
  constexpr i64 kRows = winograd_axis(Down).tile, kColumns = winograd_axis(Across).tile,
                kRowPoints = winograd_axis(Down).points, kColumnPoints = winograd_axis(Across).points;
  V rows[kColumnPoints][kRows];
  for (i64 x = 0; x < kColumnPoints; ++x) {
    V point[kRowPoints];
    for (i64 y = 0; y < kRowPoints; ++y) point[y] = load_next<f32, kLanes<V>>(from + (y * kColumnPoints + x) * pitch);
    WinogradAlong<Down>::outputs(point, rows[x], AddTimes<V>{});
  }
  for (i64 y = 0; y < kRows; ++y) {
    V point[kColumnPoints];
    for (i64 x = 0; x < kColumnPoints; ++x) point[x] = rows[x][y];
    WinogradAlong<Across>::outputs(point, to + y * kColumns, AddTimes<V>{});
  }
}

// At one row of points, of one tap, or at two, of several, the second behind all points of the first.
template <class V, int Down, int Across, int Count, class T>
RT_FN void transform_rows(const WinogradRows::Row& row, const T* taps, i64 panel_step, i64 panels, i64 steps, f32* to,
                          i64 pitch) {
  constexpr WinogradAxis kDown = winograd_axis(Down), kAcross = winograd_axis(Across);
  const auto put = [&](const V* tap, f32* at) __attribute__((always_inline)) {
    V point[kAcross.points];
    WinogradAlong<Across>::weight_points(tap, point, AddTimes<V>{});
    for (i64 x = 0; x < kAcross.points; ++x) store(at + x * pitch, Lanes<kLanes<V>>{0}, point[x]);
  };
  RT_ROLLED
  for (i64 panel = 0; panel < panels; ++panel, taps += panel_step) {
    const T* from = taps;
    RT_ROLLED
    for (i64 vector = 0; vector < steps * kParts; ++vector, to += kLanes<V>) {
      if (vector && vector % kParts == 0) from += (kDown.taps * kAcross.taps - 1) * kPanel;
      const auto tap = [&](int number, i64 x) __attribute__((always_inline)) {
        return V(load_next<T, kLanes<V>>(from + (row.tap[number] * kAcross.taps + x) * kPanel));
      };
      const auto factor = [&](int number) __attribute__((always_inline)) { return splat<V>(row.factor[number]); };
      V same[kAcross.taps], mirrored[kAcross.taps];
      for (i64 x = 0; x < kAcross.taps; ++x) {
        same[x] = Down > 0 ? V(mul(factor(0), tap(0, x))) : tap(0, x);
        if constexpr (Count == 3) same[x] = fma<V>(factor(1), tap(1, x), same[x]);
        if constexpr (Count > 1) {
          const V changed = tap(Count - 1, x);
          mirrored[x] = fma<V>(-factor(Count - 1), changed, same[x]);
          same[x] = fma<V>(factor(Count - 1), changed, same[x]);
        }
      }
      from += kLanes<V>;
      put(same, to);
      if constexpr (Count > 1) put(mirrored, to + kAcross.points * pitch);
    }
  }
}
// Of taps of `panels` panels, `panel_step` apart: at the points of row y, `pitch` apart, `steps` channels; behind them
// at those of the next row where that mirrors it. The second cache bounds it, so no tap is read that can be spared.
template <class V, int Down, int Across, class T, int = kInstructionSet>
__attribute__((noinline)) void transform_weights(const T* taps, i64 panel_step, i64 panels, i64 steps, i64 y, f32* to,
                                                 i64 pitch) {
  constexpr WinogradRows kRows = winograd_rows(winograd_axis(Down));
  const WinogradRows::Row& row = kRows.row[y];
  const auto with = [&](auto count) __attribute__((always_inline)) {
    transform_rows<V, Down, Across, count.value>(row, taps, panel_step, panels, steps, to, pitch);
  };
  if (row.count == 1) return with(c<1>);
  if constexpr (Down == 1) with(c<3>);
  if constexpr (Down == 2) with(c<2>);
}

// Of all panels, the weights at the points.
template <class V, int Down, int Across, class Tap, int = kInstructionSet>
__attribute__((noinline)) void keep_weights(const WinogradCall& c, const Tap* taps) {
  constexpr WinogradAxis kDown = winograd_axis(Down), kAcross = winograd_axis(Across);
  constexpr WinogradRows kRows = winograd_rows(kDown);
  RT_ROLLED
  for (i64 y = 0; y < kDown.points; ++y)
    if (!kRows.row[y].mirrors)
      transform_weights<V, Down, Across>(taps, c.k * kDown.taps * kAcross.taps * kPanel, panels_of(c.n), c.k, y,
                                         c.at_points + y * kAcross.points * c.weight_pitch, c.weight_pitch);
}

// A block's tiles, in groups of rows, times `Width` panels, a row of points and a block of channels at a time. What is
// not kept is brought to the points just before; meanwhile the taps of the panels behind come from memory, an equal
// share at each step.
template <class V, int MR, int Width, int Down, int Across, bool Kept, class Tap, int = kInstructionSet>
__attribute__((noinline)) void multiply_block(const WinogradCall& c, const Tap* taps, i64 groups, i64 panel) {
  constexpr WinogradAxis kDown = winograd_axis(Down), kAcross = winograd_axis(Across);
  constexpr WinogradRows kRows = winograd_rows(kDown);
  constexpr i64 kTaps = kDown.taps * kAcross.taps * kPanel, kPoints = kDown.points * kAcross.points;
  const i64 shares = kPoints * groups, next_bytes = Kept ? 0 : Width * kTaps * i64(sizeof(Tap));
  const auto* next = reinterpret_cast<const char*>(taps + (panel + Width) * c.k * kTaps);
  if (c.k < kPanel) __builtin_unreachable();
  RT_ROLLED
  for (i64 from = 0; from < c.k; from += c.block) {
    const i64 channels = from + c.block < c.k ? c.block : c.k - from;
    Panels<f32> b{Kept ? c.at_points + (panel * c.k + from) * kPanel : c.at_points, (Kept ? c.k : channels) * kPanel,
                  kPanel};
    RT_ROLLED
    for (i64 point = 0; point < kPoints; ++point) {
      if (!Kept && point % kAcross.points == 0) {
        const i64 y = point / kAcross.points;
        b.at = c.at_points + (kRows.row[y].mirrors ? kAcross.points * c.weight_pitch : 0);
        if (!kRows.row[y].mirrors && !kRows.row[y].repeats)
          transform_weights<V, Down, Across>(taps + (panel * c.k + from) * kTaps, c.k * kTaps, Width, channels, y,
                                             c.at_points, c.weight_pitch);
      }
      Ahead ahead{next + next_bytes * (from * kPoints + point * channels) / kPoints, round_up_div(next_bytes, shares)};
      const f32* rows = c.sources + point * c.source_pitch + from;
      V* sums = reinterpret_cast<V*>(c.products + point * c.product_pitch);
      RT_ROLLED
      for (i64 group = 0; group < groups; ++group, rows += MR * c.k, sums += MR * Width * kParts) {
        Accumulators<MR, Width, 1> acc;
        acc.clear();
        acc.template add_products<false>(rows, c.k, b, channels, ahead);
        if (from)
          acc.flush(sums);
        else
          acc.put(sums);
      }
      b.at += c.weight_pitch;
    }
  }
}

// Of the rows behind the last tile, at each point: nothing of them is stored, but products of what another kernel left
// there may be denormal, each of which takes a hundred times as long.
__attribute__((noinline)) inline void clear_rest(f32* sources, i64 points, i64 first, i64 behind, i64 pitch) {
  RT_ROLLED
  for (i64 point = 0; point < points; ++point, sources += pitch)
    for (i64 i = first; i < behind; ++i) sources[i] = 0;
}

template <int MR, int NV, int Down, int Across, bool Kept, class Tap, class T, int R, class Tiles, class H, class W,
          class N, class K, class Epilogue>
struct Winograd {
  using V = vec<f32, kPart>;
  static constexpr WinogradAxis kDown = winograd_axis(Down), kAcross = winograd_axis(Across);
  static constexpr i64 kPoints = kDown.points * kAcross.points;
  static constexpr int kIndices = R + (Down > 0);
  static_assert(kIsMultiple<Tiles, MR>);

  const Call& call;
  Tiles of_block;
  Extents<R> outer;
  H height;
  W width;
  N n;
  K k;
  Image<T, R> a;
  const Tap* weights;
  Epilogue& epilogue;

  RT_FN i64 across() const { return winograd_tiles(kAcross, width, a.pixel_dilation); }
  RT_FN i64 down() const { return winograd_tiles(kDown, height, a.row_dilation); }

  // Those of each image by themselves.
  RT_FN void transform_sources(const WinogradCall& c, i64 first, i64 count) const {
    const i64 of_image = down() * across();
    RT_ROLLED
    for (i64 at = 0; at < count;) {
      const i64 image = R ? (first + at) / of_image : 0, end = R ? (image + 1) * of_image - first : count;
      i64 index[R + 1];
      index_of<R>(image, outer, index);
      const i64 stop = end < count ? end : count;
      detail::transform_sources<V, Down, Across>(c, a.base + a.outer.at(index), u64(first + at - image * of_image), at,
                                                 stop);
      at = stop;
    }
  }

  // Outputs of a tile from its first one on that there are.
  RT_FN static i64 outputs_of(const WinogradAxis& axis, i64 first, i64 outputs, i64 dilation) {
    const i64 left = first < outputs ? round_up_div(outputs - first, dilation) : 0;
    return left < axis.tile ? left : axis.tile;
  }
  // `width` panels of products.
  RT_FN void transform_products(i64 first, i64 count, const f32* products, i64 panel, i64 width) const {
    RT_ROLLED
    for (i64 t = 0; t < count; ++t) {
      i64 index[R + 1];
      const u64 at = u64(first + t), in_row = u64(across()), in_column = u64(down());
      index_of<R>(i64(at / in_row / in_column), outer, index);
      const i64 row = i64(winograd_first(kDown, at / in_row % in_column, u64(a.row_dilation))),
                column = i64(winograd_first(kAcross, at % in_row, u64(a.pixel_dilation)));
      const i64 rows = outputs_of(kDown, row, height, a.row_dilation),
                columns = outputs_of(kAcross, column, this->width, a.pixel_dilation);
      RT_ROLLED
      for (i64 j = 0; j < width * kParts; ++j) {
        V values[kDown.tile * kAcross.tile];
        transform_product<V, Down, Across>(products + (t * width * kParts + j) * kPart,
                                           winograd_product_pitch(of_block, NV), values);
        RT_ROLLED
        for (i64 y = 0; y < rows; ++y) {
          index[R] = row + y * a.row_dilation;
          RT_ROLLED
          for (i64 x = 0; x < columns; ++x)
            emit(values[y * kAcross.tile + x], panel * kPanel + j * kPart, n,
                 [&](auto sum, auto col) __attribute__((always_inline)) {
                   store_element<kIndices>(epilogue, index, sum, column + x * a.pixel_dilation, col);
                 });
        }
      }
    }
  }

  RT_FN void run() const {
    const i64 tiles = points_of<R>(outer) * down() * across();
    i64* const held = static_cast<i64*>(call.scratch);  // the block whose sources stand there
    WinogradCall c{.n = n,
                   .k = k,
                   .block = winograd_block(Kept, of_block),
                   .tiles_across = across(),
                   .row_step = Down * a.row_stride,
                   .pixel_step = Across * a.pixel_stride,
                   .row_apart = a.row_dilation * a.row_stride,
                   .pixel_apart = a.pixel_dilation * a.pixel_stride,
                   .row_dilation = a.row_dilation,
                   .pixel_dilation = a.pixel_dilation,
                   .source_pitch = winograd_source_pitch(of_block, k),
                   .product_pitch = winograd_product_pitch(of_block, NV),
                   .weight_pitch = Kept ? winograd_kept_pitch(n, k) : winograd_weight_pitch(of_block, NV, k),
                   .sources = static_cast<f32*>(call.scratch) + kPanel};
    c.products = c.sources + round_up_div(c.source_pitch, kPanel) * kPanel * kPoints;
    c.at_points = c.products + kPoints * c.product_pitch;
    if (!call.again) {
      *held = -1;
      if constexpr (Kept) keep_weights<V, Down, Across>(c, weights);
    }
    const TileSplit columns = split_columns<NV>(n);
    const Share units = share_of(call, round_up_div(tiles, of_block) * columns.parts);
    RT_ROLLED
    for (i64 unit = units.begin; unit < units.end; ++unit) {
      const i64 block = unit / columns.parts, part = unit % columns.parts;
      const i64 first = block * of_block, count = first + of_block <= tiles ? i64(of_block) : tiles - first;
      if (*held != block) {
        *held = block;
        transform_sources(c, first, count);
        if (tiles % MR && count < of_block) clear_rest(c.sources, kPoints, count * k, of_block * k, c.source_pitch);
      }
      each_size<NV, typename PanelCount<N>::Type>(columns, part, [&](auto panels) __attribute__((always_inline)) {
        multiply_block<V, MR, panels.value, Down, Across, Kept>(c, weights, round_up_div(count, MR),
                                                                columns.begin(part));
      });
      transform_products(first, count, c.products, columns.begin(part), columns.begin(part + 1) - columns.begin(part));
    }
  }
};

}  // namespace detail

// MR rows, which are tiles, by NV vectors of columns are summed in registers; a block has `of_block` of them. Down and
// Across are the convolution's strides along y and x, 1 or 2; Down is 0 where taps are along x alone: y is no axis
// then, and the height 1. Dilations other than 1 go with stride 1. A stands with zeros, or any finite numbers, where a
// tile reaches beyond the outputs. n, k (a vector at least) and the image's extents are numbers or constants. Weights
// are brought to the points a few panels at a time, for each block, or (Kept) all of them before the first. Chunks
// share the columns of all blocks.
template <int MR, int NV, int Down, int Across, bool Kept, class Tap, class T, int R, class Tiles, class H, class W,
          class N, class K, class Epilogue>
RT_FN void winograd(const Call& call, Tiles of_block, Extents<R> outer, H height, W width, N n, K k, Image<T, R> a,
                    Taps<Kept, Tap> weights, Epilogue epilogue) {
  detail::Winograd<MR, NV, Down, Across, Kept, Tap, T, R, Tiles, H, W, N, K, Epilogue>{
      call, of_block, outer, height, width, n, k, a, weights.at, epilogue}
      .run();
}
#endif

}  // namespace rt
