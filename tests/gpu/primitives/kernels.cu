// A kernel for each primitive that kernel families are made of: from one array to another. fixtures.cpp says what each
// must have written.
#include "runtime/kernels/contract.h"
#include "runtime/rt/atomic.h"
#include "runtime/rt/math.h"
#include "runtime/rt/tensor_core.h"

using namespace rt;

namespace {

RT_FN int lane() { return thread() % kWarpThreads; }
RT_FN int warp() { return thread() / kWarpThreads; }
RT_FN i64 number() { return i64(block()) * kBlockThreads + thread(); }

}  // namespace

// ---- threads --------------------------------------------------------------------------------------------------------
RT_KERNEL numbers(const i32*, i32* to) {
  to[number() * 3] = thread();
  to[number() * 3 + 1] = block();
  to[number() * 3 + 2] = blocks();
}

// Each round moves all elements one warp further, through shared memory.
RT_KERNEL barriers(const i32* from, i32* to) {
  RT_SHARED i32 all[kBlockThreads];
  i32 own = from[number()];
  for (int round = 0; round < 9; ++round) {
    all[thread()] = own;
    barrier();
    own = all[(thread() + kWarpThreads + 1) % kBlockThreads] + round;
    barrier();
  }
  to[number()] = own;
}

template <class T>
RT_FN void shuffle_all(const T* from, T* to) {
  for (int mask = 0; mask < kWarpThreads; ++mask) to[mask * kBlockThreads + thread()] = shuffle(from[thread()], mask);
}
RT_KERNEL shuffles_of_bytes(const u8* from, u8* to) { shuffle_all(from, to); }
RT_KERNEL shuffles_of_words(const i32* from, i32* to) { shuffle_all(from, to); }
RT_KERNEL shuffles_of_doubles(const f64* from, f64* to) { shuffle_all(from, to); }

// Of the numbers behind the first one, which says how many they are: what each thread gets.
template <int Team>
RT_FN void fold_all(const f32* from, f32* to) {
  const i64 n = static_cast<i64>(from[0]);
  const auto at = [&](i64 r) RT_INLINE { return from[1 + r]; };
  f32* const own = to + number() * 4;
  own[0] = fold_team<FoldKind::Sum, Team>(n, at);
  own[1] = fold_team<FoldKind::Max, Team>(n, at);
  own[2] = static_cast<f32>(fold_team<FoldKind::ArgMin, Team>(n, at));
  own[3] = static_cast<f32>(fold_team<FoldKind::ArgMaxLast, Team>(n, at));
}
RT_KERNEL folds_of_warps(const f32* from, f32* to) { fold_all<kWarpThreads>(from, to); }
RT_KERNEL folds_of_blocks(const f32* from, f32* to) { fold_all<kBlockThreads>(from, to); }

// ---- copies ---------------------------------------------------------------------------------------------------------
// A thread copies Bytes of source; of a warp's threads each takes another number of them.
template <int Bytes>
RT_FN void copy_all(const u8* from, u8* to) {
  RT_SHARED __attribute__((aligned(16))) u8 all[kBlockThreads * Bytes];
  u8* const own = all + thread() * Bytes;
  begin_copy<Bytes>(own, from + number() * Bytes, lane() % (Bytes + 1));
  commit_copies();
  wait_for_copies<0>();
  barrier();
  const int other = kBlockThreads - 1 - thread();
  for (int i = 0; i < Bytes; ++i) to[(i64(block()) * kBlockThreads + other) * Bytes + i] = all[other * Bytes + i];
}
RT_KERNEL copies_of_4_bytes(const u8* from, u8* to) { copy_all<4>(from, to); }
RT_KERNEL copies_of_8_bytes(const u8* from, u8* to) { copy_all<8>(from, to); }
RT_KERNEL copies_of_16_bytes(const u8* from, u8* to) { copy_all<16>(from, to); }

// Stages of 4 numbers a thread in a ring of three; what arrives is summed while the next ones are under way.
RT_KERNEL groups_of_copies(const i32* from, i32* to) {
  constexpr int kStages = 3, kCount = 7, kOfStage = kBlockThreads * 4;
  RT_SHARED __attribute__((aligned(16))) i32 ring[kStages][kOfStage];
  const auto fill = [&](int stage) RT_INLINE {
    if (stage < kCount)
      begin_copy<16>(ring[stage % kStages] + thread() * 4, from + stage * kOfStage + thread() * 4, 16);
    commit_copies();
  };
  i32 sum = 0;
  fill(0);
  fill(1);
  for (int stage = 0; stage < kCount; ++stage) {
    wait_for_copies<kStages - 2>();
    barrier();
    fill(stage + 2);
    for (int i = 0; i < 4; ++i) sum = sum * 3 + ring[stage % kStages][(thread() * 4 + i + 77) % kOfStage];
  }
  to[thread()] = sum;
}

// ---- matrices -------------------------------------------------------------------------------------------------------
// Each warp has four 8x8 matrices of its own in shared memory, rows 48 bytes apart.
template <int N, bool Transposed>
RT_FN void load_all(const u16* from, u32* to) {
  constexpr int kPitch = 24;
  RT_SHARED __attribute__((aligned(16))) u16 all[kBlockThreads * kPitch];
  for (int i = 0; i < 8; ++i) all[thread() * kPitch + i] = from[thread() * 8 + i];
  barrier();
  u32 got[N];
  load_matrices<N, Transposed>(got, all + thread() * kPitch);
  for (int i = 0; i < N; ++i) to[thread() * N + i] = got[i];
}
RT_KERNEL matrices_1(const u16* from, u32* to) { load_all<1, false>(from, to); }
RT_KERNEL matrices_2(const u16* from, u32* to) { load_all<2, false>(from, to); }
RT_KERNEL matrices_4(const u16* from, u32* to) { load_all<4, false>(from, to); }
RT_KERNEL matrices_1_transposed(const u16* from, u32* to) { load_all<1, true>(from, to); }
RT_KERNEL matrices_2_transposed(const u16* from, u32* to) { load_all<2, true>(from, to); }
RT_KERNEL matrices_4_transposed(const u16* from, u32* to) { load_all<4, true>(from, to); }

// Of each warp: a 16x16 and b 16x8, row-major, one behind the other; twice the product.
template <class T>
RT_FN void multiply_all(const u16* from, f32* to) {
  const u16 *const a = from + warp() * 384, *const b = a + 256;
  const int group = lane() / 4, within = lane() % 4 * 2;
  const auto pair = [&](const u16* p, int step) RT_INLINE { return u32(p[step]) << 16 | p[0]; };
  u32 of_a[4], of_b[2];
  for (int i = 0; i < 4; ++i) of_a[i] = pair(a + (group + i % 2 * 8) * 16 + within + i / 2 * 8, 1);
  for (int i = 0; i < 2; ++i) of_b[i] = pair(b + (within + i * 8) * 8 + group, 8);
  f32 sum[4] = {};
  multiply<T>(sum, of_a, of_b);
  multiply<T>(sum, of_a, of_b);
  for (int i = 0; i < 4; ++i) to[warp() * 128 + (group + i / 2 * 8) * 8 + within + i % 2] = sum[i];
}
RT_KERNEL products_of_halves(const u16* from, f32* to) { multiply_all<half>(from, to); }
RT_KERNEL products_of_bfloats(const u16* from, f32* to) { multiply_all<bfloat>(from, to); }

// ---- atomics --------------------------------------------------------------------------------------------------------
// to: the sum, the largest and the sum by exchanges of all numbers, then the same of each block's.
template <class T>
RT_FN void combine_all(const T* from, T* to) {
  RT_SHARED T of_block[3];
  const T own = from[number()];
  if (thread() == 0) of_block[0] = of_block[1] = of_block[2] = 0;
  barrier();
  for (int place = 0; place < 2; ++place) {
    T* const at = place ? of_block : to;
    atomic_add(at, own);
    atomic_max(at + 1, own);
    for (T expected = 0, old; (old = atomic_exchange_if(at + 2, expected, T(expected + own))) != expected;)
      expected = old;
  }
  barrier();
  if (thread() < 3) to[3 + block() * 3 + thread()] = of_block[thread()];
}
RT_KERNEL atomics_of_i32(const i32* from, i32* to) { combine_all(from, to); }
RT_KERNEL atomics_of_u32(const u32* from, u32* to) { combine_all(from, to); }
RT_KERNEL atomics_of_u64(const u64* from, u64* to) { combine_all(from, to); }

// ---- numbers --------------------------------------------------------------------------------------------------------
RT_KERNEL halves_to_floats(const u16* from, f32* to) { to[number()] = to_float(half{from[number()]}); }
RT_KERNEL floats_to_halves(const f32* from, u16* to) { to[number()] = to_half(from[number()]).bits; }
RT_KERNEL bfloats_to_floats(const u16* from, f32* to) { to[number()] = to_float(bfloat{from[number()]}); }
RT_KERNEL floats_to_bfloats(const f32* from, u16* to) { to[number()] = to_bfloat(from[number()]).bits; }
RT_KERNEL functions(const f32* from, f32* to) {
  const f32 x = from[number()];
  f32* const own = to + number() * 6;
  own[0] = exp(x), own[1] = tanh(x), own[2] = erf(x), own[3] = sigmoid(x), own[4] = sin(x), own[5] = sqrt(x * x + 1.f);
}

// ---- products of matrices -------------------------------------------------------------------------------------------
// a 150 x 72, then b 72 x 80 in panels or by columns; to: 150 x 80 sums plus the column's number.
template <class T, int Rows, int NV, bool Packed>
RT_FN void multiply_matrices(const T* from, f32* to, i64 skipped) {
  const Call call = block_call(nullptr);
  const T *const a = from + skipped, *const b = from + skipped + 150 * 72;
  const auto epilogue = [&](auto acc, i64 row, auto col)
                            RT_INLINE { store(to, row * 80 + col, add(acc, cast<f32>(col))); };
  const auto run = [&](auto of_b) RT_INLINE {
    contract_staged<Rows, NV, 4, 3>(call, extents(), extents(), c<150>, c<80>, c<72>,
                                    matrix_a(a, strides(), 72, strides()), of_b, epilogue);
  };
  if constexpr (Packed)
    run(packed_b(b, strides()));
  else
    run(strided_b(b, strides(), 1, 72));
}
RT_KERNEL tensor_cores_32(const half* from, f32* to) { multiply_matrices<half, 32, 2, true>(from, to, 0); }
RT_KERNEL tensor_cores_64(const bfloat* from, f32* to) { multiply_matrices<bfloat, 64, 4, true>(from, to, 0); }
RT_KERNEL tensor_cores_128(const half* from, f32* to) { multiply_matrices<half, 128, 4, false>(from, to, 0); }
RT_KERNEL tensor_cores_misaligned(const half* from, f32* to) { multiply_matrices<half, 64, 2, true>(from, to, 1); }

RT_KERNEL blocks_of_floats(const f32* from, f32* to) {
  contract<8, 4, true>(block_call(nullptr), extents(), extents(), c<150>, c<80>, c<72>,
                       matrix_a(from, strides(), 72, strides()), packed_b(from + 150 * 72, strides()),
                       [&](auto acc, i64 row, auto col)
                           RT_INLINE { to[row * 80 + col] = acc + static_cast<f32>(col); });
}
