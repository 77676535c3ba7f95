// What a draft may do next: a row of a table each, with how often.
#pragma once
#include <span>

#include "tests/random/draft.h"

namespace cameo::random {

struct Maker {
  std::string_view what;
  int weight;
  bool (*make)(Draft&);  // false when nothing came of it
};

std::span<const Maker> elementwise_makers();
std::span<const Maker> moving_makers();     // views, slices, gathers, scatters
std::span<const Maker> reducing_makers();   // sums, products, windows, norms
std::span<const Maker> branching_makers();  // bodies

/// Adds a node or a few, of any of the tables; `bodies` too, or not.
bool grow(Draft& d, bool bodies);

}  // namespace cameo::random
