// See tiles_of_sums.h.
#include "optimizer/choose/tiles_of_sums.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace cameo {
namespace {

/// Whether an epilogue is too long for a copy of it for each vector of a tile: it has many operations, or calls exp or
/// its kin, or looks bytes up, for which a loop keeps the table in registers that the products need until then.
bool is_long(Expr epilogue) {
  constexpr int kManyOperations = 16;
  const std::vector<Expr> roots{epilogue};
  int operations = 0;
  visit(roots, [&](Expr e) {
    const bool is_call = (e.op() >= Op::Exp && e.op() <= Op::Pow) || (e.op() == Op::Read && looks_up_bytes(e));
    if (is_call) operations += kManyOperations;
    if (e.type() != DType::i64 && e.op() != Op::Const) ++operations;
  });
  return operations > kManyOperations;
}

int64_t rows_of(const Product& p) { return p.has_any_rows() ? rt::rows_of_any_number(p.m()) : p.m(); }

/// Steps of the sum: a term each, or a quad of one, or a pair.
double steps_of(const Product& p) {
  const int64_t terms = p.terms(), run = Dim(p.k.extent()).estimate();
  return static_cast<double>(p.zero       ? rt::quads_of(terms / run, run)
                             : p.in_pairs ? rt::pairs_of(terms / run, run)
                                          : terms);
}

/// Whether no element of `a` stands behind the last row's last one, or its segments are whole quads, which end there.
bool ends_with_last_row(const Product& p) {
  if (p.k.extent().int_value() % rt::kQuad == 0) return true;
  const Affine a = affine(p.a_offset);
  const auto rises = [&](Expr v) {
    const Dim stride = a.stride_of(v);
    return stride.is_static() && stride.estimate() >= 0;
  };
  return rises(p.row) && std::ranges::all_of(p.outer, rises) && std::ranges::all_of(p.segments, rises);
}

/// Whether four products of 8 bits are one instruction; else they are two by two of 16 bits, which weights and elements
/// are split into in registers of their own.
bool splits_quads(const Product& p, const Target& target) { return p.zero && !target.machine.dot8; }
bool has_registers(const Product& p, rt::Tile tile, const Target& target) {
  const int64_t weights = static_cast<int64_t>(tile.vectors) * (rt::kPanel * 4 / target.vector_bytes);
  return !splits_quads(p, target) || tile.rows == 1 ||
         rt::registers_of(tile, target.vector_bytes) + 2 * weights + 2 <= target.vector_registers;
}

}  // namespace

std::vector<rt::Tile> tiles_of_sums(const Product& p, const Target& target) {
  constexpr int64_t kMostRows = 12, kMostVectors = 4;
  std::vector<rt::Tile> all;
  const auto add = [&](rt::Tile tile) {
    if (!all.empty() && !has_registers(p, tile, target)) return;
    if (std::ranges::find(all, tile) == all.end()) all.push_back(tile);
  };
  const auto add_split = [&](rt::Tile tile) {
    tile.splits = splits_of(tile, target);
    add(tile);
  };
  const int64_t m = rows_of(p);
  rt::Tile thumb = rt::contract_tile(target.vector_bytes, target.vector_registers, m, p.n());
  if (p.has_any_rows()) thumb.vectors = static_cast<int>(rt::one_width(rt::panels_of(p.n()), thumb.vectors));
  while (thumb.vectors > 1 && !has_registers(p, thumb, target)) thumb.vectors = thumb.vectors / 2;
  while (!has_registers(p, thumb, target)) thumb.rows = static_cast<int>(rt::even_part(m, thumb.rows - 1));
  add_split(thumb);
  for (thumb.splits = 1; thumb.splits <= rt::kMostSplits; thumb.splits *= 2)
    if (rt::registers_of(thumb, target.vector_bytes) < target.vector_registers) add(thumb);
  for (int64_t vectors = 1; vectors <= std::min(kMostVectors, rt::panels_of(p.n())); ++vectors) {
    const int64_t tallest = rt::tallest_tile(target.vector_bytes, target.vector_registers, vectors);
    for (int64_t rows = 1; rows <= std::min({kMostRows, tallest, m}); ++rows) {
      add_split(
          {static_cast<int>(rt::even_part(m, rows)), static_cast<int>(rt::even_part(rt::panels_of(p.n()), vectors))});
    }
  }
  return all;
}

std::vector<rt::Tile> tiles_of_registers(const Product& p, const Target& target) {
  const auto is_known = [](Expr variable) { return variable && variable.extent().is_const(); };
  if (!target.machine.amx || p.takes_blocks() || !is_known(p.row) || !is_known(p.column) || !is_known(p.k)) return {};
  if (p.zero ? !ends_with_last_row(p) : p.k.extent().int_value() % rt::kPair != 0) return {};
  std::vector<rt::Tile> all;
  for (int64_t blocks = 1; blocks <= rt::kMostBlocks; ++blocks)
    for (int64_t vectors = rt::kMostBlocks / blocks; vectors >= 1; --vectors) {
      const rt::Tile tile{static_cast<int>(rt::even_part(p.m(), blocks * rt::kTileRows)),
                          static_cast<int>(rt::even_part(rt::panels_of(p.n()), vectors))};
      if (std::ranges::find(all, tile) == all.end()) all.push_back(tile);
    }
  if (p.m() > rt::kTileRows || p.outer.empty() || !p.outer.back().extent().is_const()) return all;
  if (!affine(p.b_offset).stride_of(p.outer.back()).is_static(0)) return all;
  for (int64_t points = 2; points <= std::min<int64_t>(rt::kMostBlocks, p.outer.back().extent().int_value()); ++points)
    for (int64_t vectors = std::min(rt::kMostBlocks / points, rt::panels_of(p.n())); vectors >= 1; --vectors)
      all.push_back({static_cast<int>(points * p.m()), static_cast<int>(vectors)});
  return all;
}

int64_t points_of_tile(const Product& p, const rt::Tile& tile) { return std::max<int64_t>(1, tile.rows / p.m()); }

std::string in_tile_registers(const Product& p, const rt::Tile& tile, const std::string& panels) {
  const int64_t points = points_of_tile(p, tile);
  return fmt::format("rt::in_tile_registers{}({})", points > 1 ? fmt::format("<{}>", points) : "", panels);
}

int64_t tiles_down(const Product& p, const rt::Tile& tile) {
  const int64_t points = points_of_tile(p, tile);
  if (points == 1) return p.batches() * rt::round_up_div(p.m(), tile.rows);
  const int64_t along = p.outer.back().extent().int_value();
  return p.batches() / along * rt::round_up_div(along, points);
}

rt::Tile tile_of(const Choice& choice) {
  return {static_cast<int>(choice["rows"]), static_cast<int>(choice["vectors"]), static_cast<int>(choice["splits"])};
}

int splits_of(rt::Tile tile, const Target& target) {
  const MachineModel& m = target.machine;
  return rt::splits_of(tile, target.vector_bytes, static_cast<int64_t>(std::ceil(m.fmas * m.fma_latency)));
}

bool sums_stay_in_registers(const Kernel& k, const Product& p) {
  return (!p.takes_blocks() || p.terms() <= rt::kSumBlock) && !is_long(k.stores[0].value);
}

double cycles_of_tiles(const Product& p, rt::Tile tile, bool in_registers, const Target& target, double computed) {
  constexpr double kStart = 16, kBytes = rt::kPanel * sizeof(float);
  const MachineModel& machine = target.machine;
  const double parts = kBytes / target.vector_bytes, terms = steps_of(p), splits = tile.splits;
  const auto stays_in_l1 = [&](int64_t vectors) {
    return terms * static_cast<double>(vectors) * kBytes <= static_cast<double>(machine.l1_bytes) / 2;
  };
  const bool from_l2 = !stays_in_l1(tile.vectors), first_from_l2 = !stays_in_l1(rt::panels_of(p.n()));
  const auto cycles_of_tile = [&](int64_t rows, int64_t vectors, bool reads_l2) {
    const double r = static_cast<double>(rows), v = static_cast<double>(vectors), sums = r * v * parts;
    const double products = splits_quads(p, target) ? 2 * sums + (3 * v * parts + 2 * r) / 4 : sums * computed;
    const double term = std::max({products / machine.fmas, (v * parts + r) / machine.loads,
                                  machine.fma_latency / splits, reads_l2 ? v * kBytes / machine.l2_rate : 0});
    const double flushes =
        in_registers || !p.takes_blocks() ? 0 : 2 * sums * std::ceil(terms / static_cast<double>(rt::kSumBlock));
    return terms * term + flushes + (1 + splits) * sums + kStart;
  };
  const rt::TileSplit down = rt::split_tiles(rows_of(p), tile.rows),
                      along = rt::split_tiles(rt::panels_of(p.n()), tile.vectors);
  double cycles = 0, first = 0;
  const int64_t tallest = down.full ? down.size : down.rest;
  for (const auto& [vectors, tiles] :
       {std::pair(along.size, along.full), std::pair(along.rest, along.parts - along.full)}) {
    if (!tiles) continue;
    for (const auto& [rows, row_tiles] :
         {std::pair(down.size, down.full), std::pair(down.rest, down.parts - down.full)})
      if (row_tiles) cycles += static_cast<double>(row_tiles * tiles) * cycles_of_tile(rows, vectors, from_l2);
    first += static_cast<double>(tiles) *
             (cycles_of_tile(tallest, vectors, first_from_l2) - cycles_of_tile(tallest, vectors, from_l2));
  }
  return cycles * static_cast<double>(p.batches()) + first;
}

double cycles_of_registers(const Product& p, rt::Tile tile, const Target& target) {
  constexpr double kStart = 60, kLeastRows = 9, kBytes = rt::kPanel * rt::kTileRows * 4;
  const MachineModel& machine = target.machine;
  const int64_t points = points_of_tile(p, tile),
                blocks = points > 1 ? points : rt::round_up_div(tile.rows, rt::kTileRows);
  const int64_t height = rt::round_up_div(tile.rows, blocks);
  const double rows = static_cast<double>(height), vectors = tile.vectors, down = static_cast<double>(blocks);
  const int64_t run = rt::round_up_div(p.k.extent().int_value(), p.zero ? rt::kQuad : rt::kPair);
  const double steps = static_cast<double>(points_of(p.segments) * rt::round_up_div(run, rt::kTileRows));
  const double products = down * vectors * std::max(kLeastRows, rows);
  const double loads = (down * rows + (down * (vectors - 1) + 1) * rt::kTileRows) / machine.loads;
  const double from_l2 = (vectors * kBytes + down * rows * rt::kTileBytes) / machine.l2_rate;
  const double sums = static_cast<double>(tile.rows) * vectors;
  const double tiles = static_cast<double>(tiles_down(p, tile)) * static_cast<double>(rt::panels_of(p.n())) / vectors;
  return tiles * (steps * std::max({products, loads, from_l2}) + 3 * sums + kStart);
}

}  // namespace cameo
