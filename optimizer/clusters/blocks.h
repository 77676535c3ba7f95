// Blocks of an output: what DepthToSpace makes of channels, each place of a block from a channel of its own.
#pragma once
#include <vector>

#include "frontend/ir/operator.h"

namespace cameo {

/// Whether indices hold quotients or remainders that depend on an axis or a fold.
bool divides(Expr value);
/// For each axis of the output the length of its blocks: where it stands in one counts within another axis of what is
/// read, and its quotient says which block it is. Empty if there are none, if they have more places than are worth a
/// kernel each, or where indices hold other divisions.
std::vector<int64_t> blocks_of(const OutputExpr& out);

}  // namespace cameo
