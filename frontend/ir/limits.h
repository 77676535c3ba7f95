// What no tensor may exceed, wherever it comes from: an input, a payload, or what a node makes of them.
#pragma once
#include <span>
#include <string>

#include "frontend/ir/type.h"
#include "runtime/dtype.h"

namespace cameo {

inline constexpr int kMaxRank = rt::kMaxRank;
inline constexpr int64_t kMaxBytes = rt::kMaxBytes;
inline constexpr int64_t kMaxExtent = kMaxBytes;             // of an axis, also where another is empty
inline constexpr int64_t kMaxStep = (int64_t{1} << 31) - 1;  // of a kernel, stride, dilation or pad: sums of their
                                                             // products with each other fit into 64 bits

/// The bound of open sizes, of which there are `count`: products of them and of the extents that models have, squared
/// as scores of an attention have them, fit into 64 bits.
constexpr int64_t most_of_open(size_t count) {
  constexpr int64_t kMost[] = {int64_t{1} << 24, 1 << 17, 1 << 15, 1 << 12};
  return kMost[count < 1 ? 0 : count > 4 ? 3 : count - 1];
}

/// The limit that a tensor of these dims goes beyond, to follow its name: "has 40 axes, the most is 32"; empty where
/// there is none. Negative dims are beyond any.
std::string beyond_limits(DType dtype, std::span<const int64_t> dims);

}  // namespace cameo
