// The order that sorting operators go by: NaN is larger than every number and equal to itself.
#pragma once
#include <cmath>

#include "frontend/ir/tensor.h"

namespace cameo::ops {

template <class T>
bool ranks_before(T a, T b, bool largest) {
  if constexpr (std::is_floating_point_v<T>)
    if (std::isnan(a) || std::isnan(b))
      return largest ? std::isnan(a) && !std::isnan(b) : std::isnan(b) && !std::isnan(a);
  return largest ? a > b : a < b;
}

/// Of two elements, by their row-major numbers.
inline bool element_before(const Tensor& x, int64_t a, int64_t b, bool largest) {
  if (is_float(x.dtype())) return ranks_before(x.get(a), x.get(b), largest);
  if (x.dtype() == DType::u64)
    return ranks_before(static_cast<uint64_t>(x.get_int(a)), static_cast<uint64_t>(x.get_int(b)), largest);
  return ranks_before(x.get_int(a), x.get_int(b), largest);
}

}  // namespace cameo::ops
