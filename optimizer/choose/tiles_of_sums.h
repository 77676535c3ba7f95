// How a processor keeps the sums of a product in tiles of rows and vectors of columns, over weights in panels, and what
// that costs.
#pragma once
#include "optimizer/choose/choice.h"
#include "optimizer/lower/product.h"
#include "runtime/kernels/contract_shape.h"

namespace cameo {

/// That of the rule of thumb first, then all others that registers hold.
std::vector<rt::Tile> tiles_of_sums(const Product& p, const Target& target);
rt::Tile tile_of(const Choice& choice);  // its `rows`, `vectors` and `splits`
/// Those whose sums stand in tile registers (contract_amx.h), where the target has them and the product's operands and
/// sizes suit them; else none.
std::vector<rt::Tile> tiles_of_registers(const Product& p, const Target& target);
/// Points of the last outer axis whose rows such a tile has: several where there are more rows in it than in the
/// output.
int64_t points_of_tile(const Product& p, const rt::Tile& tile);
/// Such tiles, one below another.
int64_t tiles_down(const Product& p, const rt::Tile& tile);
/// The words that a kernel's call has for panels whose sums are in tile registers.
std::string in_tile_registers(const Product& p, const rt::Tile& tile, const std::string& panels);
inline bool has_tile_registers(const Choice& choice) { return choice.get("amx", 0); }
/// Into how many parts a tile's sums are split, so that FMAs need not wait for each other.
int splits_of(rt::Tile tile, const Target& target);
/// Whether the sums are few enough terms long for that, and the epilogue short enough to be compiled for each vector.
bool sums_stay_in_registers(const Kernel& k, const Product& p);
/// Of one core. A term of a tile's sum takes as long as its FMAs, its loads (of b's vectors and a's elements), the
/// latency of one FMA, of which each part of a sum waits for one at a time, or the way of b from the second cache, if
/// the first cannot hold what a tile's columns read; what all columns read comes from there the first time. computed:
/// the share of the panels' columns whose products are computed.
double cycles_of_tiles(const Product& p, rt::Tile tile, bool in_registers, const Target& target, double computed = 1);
/// The same of a tile of tiles_of_registers: 16 terms' groups of all its blocks take as long as their instructions, a
/// cycle a row each, their loads or the way of `a` and b's panels from the second cache; then its sums go through
/// memory.
double cycles_of_registers(const Product& p, rt::Tile tile, const Target& target);

}  // namespace cameo
