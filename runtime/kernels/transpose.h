// transpose: out(i.., row, col) = write(read(i.., row, col)), where neighbouring rows are neighbours in what is read
// and neighbouring columns in what is written. A GPU's block has a tile at a time in shared memory, whose rows are one
// element longer than the tile, so that a warp's column lies in as many banks as its row. (M. Harris, "An Efficient
// Matrix Transpose in CUDA C/C++", 2013.)
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
template <int R, class M, class N, class Read, class Write>
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
#endif
