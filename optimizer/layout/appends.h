// Appends: outputs that are an input with more behind it along one axis, as the cache of a decoder is. Where a run's
// input is what the run before wrote (a state), both may stand in one memory, and nothing of it is copied. So their
// layouts have room behind that axis. A run says how much; tensors of a caller have none.
#pragma once
#include <span>
#include <vector>

#include "optimizer/layout/assign_orders.h"

namespace cameo {

struct Append {
  uint32_t input, output;        // their numbers
  uint32_t axis;                 // of both
  Expr input_room, output_room;  // symbols: how many indices more the memory has room for along the axis
};

/// Those of a model's own graph whose values are row-major in `made`, which gets the room.
std::vector<Append> make_room(const Graph& g, std::span<const FusedCluster> clusters, std::vector<Layout>& made);
/// 0 where the input already stands where the output wants it, else 1.
Expr must_copy(const Append& a);

}  // namespace cameo
