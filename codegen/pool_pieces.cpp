// See pool_pieces.h.
#include "codegen/pool_pieces.h"

namespace cameo {

Pieces pool_pieces(const WeightPool& weights) {
  static constexpr std::byte kZeros[64]{};
  Pieces pieces;
  int64_t at = 0;
  for (const WeightPool::Entry& e : weights.entries) {
    if (e.offset > at) pieces.push_back(std::span(kZeros).first(static_cast<size_t>(e.offset - at)));
    pieces.push_back(e.tensor->bytes());
    at = e.offset + static_cast<int64_t>(e.tensor->bytes().size());
  }
  if (weights.bytes > at) pieces.push_back(std::span(kZeros).first(static_cast<size_t>(weights.bytes - at)));
  return pieces;
}

}  // namespace cameo
