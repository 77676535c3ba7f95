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

/// The limit that a tensor of these dims goes beyond, to follow its name: "has 40 axes, the most is 32"; empty where
/// there is none. Negative dims are beyond any.
std::string beyond_limits(DType dtype, std::span<const int64_t> dims);

}  // namespace cameo
