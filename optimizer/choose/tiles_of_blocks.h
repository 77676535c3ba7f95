// How a GPU's blocks keep the sums of a product in tiles, and what that costs.
#pragma once
#include "optimizer/choose/choice.h"
#include "optimizer/lower/product.h"
#include "runtime/kernels/contract_shape.h"

namespace cameo {

/// A product as blocks have it: outer points that share `b` are rows of one matrix.
struct BlockProduct {
  int64_t batches, m, n, terms;
  DType dtype;  // of both operands, where they are brought through shared memory
};

/// That of the rule of thumb first, then all others that a block's threads and its shared memory hold.
std::vector<rt::StagedTile> staged_tiles_of(const BlockProduct& p, const Target& target);
std::vector<rt::BlockTile> block_tiles_of(const BlockProduct& p, const Target& target);
/// Of the card: blocks that are resident at once share a multiprocessor's multipliers, and each waits for memory as
/// long as its stages in flight do not cover.
double cycles_of_staged_tiles(const BlockProduct& p, const rt::StagedTile& tile, const Target& target);
double cycles_of_block_tiles(const BlockProduct& p, const rt::BlockTile& tile, const Target& target);

}  // namespace cameo
