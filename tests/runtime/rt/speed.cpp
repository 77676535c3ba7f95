// Prints cycles for 16 elements of each math function, fused between a load and a store, on this machine. Cycles are
// counted by a chain of dependent additions, so the clock's frequency does not matter. Built by clang for the machine
// itself, as kernels are. Figures to reach with AVX-512: exp 11, SiLU 16, erf_plus_one (most of GELU) 24.
#include <algorithm>
#include <chrono>
#include <cstdio>

#include "runtime/rt/math.h"

constexpr int kCount = 4096;
alignas(64) float f32_in[kCount], f32_out[kCount];
alignas(64) double f64_in[kCount], f64_out[kCount];

namespace {

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

template <class F>
double best_of(int rounds, F f) {
  double best = 1e9;
  for (int r = 0; r < rounds; ++r) {
    const double start = now();
    f();
    best = std::min(best, now() - start);
  }
  return best;
}

double seconds_a_cycle() {
  long x = 0;
  return best_of(20,
                 [&] {
                   for (int i = 0; i < 100000; ++i) {
#if defined(__x86_64__)
                     asm volatile("add $1, %0\nadd $1, %0\nadd $1, %0\nadd $1, %0\nadd $1, %0" : "+r"(x));
#else
             asm volatile("" : "+r"(x));
             x += 1;
#endif
                   }
                 }) /
         5e5;
}

template <class T, class F>
double cycles(const T* in, T* out, F f) {
  constexpr int w = 16;
  const double s = best_of(200, [&] {
    for (int i = 0; i < kCount; i += w) {
      rt::vec<T, w> v = *reinterpret_cast<const rt::vec<T, w>*>(in + i);
      *reinterpret_cast<rt::vec<T, w>*>(out + i) = f(v);
    }
    asm volatile("" ::: "memory");
  });
  return s / seconds_a_cycle() / (kCount / 16);
}

template <class F>
void print(const char* name, F f) {
  std::printf("  %-10s f32 %6.1f   f64 %6.1f\n", name, cycles(f32_in, f32_out, f), cycles(f64_in, f64_out, f));
}

}  // namespace

#define PRINT(name) print(#name, [](auto x) RT_INLINE { return rt::name(x); })

int main() {
  for (int i = 0; i < kCount; ++i) f64_in[i] = f32_in[i] = static_cast<float>(i - kCount / 2) * 0.004f + 0.001f;
  std::puts("cycles for 16 elements:");
  print("relu", [](auto x) RT_INLINE { return rt::max(x, 0); });
  print("silu", [](auto x) RT_INLINE { return rt::sigmoid_product(x, x); });
  print("pow 1.7", [](auto x) RT_INLINE { return rt::pow(rt::abs(x), static_cast<rt::element_of<decltype(x)>>(1.7)); });
  PRINT(erf_plus_one);
  PRINT(tanh_plus_one);
  PRINT(sigmoid);
  PRINT(softplus);
  PRINT(exp);
  PRINT(exp_flush);
  PRINT(exp2);
  PRINT(exp2_flush);
  PRINT(expm1);
  PRINT(log);
  PRINT(log2);
  PRINT(log1p);
  PRINT(tanh);
  PRINT(sinh);
  PRINT(cosh);
  PRINT(asinh);
  PRINT(erf);
  PRINT(erfc);
  PRINT(sin);
  PRINT(cos);
  PRINT(tan);
  PRINT(asin);
  PRINT(acos);
  PRINT(atan);
  PRINT(sqrt);
  PRINT(rsqrt);
  PRINT(floor);
  PRINT(round);
}
