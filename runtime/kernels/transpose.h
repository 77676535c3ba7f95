// transpose: out(i.., row, col) = write(read(i.., row, col)), where neighbouring rows are neighbours in what is read
// and neighbouring columns in what is written. A GPU's block has a tile at a time in shared memory, whose rows are one
// element longer than the tile, so that a warp's column lies in as many banks as its row. (M. Harris, "An Efficient
// Matrix Transpose in CUDA C/C++", 2013.) A processor has a tile in registers.
#pragma once
#include "runtime/kernels/contract_tile.h"
#include "runtime/kernels/nest.h"
#include "runtime/kernels/transpose_shape.h"

#if defined(RT_KERNEL)
namespace rt {
namespace detail {

// Calls f(long, short) for each element of a tile; neighbouring threads differ in the second one.
template <class F>
RT_FN void each_of_tile(F f) {
  constexpr int kTile = kTransposeTile;
#pragma unroll
  for (int i = 0; i < kTile * kTile; i += threads()) f((i + thread()) / kTile, (i + thread()) % kTile);
}

}  // namespace detail

// m and n are numbers or constants (`c<64>`). Blocks share the tiles.
template <int W, int R, class M, class N, class Read, class Write>
RT_FN void transpose(const Call& call, Extents<R> outer, M m, N n, Read read, Write write) {
  constexpr i64 kTile = kTransposeTile;
  const i64 row_tiles = round_up_div(m, kTile), column_tiles = round_up_div(n, kTile);
  const i64 tiles = detail::points_of<R>(outer) * row_tiles * column_tiles;
  i64 index[R == 0 ? 1 : R];
  const auto read_at = [&](i64 row, i64 col) RT_INLINE {
    const auto at_index = [&](auto... i) RT_INLINE { return read(i..., row, col); };
    return detail::call_at<0, R>(index, at_index);
  };
  RT_SHARED bare<decltype(read_at(0, 0))> tile[kTile][kTile + 1];
  for (i64 t = call.chunk; t < tiles; t += call.chunks) {
    detail::index_of<R>(t / column_tiles / row_tiles, outer, index);
    const i64 row = t / column_tiles % row_tiles * kTile, col = t % column_tiles * kTile;
    detail::each_of_tile([&](int c, int r) RT_INLINE {
      if (row + r < m && col + c < n) tile[r][c] = read_at(row + r, col + c);
    });
    barrier();
    detail::each_of_tile([&](int r, int c) RT_INLINE {
      if (row + r < m && col + c < n) detail::store_element<R>(write, index, tile[r][c], row + r, col + c);
    });
    barrier();
  }
}

}  // namespace rt
#else
namespace rt {
namespace detail {

// A vector's lanes as one that can be permuted: those of a condition are bytes.
template <class V>
RT_FN V line_of(V values) {
  return values;
}
template <int W>
RT_FN vec<i8, W> line_of(mask<W> values) {
  return values.lanes;
}
template <class T, int W>
using Line = decltype(line_of(ref<value_of<T, W> >()));

struct Area {
  i64 row, rows, col, cols;
};

// Whole tiles of W x W, and what is left at the right and below in smaller ones; Whole: nothing is.
template <int W, bool Whole, int R, class Read, class Write>
RT_FN void transpose_area(const i64* index, const Area& area, Read& read, Write& write) {
  using T = element_of<decltype(call_at<0, R>(index, [&](auto... i) { return read(i..., i64{}, i64{}); }))>;
  const auto read_at = [&](auto row, i64 col) RT_INLINE {
    return call_at<0, R>(index, [&](auto... i) RT_INLINE { return read(i..., row, col); });
  };
  if constexpr (W < 4) {
    for (i64 row = area.row; row < area.row + area.rows; ++row)
      for (i64 col = area.col; col < area.col + area.cols; ++col)
        store_element<R>(write, index, read_at(row, col), row, col);
  } else {
    const i64 rows = area.rows / W * W, cols = area.cols / W * W;
    for (i64 col = area.col; col < area.col + cols; col += W)
      for (i64 row = area.row; row < area.row + rows; row += W) {
        Line<T, W> lines[W];
        RT_UNROLLED
        for (int c = 0; c < W; ++c) lines[c] = line_of(read_at(Lanes<W>{row}, col + c));
        transpose_square<1>(indices<W / 2>{}, lines);
        RT_ROLLED
        for (int r = 0; r < W; ++r) store_element<R>(write, index, value_of<T, W>{lines[r]}, row + r, Lanes<W>{col});
      }
    if constexpr (!Whole) {
      const Area left[] = {{area.row, rows, area.col + cols, area.cols - cols},
                           {area.row + rows, area.rows - rows, area.col, area.cols}};
      RT_ROLLED
      for (const Area& part : left)
        if (part.rows && part.cols) transpose_area<W / 2, false, R>(index, part, read, write);
    }
  }
}

}  // namespace detail

// m and n are numbers or constants (`c<64>`). Chunks share blocks of rows and columns, in which the lines that a tile
// reads, and those that it writes, are still in the first cache when its neighbours need them. W: rows and columns of a
// tile, 4, 8 or 16.
template <int W, int R, class M, class N, class Read, class Write>
RT_FN void transpose(const Call& call, Extents<R> outer, M m, N n, Read read, Write write) {
  Extents<R + 2> blocks{};
  for (int d = 0; d < R; ++d) blocks.n[d] = outer.n[d];
  blocks.n[R] = round_up_div(m, kTransposeRows);
  blocks.n[R + 1] = round_up_div(n, kTransposeColumns);
  const detail::Share own = detail::share_of(call, blocks.points());
  i64 index[R + 2];
  detail::first_index<R + 2>(own.begin, blocks, index);
  for (i64 left = own.end - own.begin; left > 0; --left) {
    const i64 row = index[R] * kTransposeRows, col = index[R + 1] * kTransposeColumns;
    const detail::Area area{row, m - row < kTransposeRows ? m - row : kTransposeRows, col,
                            n - col < kTransposeColumns ? n - col : kTransposeColumns};
    detail::transpose_area<W, detail::kIsMultiple<M, W> && detail::kIsMultiple<N, W>, R>(index, area, read, write);
    detail::next_index<R + 2>(blocks, index);
  }
}

}  // namespace rt
#endif
