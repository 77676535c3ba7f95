// bit_cast: elements of another type with the same bits.
#pragma once
#include "runtime/kernels/nest.h"

namespace rt {

// x[count] -> y[count], as wide.
template <class Y, class X>
RT_FN void bit_cast(const Call& call, Y* y, const X* x, i64 count) {
  static_assert(sizeof(Y) == sizeof(X));
  for (i64 i = detail::first_unit(call); i < count; i += detail::next_unit(call))
    __builtin_memcpy(y + i, x + i, sizeof(X));
}

}  // namespace rt
