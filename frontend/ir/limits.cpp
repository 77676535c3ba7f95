// The limits of tensors.
#include "frontend/ir/limits.h"

#include <fmt/ranges.h>

#include <algorithm>

#include "frontend/ir/tensor.h"

namespace cameo {

std::string beyond_limits(DType dtype, std::span<const int64_t> dims) {
  if (dims.size() > kMaxRank) return fmt::format("has {} axes, the most is {}", dims.size(), kMaxRank);
  if (std::ranges::any_of(dims, [](int64_t d) { return d < 0; }))
    return fmt::format("has the dims {}, one of them negative", fmt::join(dims, "x"));
  auto count = element_count(dims);
  if (count && *count <= kMaxBytes / std::max(byte_size(dtype), 1) &&
      std::ranges::all_of(dims, [](int64_t d) { return d <= kMaxExtent; }))
    return {};
  return fmt::format("has the dims {}: more than fits into any memory", fmt::join(dims, "x"));
}

}  // namespace cameo
