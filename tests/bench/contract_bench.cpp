// GFLOP/s of the Contract family on the shapes of BERT, ResNet and a decoder, as ratios to the fused multiply-add peak
// that is measured between the runs (machines are shared and clocks move). One program for each instruction set:
// `bench_contract_v4 [part of a name]`.
#include <sys/mman.h>
#include <time.h>

#include <algorithm>
#include <cstdio>
#include <cstring>

#include "runtime/kernels/contract.h"

using rt::i64;

constexpr rt::Tile split(rt::Tile t) {
  constexpr i64 kInFlight = 8;  // two FMAs a cycle, of four cycles each
  t.splits = rt::splits_of(t, rt::kVectorBytes, kInFlight);
  return t;
}
constexpr rt::Tile tile_of(i64 m, i64 n) {
#ifdef CONTRACT_TILE  // to try another one: -DCONTRACT_TILE=8,3
  constexpr rt::Tile limit{CONTRACT_TILE};
  return split({static_cast<int>(rt::even_part(m, limit.rows)),
                static_cast<int>(rt::even_part(rt::panels_of(n), limit.vectors))});
#else
  return split(rt::contract_tile(rt::kVectorBytes, rt::kVectorBytes == 64 ? 32 : 16, m, n));
#endif
}

namespace {

double now() {  // of this thread: what other programs take does not count, only what they leave in the caches
  timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

float* allocate(i64 floats) {  // huge pages, as the arena has them
  const size_t bytes = (static_cast<size_t>(floats) * 4 + (2 << 20)) >> 21 << 21;
  char* p =
      static_cast<char*>(mmap(nullptr, bytes + (2 << 20), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  p += -reinterpret_cast<size_t>(p) & ((2 << 20) - 1);
  madvise(p, bytes, MADV_HUGEPAGE);
  float* f = reinterpret_cast<float*>(p);
  for (i64 i = 0; i < floats; ++i) f[i] = 1e-3f * static_cast<float>(i % 17 - 8);
  return f;
}

using Register = rt::vec<float, rt::kVectorBytes / 4>;
constexpr int kPeakChains = rt::kVectorBytes == 64 ? 24 : 12;
constexpr i64 kPeakSteps = 40000;
constexpr double kPeakFlops = 2.0 * kPeakSteps * kPeakChains * rt::kLanes<Register>;

__attribute__((noinline)) float spin() {  // as many independent chains as a tile has
  Register acc[kPeakChains] = {}, x = rt::splat<Register>(0.999f), y = rt::splat<Register>(1e-8f);
  asm volatile("" : "+x"(x), "+x"(y));
#pragma GCC unroll 1
  for (i64 i = 0; i < kPeakSteps; ++i)
#pragma GCC unroll 32
    for (int c = 0; c < kPeakChains; ++c) acc[c] = rt::fma(x, acc[c], y);
  float s = 0;
  for (Register& a : acc) s += a[0];
  return s;
}

volatile float g_sink;
const char* g_filter = "";
const float *g_a, *g_b, *g_bias;
float *g_out, *g_scratch;

void measure(const char* name, int rows, int vectors, double flops, double bytes, void (*kernel)(const rt::Call&)) {
  if (!std::strstr(name, g_filter)) return;
  const rt::Call call{nullptr, g_scratch, 0, 1};
  double best = 1e9, peak = 1e9;
  kernel(call);
  const int times = 1 + static_cast<int>(5e6 / flops);
  for (double start = now(); now() - start < 0.4;) {
    const double a = now();
    g_sink = spin();
    const double b = now();
    for (int i = 0; i < times; ++i) kernel(call);
    const double c = now();
    peak = std::min(peak, b - a);
    best = std::min(best, (c - b) / times);
  }
  const double of_peak = flops / best / (kPeakFlops / peak);
  std::printf("%-28s %2dx%d %9.1f us %7.1f GFLOP/s %6.3f of peak", name, rows, vectors, best * 1e6, flops / best * 1e-9,
              of_peak);
  if (bytes > 0) std::printf(" %6.1f GB/s", bytes / best * 1e-9);
  std::printf("\n");
}

template <i64 M, i64 N, i64 K>
void gemm(const char* name) {
  static constexpr rt::Tile kTile = tile_of(M, N);
  measure(name, kTile.rows, kTile.vectors, 2.0 * M * N * K, M < 8 ? 4.0 * N * K : 0, [](const rt::Call& call) {
    const float *a = g_a, *b = g_b, *bias = g_bias;
    float* out = g_out;
    rt::contract<kTile.rows, kTile.vectors, false, kTile.splits>(
        call, rt::extents(), rt::extents(), M, N, K, rt::matrix_a(a, rt::strides(), K, rt::strides()),
        rt::packed_b(b, rt::strides()), [&](auto acc, i64 row, auto col) __attribute__((always_inline)) {
          rt::store(out, rt::add(row * N, col), rt::max(rt::add(acc, rt::load(bias, col)), 0.f));
        });
  });
}

template <i64 Out, i64 Kernel, i64 Stride, i64 In, i64 N>
void conv(const char* name) {
  static constexpr rt::Tile kTile = tile_of(Out, N);
  measure(name, kTile.rows, kTile.vectors, 2.0 * Out * Out * N * Kernel * Kernel * In, 0, [](const rt::Call& call) {
    constexpr i64 kRow = ((Out - 1) * Stride + Kernel) * In;
    const float *a = g_a, *b = g_b, *bias = g_bias;
    float* out = g_out;
    rt::contract<kTile.rows, kTile.vectors, false, kTile.splits>(
        call, rt::extents(1l, Out), rt::extents(Kernel), Out, N, Kernel * In,
        rt::matrix_a(a, rt::strides(kRow, kRow * Stride), Stride * In, rt::strides(kRow)),
        rt::packed_b(b, rt::strides(0l, 0l)),
        [&](auto acc, i64, i64 y, i64 x, auto col) __attribute__((always_inline)) {
          rt::store(out, rt::add((y * Out + x) * N, col), rt::max(rt::add(acc, rt::load(bias, col)), 0.f));
        });
  });
}

// One of the two products of attention, all heads: B is computed and strided.
template <i64 Heads, i64 M, i64 N, i64 K, i64 KStride, i64 NStride>
void attention(const char* name) {
  static constexpr rt::Tile kTile = tile_of(M, N);
  measure(name, kTile.rows, kTile.vectors, 2.0 * Heads * M * N * K, M < 8 ? 4.0 * Heads * N * K : 0,
          [](const rt::Call& call) {
            const float *a = g_a, *b = g_b;
            float* out = g_out;
            rt::contract<kTile.rows, kTile.vectors, false, kTile.splits>(
                call, rt::extents(Heads), rt::extents(), M, N, K, rt::matrix_a(a, rt::strides(M * K), K, rt::strides()),
                rt::strided_b(b, rt::strides(N * K), KStride, NStride),
                [&](auto acc, i64 head, i64 row, auto col)
                    __attribute__((always_inline)) { rt::store(out, rt::add((head * M + row) * N, col), acc); });
          });
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1) g_filter = argv[1];
  g_a = allocate(8 << 20), g_b = allocate(16 << 20), g_bias = allocate(1 << 16);
  g_out = allocate(8 << 20), g_scratch = allocate(1 << 20);
  gemm<128, 768, 768>("bert 128x768x768");
  gemm<128, 3072, 768>("bert 128x3072x768");
  gemm<128, 768, 3072>("bert 128x768x3072");
  gemm<1024, 1024, 1024>("square 1024");
  gemm<2048, 3072, 768>("batch 2048x3072x768");
  gemm<3136, 256, 64>("1x1 3136x256x64");
  gemm<3136, 64, 256>("1x1 3136x64x256");
  gemm<784, 128, 512>("1x1 784x128x512");
  gemm<784, 512, 128>("1x1 784x512x128");
  gemm<196, 256, 1024>("1x1 196x256x1024");
  gemm<196, 1024, 256>("1x1 196x1024x256");
  gemm<49, 512, 2048>("1x1 49x512x2048");
  gemm<49, 2048, 512>("1x1 49x2048x512");
  conv<56, 3, 1, 64, 64>("3x3 56x56x64");
  conv<28, 3, 1, 128, 128>("3x3 28x28x128");
  conv<14, 3, 1, 256, 256>("3x3 14x14x256");
  conv<7, 3, 1, 512, 512>("3x3 7x7x512");
  conv<28, 3, 2, 128, 128>("3x3 s2 28x28x128");
  conv<112, 7, 2, 3, 64>("stem 7x7 s2 3->64");
  conv<24, 5, 1, 1, 6>("lenet 5x5 1->6");
  gemm<64, 10, 84>("tail 64x10x84");
  gemm<32, 1000, 512>("tail 32x1000x512");
  gemm<1, 768, 3072>("gemv 1x768x3072");
  gemm<1, 3072, 768>("gemv 1x3072x768");
  gemm<2, 3072, 768>("gemv 2x3072x768");
  gemm<4, 3072, 768>("gemv 4x3072x768");
  gemm<1, 768, 512>("gemv 1x768x512 warm");
  attention<12, 128, 128, 64, 1, 64>("q k^T 12x128x128x64");
  attention<12, 128, 64, 128, 64, 1>("p v 12x128x64x128");
  attention<12, 1, 512, 64, 1, 64>("q k^T 12x1x512x64");
  attention<12, 1, 64, 512, 64, 1>("p v 12x1x64x512");
}
