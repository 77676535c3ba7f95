// Winograd against its own specification, and that against a plain sum of the taps. Sums round, so each may be off by a
// few units in the last place of the largest output. Each epilogue adds to what is there, so that an element stored
// twice or never shows, and rows are wider than n, so that a surplus lane shows.
#include "tests/runtime/kernels/winograd_cases.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <initializer_list>

#include "runtime/kernels/winograd.h"
#include "tests/runtime/kernels/cases.h"

namespace winograd_cases {
namespace {

constexpr float kBefore = -5, kDenormal = 1e-41f;  // the second in scratch: nothing may be computed with it
constexpr i64 kBatch = 2;

struct Convolution {  // of kBatch images with room for whole tiles
  i64 height, width, n, k;
  i64 pitch = n + 3, row = (rt::round_up_div(width, 4) * 4 + 2) * k,
      image = (rt::round_up_div(height, 4) * 4 + 2) * row;
  Floats a_values = small_integers(kBatch * image, 1), taps = small_integers(9 * k * n, 2);
  Floats want = Floats(kBatch * height * width * pitch + rt::kPanel, kBefore),
         packed = Floats(rt::winograd_weight_elements(n, k));
  Guarded<float> a{a_values};
  static constexpr unsigned kDenormalFlag = 2;  // of MXCSR: an operand was denormal
  mutable bool took_denormals = false;

  Convolution(i64 h, i64 w, i64 columns, i64 channels) : height(h), width(w), n(columns), k(channels) {
    const auto tap = [&](i64 y, i64 x, i64 c, i64 col) { return taps[((y * 3 + x) * k + c) * n + col]; };
    rt::pack_winograd(packed.data(), n, k, tap);
    for (i64 b = 0; b < kBatch; ++b)
      for (i64 p = 0; p < height * width; ++p)
        for (i64 t = 0; t < 9 * k; ++t)
          for (i64 col = 0; col < n; ++col)
            want[(b * height * width + p) * pitch + col] +=
                a_values[b * image + (p / width + t / k / 3) * row + (p % width + t / k % 3) * k + t % k] *
                tap(t / k / 3, t / k % 3, t % k, col);
  }
  std::string text() const {
    return std::to_string(height) + "x" + std::to_string(width) + " n=" + std::to_string(n) + " k=" + std::to_string(k);
  }
  std::string compare(const Floats& got, const std::string& what) const {
    if (took_denormals) return text() + what + ": computes with what stood in scratch";
    float largest = 0;
    for (float v : want) largest = std::max(largest, std::abs(v));
    for (size_t i = 0; i < want.size(); ++i)
      if (!(std::abs(want[i] - got[i]) <= 4e-6f * largest))
        return text() + what + ": element " + std::to_string(i) + " is " + std::to_string(got[i]) + ", not " +
               std::to_string(want[i]);
    return "";
  }
  auto epilogue(float* out) const {
    return [this, out](auto acc, i64 b, i64 y, i64 x, auto col) __attribute__((always_inline)) {
      const auto at = rt::add(((b * height + y) * width + x) * pitch, col);
      rt::store(out, at, rt::add(acc, rt::load(out, at)));
    };
  }
  template <int MR, int NV, int Tiles>
  __attribute__((noinline)) Floats run(int chunks) const {
    Floats got(want.size(), kBefore), scratch(rt::winograd_scratch_bytes(Tiles, NV, k) / 4 + rt::kPanel, kDenormal);
    float* const aligned = scratch.data() + (64 - reinterpret_cast<uintptr_t>(scratch.data()) % 64) / 4;
    __builtin_ia32_ldmxcsr(__builtin_ia32_stmxcsr() & ~kDenormalFlag);
    in_chunks(chunks, aligned, [&](const rt::Call& call) {
      rt::winograd<MR, NV, Tiles>(call, rt::extents(kBatch), height, width, n, k,
                                  rt::image(a.data(), rt::strides(image), row, k), packed.data(), epilogue(got.data()));
    });
    took_denormals |= __builtin_ia32_stmxcsr() & kDenormalFlag;
    return got;
  }
  std::string naive() const {
    Floats got(want.size(), kBefore);
    in_chunks(2, nullptr, [&](const rt::Call& call) {
      rt::winograd_naive(call, rt::extents(kBatch), height, width, n, k,
                         rt::image(a.data(), rt::strides(image), row, k), packed.data(), epilogue(got.data()));
    });
    return compare(got, " naive");
  }
};

std::string first_of(std::initializer_list<std::string> differences) {
  for (const std::string& d : differences)
    if (!d.empty()) return d;
  return "";
}

std::string edges() {  // tiles that are not full, and blocks
  for (i64 height : {4, 5, 7, 8})
    for (i64 width : {4, 6, 9, 13}) {
      const Convolution c(height, width, 20, 16);
      if (auto d = first_of(
              {c.naive(), c.compare(c.run<2, 1, 2>(1), " 2x1 of 2"), c.compare(c.run<4, 2, 8>(1), " 4x2 of 8")});
          !d.empty())
        return d;
    }
  return "";
}
std::string channels() {  // and columns, that no vector divides
  for (i64 n : {1, 15, 16, 40, 65})
    for (i64 k : {16, 17, 24, 31, 100}) {
      const Convolution c(6, 8, n, k);
      if (auto d = first_of({c.naive(), c.compare(c.run<3, 2, 6>(1), " 3x2 of 6")}); !d.empty()) return d;
    }
  return "";
}
std::string chunks() {  // bitwise the same
  const Convolution c(11, 14, 33, 48);
  const Floats whole = c.run<2, 3, 4>(1);
  if (auto d = c.compare(whole, " whole"); !d.empty()) return d;
  for (int count : {2, 3, 7, 50})
    if (auto d = difference(whole, c.run<2, 3, 4>(count), " in " + std::to_string(count) + " chunks"); !d.empty())
      return d;
  return difference(whole, c.run<4, 1, 12>(3), " by another tile");
}

}  // namespace

extern const Cases CASES_NAME{CASES_TARGET, runs_here, edges, channels, chunks};

}  // namespace winograd_cases
