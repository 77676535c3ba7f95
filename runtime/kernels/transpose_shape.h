// The tile of a transpose that a GPU's block has in shared memory, and the blocks that a processor's threads share.
#pragma once

namespace rt {
inline constexpr int kTransposeTile = 32;  // rows, and columns
inline constexpr int kTransposeRows = 64, kTransposeColumns = 256;
}  // namespace rt
