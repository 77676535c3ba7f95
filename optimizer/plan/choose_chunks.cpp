// See choose_chunks.h. A processor's chunks cost waking a thread, so that small kernels have one; a GPU's blocks cost
// next to nothing, so that each has as little to do as its threads can share.
#include "optimizer/plan/choose_chunks.h"

#include <algorithm>
#include <map>

#include "optimizer/plan/lower_kernel.h"
#include "runtime/kernels/contract_shape.h"
#include "runtime/kernels/transpose_shape.h"

namespace cameo {
namespace {

double cost_of(Expr e) {
  double c = 0;
  std::map<Expr, double, bool (*)(Expr, Expr)> memo([](Expr a, Expr b) { return a.id() < b.id(); });
  std::vector<Expr> roots{e};
  visit(roots, [&](Expr x) {
    double own = 1;
    if (x.op() == Op::Fold && x.arg(0).extent().is_const()) {
      double body = 0;
      std::vector<Expr> b{x.arg(1)};
      visit(b, [&](Expr y) { body += y.op() == Op::Fold ? memo[y] : 1; });
      own = body * static_cast<double>(x.arg(0).extent().int_value());
    }
    memo[x] = own;
    c += own;
  });
  return c;
}

/// Enough chunks for the threads to even out, none for kernels too small to be worth waking one.
int chunks_of_processor(const Kernel& k) {
  if (k.form == Form::Serial || k.form == Form::Opaque) return 1;
  double points = 1;
  for (Expr a : k.axes) points *= static_cast<double>(a.extent().int_value());
  double work = 0;
  for (const Store& s : k.stores) work += points * cost_of(s.value);
  if (k.form == Form::Contract) {
    double products = points * static_cast<double>(k.sum.k.extent().int_value());
    for (Expr e : k.sum.segments) products *= static_cast<double>(e.extent().int_value());
    work += products / 16;
  }
  if (k.form == Form::Window) {
    for (Expr t : k.window.taps) points *= static_cast<double>(t.extent().int_value());
    work += points / 8;
  }
  constexpr double kWorthAThread = 50'000;  // operations, some 5 us
  return static_cast<int>(std::clamp(work / kWorthAThread, 1.0, 64.0));
}

/// The tiles of a Contract, of which a block has one at a time.
int64_t tiles_of(const Kernel& k, int threads) {
  const std::span<const Expr> axes(k.axes);
  const size_t inner = k.sum.has_row ? 2 : 1;
  const int64_t m = k.sum.has_row ? axes[axes.size() - 2].extent().int_value() : 1,
                n = axes.back().extent().int_value();
  const int64_t points = points_of(axes.first(axes.size() - inner));
  if (k.sum.staged) {
    const rt::StagedTile tile{k.sum.rows_per_tile, k.sum.vectors_per_tile};
    return k.sum.packed ? rt::staged_tiles(tile, points * m, n) : points * rt::staged_tiles(tile, m, n);
  }
  const rt::BlockTile tile{k.sum.rows_per_tile, k.sum.vectors_per_tile, k.sum.term_groups};
  return points * rt::block_tiles(tile, threads, m, n);
}

constexpr int64_t kMostWalks = 8;  // blocks that walk the same updates: finding one's own is most of the work by then

int64_t units_of(const Kernel& k, int threads) {
  const std::span<const Expr> axes(k.axes);
  switch (k.form) {
    case Form::Contract: return tiles_of(k, threads);
    case Form::Nest:
      if (k.team > 1) return rt::round_up_div(points_of(axes.first(axes.size() - 1)), threads / k.team);
      return rt::round_up_div(points_of(axes) / k.lanes, threads);
    case Form::Window: {
      const int64_t rows = axes[axes.size() - 2].extent().int_value();
      return rt::round_up_div(points_of(axes) / rows * rt::round_up_div(rows, k.window.rows_per_tile), threads);
    }
    case Form::Transpose: {
      const auto tiles = [](Expr axis) { return rt::round_up_div(axis.extent().int_value(), rt::kTransposeTile); };
      return points_of(axes.first(axes.size() - 2)) * tiles(axes[axes.size() - 2]) * tiles(axes.back());
    }
    case Form::Serial:
      if (k.owners == 0) return std::min<int64_t>(rt::round_up_div(points_of(axes), threads), kMostWalks);
      return rt::round_up_div(points_of(axes.first(static_cast<size_t>(k.owners))), threads);
    case Form::Opaque: return rt::round_up_div(k.opaque_units, threads);
  }
  return 1;
}

}  // namespace

int chunks_of(const Kernel& k, const Target& target) {
  constexpr int64_t kMost = 65535;  // that a row can say; beyond, a block has several units
  if (!target.is_gpu()) return chunks_of_processor(k);
  return static_cast<int>(std::clamp<int64_t>(units_of(k, target.block_threads), 1, kMost));
}

}  // namespace cameo
