// contract's sums by a processor's tile registers (AMX): 16 rows by 16 columns of sums, to which one instruction adds
// the products of 16 rows by 16 quads of 8-bit integers, or pairs of bf16. Panels of quads or pairs stand as it wants
// them; rows are read where they are, a constant stride apart. Where a segment's terms are no whole quads, what stands
// behind them is read too, and multiplied by the panels' zeros; rows behind which nothing may be read are copied. Up to
// four blocks of sums are kept while the whole sum runs; they go through memory to the epilogue.
#pragma once
#include "runtime/kernels/contract_pairs.h"
#include "runtime/kernels/contract_quads.h"

namespace rt {

#if !defined(RT_KERNEL)
namespace detail {

// The registers behind those of sums: of a block's rows, of a panel's groups of terms (a quad or a pair, four bytes),
// and of what is left of both at a segment's end.
enum TileRegister { kRowsRegister = kMostBlocks, kPanelRegister, kLastRowsRegister, kLastPanelRegister };

// What LDTILECFG reads.
struct __attribute__((packed, aligned(64))) TileShapes {
  u8 palette = 1, start_row = 0, reserved[14] = {};
  u16 row_bytes[16] = {};
  u8 rows[16] = {};
  RT_FN void set(int tile, i64 its_rows, i64 bytes = kTileBytes) {
    rows[tile] = static_cast<u8>(its_rows);
    row_bytes[tile] = static_cast<u16>(bytes);
  }
};

// Registers of these shapes, which are free again at the end.
struct TileRegisters {
  RT_FN explicit TileRegisters(const TileShapes& shapes) { asm volatile("ldtilecfg %0" : : "m"(shapes)); }
  TileRegisters(const TileRegisters&) = delete;
  RT_FN ~TileRegisters() { asm volatile("tilerelease" : : : "memory"); }
};

template <int Tile>
RT_FN void clear_tile() {
  asm volatile("tilezero %%tmm%c0" : : "i"(Tile));
}
template <int Tile>
RT_FN void load_tile(const void* from, i64 row_bytes) {
  asm volatile("tileloadd (%0,%1,1), %%tmm%c2" : : "r"(from), "r"(row_bytes), "i"(Tile) : "memory");
}
template <int Tile>
RT_FN void store_tile(void* to, i64 row_bytes) {
  asm volatile("tilestored %%tmm%c2, (%0,%1,1)" : : "r"(to), "r"(row_bytes), "i"(Tile) : "memory");
}
// Sums += rows of T by a panel's groups.
template <class T, int Sums, int Rows, int Panel>
RT_FN void add_tile_products() {
  if constexpr (kSame<T, u8>) {
    asm volatile("tdpbusd %%tmm%c2, %%tmm%c1, %%tmm%c0" : : "i"(Sums), "i"(Rows), "i"(Panel));
  } else if constexpr (kSame<T, i8>) {
    asm volatile("tdpbssd %%tmm%c2, %%tmm%c1, %%tmm%c0" : : "i"(Sums), "i"(Rows), "i"(Panel));
  } else {
    static_assert(kSame<T, bfloat>);
    asm volatile("tdpbf16ps %%tmm%c2, %%tmm%c1, %%tmm%c0" : : "i"(Sums), "i"(Rows), "i"(Panel));
  }
}

// MR rows by NV panels of sums, in blocks of kHeight rows, of which the last may reach back into the one before.
// Points: several, each of them a block, whose rows of `a` are `point_stride` apart.
template <class Sum, int MR, int NV, int Points = 1>
struct TileRegisterSums : TileSums<Sum, MR, NV, 1> {
  using Base = TileSums<Sum, MR, NV, 1>;
  using typename Base::V;
  static constexpr bool kExact = true;
  static constexpr int kBlocks = Points > 1 ? Points : (MR + kTileRows - 1) / kTileRows;
  static constexpr int kHeight = (MR + kBlocks - 1) / kBlocks;
  static_assert(kBlocks * NV <= kMostBlocks && kHeight <= kTileRows && kParts == 1 && MR % Points == 0);
  i64 point_stride = 0;
  const void* end_of_rows = nullptr;  // of all of `a`
  static constexpr int row_of(int block) { return block < kBlocks - 1 ? block * kHeight : MR - kHeight; }

  using All = indices<kBlocks * NV>;
  template <class P>
  RT_FN void begin(NoBias, P) {
    clear(All{});
  }
  template <int... I>
  RT_FN void clear(Indices<int, I...>) {
    (..., clear_tile<I>());
  }
  RT_FN void begin(i32 bias, QuadPanels panels) {
    if (bias == 0) return clear(All{});
    V sums[NV];
    for (int j = 0; j < NV; ++j) sums[j] = panels.template sums_of_bias<V>(bias, j, 0);
    fill(All{}, sums);
  }
  template <int... I>
  RT_FN void fill(Indices<int, I...>, const V* sums) {
    (..., load_tile<I>(sums + I % NV, 0));  // all rows alike
  }

  // A block's rows, and those of the next step into the first cache: loads that are far apart are not foreseen.
  template <int Rows, class T>
  RT_FN static void load_rows(const T* a, i64 row_stride) {
    load_tile<Rows>(a, row_stride * i64(sizeof(T)));
    if (row_stride * i64(sizeof(T)) > kTileBytes)
      for (int i = 0; i < kHeight; ++i) __builtin_prefetch(a + i * row_stride + kTileBytes / i64(sizeof(T)));
  }
  RT_FN static i64 offset_of(int block, i64 row_stride, i64 point_stride) {
    return Points > 1 ? block * point_stride : row_of(block) * row_stride;
  }
  // One step for each block of sums, in an order in which the panel, or the rows, of the one before still stand.
  template <int Rows, int Panel, int I, class T>
  RT_FN static void step(const T* a, i64 row_stride, i64 point_stride, const void* b, i64 panel_bytes) {
    constexpr int row = I / NV, column = row % 2 ? NV - 1 - I % NV : I % NV;
    if constexpr (I % NV == 0) load_rows<Rows>(a + offset_of(row, row_stride, point_stride), row_stride);
    if constexpr (I == 0 || I % NV != 0)
      load_tile<Panel>(static_cast<const char*>(b) + column * panel_bytes, kTileBytes);
    add_tile_products<T, row * NV + column, Rows, Panel>();
  }
  template <int Rows, int Panel, class T, int... I, class Next>
  RT_FN static void steps(Indices<int, I...>, const T* a, i64 row_stride, i64 point_stride, const void* b,
                          i64 panel_bytes, Next& ahead) {
    (..., (step<Rows, Panel, I>(a, row_stride, point_stride, b, panel_bytes), ahead.step()));
  }
  template <bool Unrolled = true, class T, class P, class Next>
  RT_FN void add_products(const T* a, i64 row_stride, P b, i64 k, Next& ahead) {
    constexpr i64 kGroup = 4 / sizeof(T), kStep = kTileRows * kGroup;
    const i64 panel_bytes = b.panel_step * i64(sizeof *b.at), whole = round_up_div(k, kGroup) * kGroup;
    i64 at = 0, points = point_stride;
    RT_ROLLED
    for (; at + kStep <= k; at += kStep)
      steps<kRowsRegister, kPanelRegister>(All{}, a + at, row_stride, points, b.at + at * kPanel, panel_bytes, ahead);
    if (at == k) return;
    const T* from = a + at;
    alignas(kTileBytes) T copy[kBlocks * kHeight * kStep];
    if (k < whole && from + last_row(row_stride) + (whole - at) > end_of_rows) {
      copy_rows(copy, from, row_stride, k - at);
      from = copy, row_stride = kStep, points = kHeight * kStep;
    }
    const auto* const panel = b.at + at * kPanel;
    if (whole - at == kStep)
      steps<kRowsRegister, kPanelRegister>(All{}, from, row_stride, points, panel, panel_bytes, ahead);
    else
      steps<kLastRowsRegister, kLastPanelRegister>(All{}, from, row_stride, points, panel, panel_bytes, ahead);
  }
  RT_FN i64 last_row(i64 row_stride) const {
    return offset_of(kBlocks - 1, row_stride, point_stride) + (kHeight - 1) * row_stride;
  }
  // `terms` of each row, as they are read from rows of whole steps.
  template <class T>
  __attribute__((noinline, cold)) void copy_rows(T* to, const T* from, i64 row_stride, i64 terms) const {
    constexpr i64 kStep = kTileBytes / sizeof(T);
    RT_ROLLED
    for (int block = 0; block < kBlocks; ++block) RT_ROLLED
    for (i64 i = 0; i < kHeight; ++i) {
      T* const row = to + (Points > 1 ? block * kHeight + i : row_of(block) + i) * kStep;
      const T* const its = from + offset_of(block, row_stride, point_stride) + i * row_stride;
      RT_ROLLED
      for (i64 t = 0; t < kStep; ++t) row[t] = t < terms ? its[t] : T{};
    }
  }

  RT_FN void put(V* totals) { put(All{}, totals); }
  template <int... I>
  RT_FN void put(Indices<int, I...>, V* totals) {
    (..., store_tile<I>(totals + row_of(I / NV) * NV + I % NV, NV * i64(sizeof(V))));
  }
};

}  // namespace detail
#endif

// Panels of quads_b or pairs_b, whose sums are in tile registers: pairs are whole ones. Points: a tile has
// the rows of so many points of the last outer axis, for all of which the panels are the same.
template <class B, int Points = 1>
struct InTileRegisters : B {
#if !defined(RT_KERNEL)
  template <int MR, int NV, int, int = kPanel>  // the registers multiply all columns of a panel
  using Sums = detail::TileRegisterSums<typename B::Sum, MR, NV, Points>;
  template <class A>
  RT_FN auto bias(const A&) const {
    if constexpr (kSame<typename B::Sum, i32>) {
      return this->zero;
    } else {
      return detail::NoBias{};
    }
  }
#endif
};
template <int Points = 1, class B>
RT_FN InTileRegisters<B, Points> in_tile_registers(B b) {
  return {b};
}

#if !defined(RT_KERNEL)
namespace detail {

template <class B>
inline constexpr bool kInTileRegisters = false;
template <class B, int Points>
inline constexpr bool kInTileRegisters<InTileRegisters<B, Points>> = true;
template <class B>
inline constexpr int kPointsOfTile = 1;
template <class B, int Points>
inline constexpr int kPointsOfTile<InTileRegisters<B, Points>> = Points;

// So many lines of what comes next, brought from memory into the second cache with each product of tiles: a burst of
// them would keep a tile's own loads waiting.
struct LinesAhead {
  const char* at;
  i64 lines;
  RT_FN void step() {
    RT_ROLLED
    for (i64 i = 0; i < lines; ++i, at += 64) __builtin_prefetch(at, 0, 2);
  }
};
// The part of the next W panels that the tile of this number brings, of `total`.
template <int MR, int W, class B, int Points, class P>
RT_FN auto ahead_of_tile(const InTileRegisters<B, Points>& b, P panels, i64 terms, i64 number, i64 total) {
  if constexpr (B::kStreams) {
    constexpr i64 kGroup = 4 / i64(sizeof *panels.at), kBlocks = TileRegisterSums<f32, MR, 1, Points>::kBlocks;
    const i64 bytes = W * panels.panel_step * i64(sizeof *panels.at);
    const i64 products = terms / b.k * round_up_div(b.k, kGroup * kTileRows) * W * kBlocks;
    return LinesAhead{reinterpret_cast<const char*>(panels.at) + bytes + bytes * number / total,
                      round_up_div(bytes / 64, products * total)};
  } else {
    return NoAhead{};
  }
}

// What a kernel holds while it runs, tiles of MR rows.
struct NoRegisters {};
template <int MR, class B>
RT_FN NoRegisters registers_of(const B&) {
  return {};
}
template <int MR, class B, int Points>
RT_FN TileRegisters registers_of(const InTileRegisters<B, Points>& b) {
  constexpr int kHeight = TileRegisterSums<typename B::Sum, MR, 1, Points>::kHeight;
  TileShapes shapes;
  for (int i = 0; i < kMostBlocks; ++i) shapes.set(i, kHeight);
  shapes.set(kRowsRegister, kHeight);
  shapes.set(kPanelRegister, kTileRows);
  if (const i64 left = round_up_div(b.k, 4 / i64(sizeof *b.base)) % kTileRows; left > 0) {
    shapes.set(kLastRowsRegister, kHeight, 4 * left);
    shapes.set(kLastPanelRegister, left);
  }
  return TileRegisters(shapes);
}

}  // namespace detail
#endif

}  // namespace rt
