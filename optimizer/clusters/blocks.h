// Blocks of an output: what DepthToSpace makes of channels, each place of a block from a channel of its own.
#pragma once
#include <vector>

#include "frontend/ir/operator.h"

namespace cameo {

/// For each axis of the output the length of a block, by which the meaning's indices divide it; empty if there are no
/// blocks, if they have more places than are worth a kernel each, or where indices hold other divisions.
std::vector<int64_t> blocks_of(const OutputExpr& out);

}  // namespace cameo
