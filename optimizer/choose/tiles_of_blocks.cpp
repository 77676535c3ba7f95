// See tiles_of_blocks.h.
#include "optimizer/choose/tiles_of_blocks.h"

#include <algorithm>

namespace cameo {
namespace {

int element_bytes(const BlockProduct& p) { return static_cast<int>(byte_size(p.dtype)); }

template <class Tile>
void add(std::vector<Tile>& all, const Tile& tile) {
  if (std::ranges::find(all, tile) == all.end()) all.push_back(tile);
}

/// `resident` blocks of a multiprocessor at once, each of which takes `steps`, that keep its multipliers busy for
/// `multiplies` cycles and that come no faster than every `waits` cycles.
double cycles_of_blocks(int64_t blocks, int64_t resident, double steps, double multiplies, double waits,
                        const Target& target) {
  const int64_t at_once = std::min(resident, rt::round_up_div(blocks, target.sm_count));
  const double rounds = static_cast<double>(rt::round_up_div(blocks, at_once * target.sm_count));
  return rounds * steps * std::max(static_cast<double>(at_once) * multiplies, waits);
}

}  // namespace

std::vector<rt::StagedTile> staged_tiles_of(const BlockProduct& p, const Target& target) {
  std::vector<rt::StagedTile> all{rt::staged_tile(target.sm_count, p.batches, p.m, p.n, element_bytes(p))};
  for (rt::StagedTile tile : rt::kStagedTiles)
    for (tile.stages = 2; tile.stages <= rt::kMostStages; ++tile.stages)
      if (rt::has_registers(tile, element_bytes(p)) &&
          rt::staged_bytes(tile, element_bytes(p)) <= target.card.block_shared_bytes)
        add(all, tile);
  return all;
}

std::vector<rt::BlockTile> block_tiles_of(const BlockProduct& p, const Target& target) {
  constexpr int kMostRows = 8;
  const int widest = target.block_threads / rt::kPanel;
  std::vector<rt::BlockTile> all{rt::block_tile(target.block_threads, target.sm_count, p.batches, p.m, p.n, p.terms)};
  for (int vectors = 1; vectors <= widest && (vectors == 1 || vectors / 2 < rt::panels_of(p.n)); vectors *= 2)
    for (int groups = 1; groups * vectors <= widest; groups *= 2)
      for (int rows = 1; rows <= std::min<int64_t>(kMostRows, p.m); rows *= 2)
        add(all, rt::BlockTile{rows, vectors, groups});
  return all;
}

double cycles_of_staged_tiles(const BlockProduct& p, const rt::StagedTile& tile, const Target& target) {
  const CardModel& card = target.card;
  const int64_t depth = rt::kStageBytes / element_bytes(p),
                of_shared = card.shared_bytes / rt::staged_bytes(tile, element_bytes(p));
  const int64_t resident = std::clamp<int64_t>(of_shared, 1, card.threads / target.block_threads);
  const double products = static_cast<double>(tile.rows * tile.vectors * rt::kPanel * depth);
  return cycles_of_blocks(
      p.batches * rt::staged_tiles(tile, p.m, p.n), resident, static_cast<double>(rt::round_up_div(p.terms, depth)),
      products / (p.dtype == DType::f32 ? card.fmas : card.tensor_fmas), card.latency / (tile.stages - 1), target);
}

double cycles_of_block_tiles(const BlockProduct& p, const rt::BlockTile& tile, const Target& target) {
  const CardModel& card = target.card;
  const double terms = static_cast<double>(rt::kBlockStage / tile.term_groups);  // of a thread and stage
  const double meeting = tile.term_groups > 1 ? tile.rows * tile.term_groups : 0;
  return cycles_of_blocks(p.batches * rt::block_tiles(tile, target.block_threads, p.m, p.n),
                          card.threads / target.block_threads,
                          static_cast<double>(rt::round_up_div(p.terms, rt::kBlockStage)),
                          target.block_threads * (terms * tile.rows + meeting) / card.fmas, card.latency, target);
}

}  // namespace cameo
