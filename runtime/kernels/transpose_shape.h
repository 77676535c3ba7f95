// The tile of a transpose: what a GPU's block has in shared memory.
#pragma once

namespace rt {
inline constexpr int kTransposeTile = 32;  // rows, and columns
}  // namespace rt
