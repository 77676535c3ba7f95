// bit_cast: elements of another type with the same bits.
#pragma once
#include "runtime/kernels/nest.h"

namespace rt {

// As many bytes of x -> y as `count` elements of the wider of the two types have.
template <class Y, class X>
RT_FN void bit_cast(const Call& call, Y* y, const X* x, i64 count) {
  constexpr i64 kBytes = sizeof(Y) > sizeof(X) ? sizeof(Y) : sizeof(X);
  char* const to = reinterpret_cast<char*>(y);
  const char* const from = reinterpret_cast<const char*>(x);
  for (i64 i = detail::first_unit(call); i < count; i += detail::next_unit(call))
    __builtin_memcpy(to + i * kBytes, from + i * kBytes, kBytes);
}

}  // namespace rt
