// What tensor cores are fed by, and what they do, as PTX 7.0 has it from sm_80 on: copies from global into shared
// memory that run on their own (cp.async), 8x8 matrices of 16-bit elements brought from shared memory into a warp's
// registers (ldmatrix), and 16x8x16 products of them summed in f32 (mma.sync). Layouts of fragments: PTX ISA, "Matrix
// Fragments for mma.m16n8k16 with floating point type" and "ldmatrix". Over fibers a copy is done at the latest legal
// moment, in the wait that asks for it; until then its target holds NaN. All threads of a warp come to load_matrices
// and multiply.
#pragma once
#include "grid.h"
#include "half.h"

#if defined(RT_KERNEL)
namespace rt {

/// Begins to copy the first `source_bytes` of Bytes (4, 8 or 16, and so aligned) into shared memory; the rest becomes
/// 0.
template <int Bytes>
RT_FN void begin_copy(void* to, const void* from, i32 source_bytes);
/// The copies begun since the last commit are a group. Waits until all but the newest `Groups` of them are done, for
/// this thread; others see them after a barrier.
RT_FN void commit_copies();
template <int Groups>
RT_FN void wait_for_copies();

/// Of N matrices (1, 2 or 4): thread 8 * i + r gives the address of row r of matrix i, 16 bytes; the others' addresses
/// are not used. Thread t gets of each matrix the elements (t / 4, t % 4 * 2 + {0, 1}), transposed: of the transposed.
template <int N, bool Transposed>
RT_FN void load_matrices(u32 (&to)[N], const void* row);

/// sum += a * b, of half or bfloat. a is 16x16: registers 0, 1 have (g, 2t + {0, 1}) and 8 rows down, 2, 3 likewise 8
/// columns on; b 16x8: registers 0, 1 have (2t + {0, 1}, g) and 8 rows down; sum 16x8: (g, 2t + {0, 1}) and 8 rows
/// down, where thread = 4g + t.
template <class T>
RT_FN void multiply(f32 (&sum)[4], const u32 (&a)[4], const u32 (&b)[2]);

#if defined(RT_CUDA)
#if defined(__CUDA_ARCH__)
namespace detail {
RT_FN u32 shared_address(const void* p) {
  u32 address;
  asm("{ .reg .u64 a; cvta.to.shared.u64 a, %1; cvt.u32.u64 %0, a; }" : "=r"(address) : "l"(p));
  return address;
}
}  // namespace detail

template <int Bytes>
RT_FN void begin_copy(void* to, const void* from, i32 source_bytes) {
  static_assert(Bytes == 4 || Bytes == 8 || Bytes == 16);
  const u32 target = detail::shared_address(to);
  if constexpr (Bytes == 16)  // past the first cache
    asm volatile(
        "{ .reg .u64 g; cvta.to.global.u64 g, %1; cp.async.cg.shared.global [%0], [g], 16, %2; }" ::"r"(target),
        "l"(from), "r"(source_bytes)
        : "memory");
  else
    asm volatile(
        "{ .reg .u64 g; cvta.to.global.u64 g, %1; cp.async.ca.shared.global [%0], [g], %3, %2; }" ::"r"(target),
        "l"(from), "r"(source_bytes), "n"(Bytes)
        : "memory");
}
RT_FN void commit_copies() { asm volatile("cp.async.commit_group;" ::: "memory"); }
template <int Groups>
RT_FN void wait_for_copies() {
  asm volatile("cp.async.wait_group %0;" ::"n"(Groups) : "memory");
}

template <int N, bool Transposed>
RT_FN void load_matrices(u32 (&to)[N], const void* row) {
  static_assert(N == 1 || N == 2 || N == 4);
  const u32 from = detail::shared_address(row);
#define RT_LDMATRIX(count, trans, registers, ...)                                     \
  asm volatile("ldmatrix.sync.aligned.m8n8." count trans ".shared.b16 " registers ";" \
               : __VA_ARGS__                                                          \
               : "r"(from)                                                            \
               : "memory")
  if constexpr (N == 4 && Transposed)
    RT_LDMATRIX("x4", ".trans", "{%0, %1, %2, %3}, [%4]", "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3]));
  else if constexpr (N == 4)
    RT_LDMATRIX("x4", "", "{%0, %1, %2, %3}, [%4]", "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3]));
  else if constexpr (N == 2 && Transposed)
    RT_LDMATRIX("x2", ".trans", "{%0, %1}, [%2]", "=r"(to[0]), "=r"(to[1]));
  else if constexpr (N == 2)
    RT_LDMATRIX("x2", "", "{%0, %1}, [%2]", "=r"(to[0]), "=r"(to[1]));
  else if constexpr (Transposed)
    RT_LDMATRIX("x1", ".trans", "{%0}, [%1]", "=r"(to[0]));
  else
    RT_LDMATRIX("x1", "", "{%0}, [%1]", "=r"(to[0]));
#undef RT_LDMATRIX
}

template <class T>
RT_FN void multiply(f32 (&sum)[4], const u32 (&a)[4], const u32 (&b)[2]) {
  static_assert(kIsHalf<T>);
#define RT_MMA(type)                                                                  \
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f32." type "." type                 \
               ".f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};" \
               : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])               \
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]))
  if constexpr (kSame<T, half>)
    RT_MMA("f16");
  else
    RT_MMA("bf16");
#undef RT_MMA
}
#else  // nvcc's pass over the host's code, which calls none of it
template <int Bytes>
RT_FN void begin_copy(void*, const void*, i32) {}
RT_FN void commit_copies() {}
template <int Groups>
RT_FN void wait_for_copies() {}
template <int N, bool Transposed>
RT_FN void load_matrices(u32 (&)[N], const void*) {}
template <class T>
RT_FN void multiply(f32 (&)[4], const u32 (&)[4], const u32 (&)[2]) {}
#endif

#else  // RT_FIBERS
template <int Bytes>
RT_FN void begin_copy(void* to, const void* from, i32 source_bytes) {
  static_assert(Bytes == 4 || Bytes == 8 || Bytes == 16);
  cameo_fibers.begin_copy(to, from, Bytes, source_bytes);
}
RT_FN void commit_copies() { cameo_fibers.commit_copies(); }
template <int Groups>
RT_FN void wait_for_copies() {
  cameo_fibers.wait_for_copies(Groups);
}

// Each thread reads the row whose address it has, so that what it lacks a barrier for shows.
template <int N, bool Transposed>
RT_FN void load_matrices(u32 (&to)[N], const void* row) {
  static_assert(N == 1 || N == 2 || N == 4);
  struct Row {
    u16 of[8];
  } own{};
  const int lane = thread() % kWarpThreads, major = lane / 4, minor = lane % 4 * 2;
  if (lane < 8 * N) {
    if (reinterpret_cast<u64>(row) % 16) __builtin_trap();
    __builtin_memcpy(&own, row, sizeof own);
  }
  exchange_in_warp(own, [&](const Row* rows) RT_INLINE {
    for (int i = 0; i < N; ++i, rows += 8) {
      const u32 low = Transposed ? rows[minor].of[major] : rows[major].of[minor];
      const u32 high = Transposed ? rows[minor + 1].of[major] : rows[major].of[minor + 1];
      to[i] = high << 16 | low;
    }
  });
}

template <class T>
RT_FN void multiply(f32 (&sum)[4], const u32 (&a)[4], const u32 (&b)[2]) {
  static_assert(kIsHalf<T>);
  struct Fragments {
    f32 a[8], b[4];  // two of each register
  } own;
  const auto widen = [](u32 pair, f32* two) RT_INLINE {
    two[0] = to_float(T{static_cast<u16>(pair)}), two[1] = to_float(T{static_cast<u16>(pair >> 16)});
  };
  for (int i = 0; i < 4; ++i) widen(a[i], own.a + 2 * i);
  for (int i = 0; i < 2; ++i) widen(b[i], own.b + 2 * i);
  const int group = thread() % kWarpThreads / 4, within = thread() % 4;
  exchange_in_warp(own, [&](const Fragments* given) RT_INLINE {
    for (int k = 0; k < 16; ++k) {
      const int from = k % 8 / 2, of_a = k / 8 * 4 + k % 2, of_b = k / 8 * 2 + k % 2;
      const Fragments &row = given[group * 4 + from], &left = given[within * 8 + from],
                      &right = given[within * 8 + 4 + from];
      const f32 upper = row.a[of_a], lower = row.a[of_a + 2];
      sum[0] += upper * left.b[of_b], sum[1] += upper * right.b[of_b];
      sum[2] += lower * left.b[of_b], sum[3] += lower * right.b[of_b];
    }
  });
}
#endif

}  // namespace rt
#endif
