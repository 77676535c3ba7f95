// The threads that share one chunk of a kernel. A CPU runs a chunk on one thread; a GPU gives it to a block of
// kBlockThreads, each of which runs the whole kernel body and asks here which one it is. A family's lanes are such
// threads there. Three bodies: the constants of a CPU, a GPU's registers, and, for machines without a GPU, words of a
// host program that runs a block's threads in turns (RT_FIBERS).
#pragma once
#include "types.h"

#if defined(RT_CUDA)
#define RT_KERNEL extern "C" __attribute__((global)) void
#define RT_SHARED __attribute__((shared)) static  // of a block, as a local variable
#elif defined(RT_FIBERS)
#define RT_KERNEL extern "C" __attribute__((visibility("default"))) void
#define RT_SHARED static  // blocks run one after another
#endif

namespace rt {

#if defined(RT_KERNEL)
inline constexpr bool kBlocks = true;
#else
inline constexpr bool kBlocks = false;
#endif
inline constexpr int kBlockThreads = 128, kWarpThreads = 32;

struct Fibers {  // what the host program says of the thread that it runs
  i32 thread, block, blocks;
  void (*barrier)();       // runs the others until they have come to it too
  void (*warp_barrier)();  // likewise those of its warp
  // What tensor_core.h says of copies that run on their own: the host program has what is under way.
  void (*begin_copy)(void* to, const void* from, i32 bytes, i32 source_bytes);
  void (*commit_copies)();
  void (*wait_for_copies)(i32 groups);
};

#if defined(RT_CUDA)
namespace detail {
// clang knows them by these names, nvcc by variables, and only while it compiles for the device.
#if defined(__clang__)
RT_FN i32 thread_register() { return __nvvm_read_ptx_sreg_tid_x(); }
RT_FN i32 block_register() { return __nvvm_read_ptx_sreg_ctaid_x(); }
RT_FN i32 blocks_register() { return __nvvm_read_ptx_sreg_nctaid_x(); }
RT_FN u32 shuffle_register(u32 v, int mask) {
  return static_cast<u32>(__nvvm_shfl_sync_bfly_i32(~0u, static_cast<i32>(v), mask, 31));
}
RT_FN void block_barrier() { __syncthreads(); }
#elif defined(__CUDA_ARCH__)
RT_FN i32 thread_register() { return static_cast<i32>(threadIdx.x); }
RT_FN i32 block_register() { return static_cast<i32>(blockIdx.x); }
RT_FN i32 blocks_register() { return static_cast<i32>(gridDim.x); }
RT_FN u32 shuffle_register(u32 v, int mask) { return __shfl_xor_sync(~0u, v, mask); }
RT_FN void block_barrier() { __syncthreads(); }
#else
RT_FN i32 thread_register() { return 0; }
RT_FN i32 block_register() { return 0; }
RT_FN i32 blocks_register() { return 1; }
RT_FN u32 shuffle_register(u32 v, int) { return v; }
RT_FN void block_barrier() {}
#endif
}  // namespace detail
RT_FN i32 thread() {
  const i32 t = detail::thread_register();
  __builtin_assume(t >= 0 && t < kBlockThreads);
  return t;
}
RT_FN i32 block() { return detail::block_register(); }
RT_FN i32 blocks() { return detail::blocks_register(); }
RT_FN void barrier() { detail::block_barrier(); }
#elif defined(RT_FIBERS)
extern "C" {
__attribute__((visibility("default"), used)) inline Fibers cameo_fibers{};
}
RT_FN i32 thread() { return cameo_fibers.thread; }
RT_FN i32 block() { return cameo_fibers.block; }
RT_FN i32 blocks() { return cameo_fibers.blocks; }
RT_FN void barrier() { cameo_fibers.barrier(); }
#else
RT_FN constexpr i32 thread() { return 0; }
#endif
RT_FN constexpr i32 threads() { return kBlocks ? kBlockThreads : 1; }  // of a chunk

#if defined(RT_KERNEL)
// What the thread whose number differs in the bits of `mask` gives, of the same warp. All of a warp's threads come
// here.
#if defined(RT_CUDA)
RT_FN u32 shuffle_word(u32 v, int mask) { return detail::shuffle_register(v, mask); }
#else
// What each thread of the own warp has given, as all of them read it before one goes on.
template <class T, class Read>
RT_FN void exchange_in_warp(const T& own, Read read) {
  RT_SHARED T given[kBlockThreads];
  given[thread()] = own;
  cameo_fibers.warp_barrier();
  read(given + thread() / kWarpThreads * kWarpThreads);
  cameo_fibers.warp_barrier();
}
RT_FN u32 shuffle_word(u32 v, int mask) {
  u32 other;
  exchange_in_warp(v, [&](const u32* given) RT_INLINE { other = given[thread() % kWarpThreads ^ mask]; });
  return other;
}
#endif
template <class T>
RT_FN T shuffle(T v, int mask) {
  if constexpr (sizeof(T) == 8) {
    struct Halves {
      u32 low, high;
    } const halves = __builtin_bit_cast(Halves, v);
    return __builtin_bit_cast(T, Halves{shuffle_word(halves.low, mask), shuffle_word(halves.high, mask)});
  } else if constexpr (sizeof(T) == 4) {
    return __builtin_bit_cast(T, shuffle_word(__builtin_bit_cast(u32, v), mask));
  } else {
    return static_cast<T>(shuffle_word(static_cast<u32>(v), mask));
  }
}
#endif

}  // namespace rt
