// Sums, maxima and exchanges that the threads of all blocks may do at once, in global or a block's shared memory, on
// i32, u32 and u64; each gives what stood there before. No order with other accesses.
#pragma once
#include "grid.h"

#if defined(RT_KERNEL)
namespace rt {

#if defined(__CUDA_ARCH__)
#define RT_ATOMIC(name, op, Type, suffix, constraint)                                                               \
  RT_FN Type name(Type* at, Type v) {                                                                               \
    Type old;                                                                                                       \
    asm volatile("atom." op "." suffix " %0, [%1], %2;" : "=" constraint(old) : "l"(at), constraint(v) : "memory"); \
    return old;                                                                                                     \
  }
#define RT_EXCHANGE(Type, suffix, constraint)                      \
  RT_FN Type atomic_exchange_if(Type* at, Type expected, Type v) { \
    Type old;                                                      \
    asm volatile("atom.cas." suffix " %0, [%1], %2, %3;"           \
                 : "=" constraint(old)                             \
                 : "l"(at), constraint(expected), constraint(v)    \
                 : "memory");                                      \
    return old;                                                    \
  }
RT_ATOMIC(atomic_add, "add", i32, "s32", "r")
RT_ATOMIC(atomic_add, "add", u32, "u32", "r")
RT_ATOMIC(atomic_add, "add", u64, "u64", "l")
RT_ATOMIC(atomic_max, "max", i32, "s32", "r")
RT_ATOMIC(atomic_max, "max", u32, "u32", "r")
RT_ATOMIC(atomic_max, "max", u64, "u64", "l")
RT_EXCHANGE(i32, "b32", "r")
RT_EXCHANGE(u32, "b32", "r")
RT_EXCHANGE(u64, "b64", "l")
#undef RT_ATOMIC
#undef RT_EXCHANGE
#else  // fibers: no other thread runs in between
template <class T>
RT_FN T atomic_add(T* at, T v) {
  using U = unsigned_of<T>;
  const T old = *at;
  *at = static_cast<T>(static_cast<U>(old) + static_cast<U>(v));
  return old;
}
template <class T>
RT_FN T atomic_max(T* at, T v) {
  const T old = *at;
  *at = old < v ? v : old;
  return old;
}
template <class T>
RT_FN T atomic_exchange_if(T* at, T expected, T v) {
  const T old = *at;
  if (old == expected) *at = v;
  return old;
}
#endif

}  // namespace rt
#endif
