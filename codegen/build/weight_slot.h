// Weights enter a linked file without passing through the linker. The link sees a small slot, which lld gives the last
// segment of the address space for itself; afterwards the slot grows to hold the weights, and what the file has behind
// it moves. So they are written once, from where they lie, and no linker holds them in memory. x86-64 only (elsewhere
// there is no section that is sure to be last): the others link `weight_section`s.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "codegen/build/outcome.h"

namespace cameo {

using Pieces = std::vector<std::span<const std::byte>>;

// The object to link: `symbol` (hidden) is where the weights will begin, at 64 bytes. Code that needs its address takes
// it in a constant initialiser, `const void* const kWeights = symbol;`, which reaches any distance.
std::string weight_slot(const std::string& symbol, uint64_t bytes);

// Turns the slot of the linked ELF file in `descriptor` into the weights; `path` is what messages call the file.
Status fill_weight_slot(int descriptor, const Pieces& weights, const std::string& path);

uint64_t bytes_of(const Pieces& pieces);

}  // namespace cameo
