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
constexpr float kBehind = 12345;                   // behind scratch
constexpr i64 kBatch = 2;

struct Extent {  // of an axis of the output, with room for whole tiles
  i64 outputs, dilation = 1;
  i64 inputs(i64 stride) const {
    const rt::WinogradAxis axis = rt::winograd_axis(stride);
    return stride ? (rt::winograd_tiles(axis, outputs, dilation) * axis.tile - 1) * stride + 2 * dilation + 1 : 1;
  }
};

template <int Down, int Across>
struct Convolution {  // of kBatch images
  static constexpr rt::WinogradAxis kDown = rt::winograd_axis(Down), kAcross = rt::winograd_axis(Across);
  static constexpr i64 kTaps = kDown.taps * kAcross.taps;
  Extent down, across;
  i64 n, k;
  i64 height = down.outputs, width = across.outputs, pitch = n + 3, row = across.inputs(Across) * k,
      image = down.inputs(Down) * row;
  Floats a_values = small_integers(kBatch * image, 1), taps = small_integers(kTaps * k * n, 2);
  Floats want = Floats(kBatch * height * width * pitch + rt::kPanel, kBefore),
         packed = Floats(rt::packed_b_elements(n, kTaps* k));
  Guarded<float> a{a_values};
  static constexpr unsigned kDenormalFlag = 2;  // of MXCSR: an operand was denormal
  mutable bool took_denormals = false;

  Convolution(Extent h, Extent w, i64 columns, i64 channels) : down(h), across(w), n(columns), k(channels) {
    const auto tap = [&](i64 y, i64 x, i64 c, i64 col) { return taps[((y * kAcross.taps + x) * k + c) * n + col]; };
    rt::pack_b(packed.data(), n, kTaps * k, [&](i64 term, i64 col) {
      return tap(term % kTaps / kAcross.taps, term % kAcross.taps, term / kTaps, col);
    });
    for (i64 b = 0; b < kBatch; ++b)
      for (i64 p = 0; p < height * width; ++p)
        for (i64 t = 0; t < kTaps; ++t) {
          const i64 y = p / width * Down + t / kAcross.taps * down.dilation,
                    x = p % width * Across + t % kAcross.taps * across.dilation;
          for (i64 c = 0; c < k; ++c)
            for (i64 col = 0; col < n; ++col)
              want[(b * height * width + p) * pitch + col] +=
                  a_values[b * image + y * row + x * k + c] * tap(t / kAcross.taps, t % kAcross.taps, c, col);
        }
  }
  std::string text() const {
    const auto of = [](int stride, const Extent& e) {
      return std::to_string(e.outputs) + " by " + std::to_string(stride) + " every " + std::to_string(e.dilation);
    };
    return of(Down, down) + ", " + of(Across, across) + " n=" + std::to_string(n) + " k=" + std::to_string(k);
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
    const auto add = [this, out](i64 point, auto acc, auto col) __attribute__((always_inline)) {
      const auto at = rt::add(point * pitch, col);
      rt::store(out, at, rt::add(acc, rt::load(out, at)));
    };
    if constexpr (Down == 0)
      return [this, add](auto acc, i64 b, i64 x, auto col)
                 __attribute__((always_inline)) { add(b * width + x, acc, col); };
    else
      return [this, add](auto acc, i64 b, i64 y, i64 x, auto col)
                 __attribute__((always_inline)) { add((b * height + y) * width + x, acc, col); };
  }
  auto source() const { return rt::image(a.data(), rt::strides(image), row, k, down.dilation, across.dilation); }
  template <int MR, int NV, int Tiles, bool Kept = false>
  __attribute__((noinline)) Floats run(int chunks) const {
    constexpr i64 kPoints = kDown.points * kAcross.points;
    const i64 weights = Kept ? kPoints * rt::winograd_kept_pitch(n, k)
                             : rt::winograd_row_elements(kDown, kAcross, Tiles, NV, k),
              elements = rt::winograd_block_elements(kPoints, Tiles, NV, k) + weights;
    Floats got(want.size(), kBefore), scratch(elements + 2 * rt::kPanel, kDenormal);
    float* const aligned = scratch.data() + (64 - reinterpret_cast<uintptr_t>(scratch.data()) % 64) / 4;
    aligned[elements] = kBehind;
    __builtin_ia32_ldmxcsr(__builtin_ia32_stmxcsr() & ~kDenormalFlag);
    for (int thread = 0; thread < 2; ++thread) {             // one after the other, each with every other chunk
      if (thread == 1) std::fill_n(aligned, elements, 0.f);  // as if it held block 0
      in_chunks(chunks, aligned, [&](rt::Call call) {
        if (call.chunk % 2 != thread) return;
        call.again = call.chunk > 1;
        rt::winograd<MR, NV, Down, Across>(call, rt::c<Tiles>, rt::extents(kBatch), height, width, n, k, source(),
                                           rt::taps<Kept>(packed.data()), epilogue(got.data()));
      });
    }
    took_denormals |= __builtin_ia32_stmxcsr() & kDenormalFlag;
    if (aligned[elements] != kBehind) got[0] = kBehind;
    return got;
  }
  std::string naive() const {
    Floats got(want.size(), kBefore);
    in_chunks(2, nullptr, [&](const rt::Call& call) {
      rt::winograd_naive<Down, Across>(call, rt::extents(kBatch), height, width, n, k, source(),
                                       rt::taps<false>(packed.data()), epilogue(got.data()));
    });
    return compare(got, " naive");
  }
};

std::string edges() {  // tiles that are not full, and blocks
  for (i64 height : {4, 5, 7, 8})
    for (i64 width : {4, 6, 9, 13}) {
      const Convolution<1, 1> c({height}, {width}, 20, 16);
      if (auto d = first_of(
              {c.naive(), c.compare(c.run<2, 1, 2>(1), " 2x1 of 2"), c.compare(c.run<4, 2, 8>(1), " 4x2 of 8")});
          !d.empty())
        return d;
    }
  return "";
}
template <int Down, int Across>
std::string of_strides(std::initializer_list<i64> dilations) {
  for (i64 height : {4, 7})
    for (i64 width : {4, 9, 13})
      for (i64 dilation : dilations) {
        const Convolution<Down, Across> c({Down ? height * dilation - dilation / 2 : 1, Down ? dilation : 1},
                                          {width * dilation + dilation / 2, dilation}, 20, 70);
        if (auto d = first_of({c.naive(), c.compare(c.template run<4, 2, 8>(1), " 4x2 of 8"),
                               c.compare(c.template run<2, 1, 4, true>(3), " 2x1 of 4 kept")});
            !d.empty())
          return d;
      }
  return "";
}
std::string strides() {
  return first_of({of_strides<0, 1>({1, 2, 3, 8}), of_strides<0, 2>({1}), of_strides<1, 1>({2, 3}),
                   of_strides<1, 2>({1}), of_strides<2, 1>({1}), of_strides<2, 2>({1})});
}
std::string channels() {  // and columns, that no vector divides
  for (i64 n : {1, 15, 16, 40, 65})
    for (i64 k : {16, 17, 24, 31, 100, 300}) {
      const Convolution<1, 1> c({6}, {8}, n, k);
      if (auto d = first_of({c.naive(), c.compare(c.run<3, 2, 6>(1), " 3x2 of 6"),
                             c.compare(c.run<4, 2, 28>(1), " 4x2 of 28"),
                             c.compare(c.run<2, 3, 4, true>(1), " 2x3 of 4 kept")});
          !d.empty())
        return d;
    }
  return "";
}
std::string chunks() {  // bitwise the same
  const Convolution<1, 1> c({11}, {14}, 100, 48);
  const Floats whole = c.run<2, 3, 4>(1);
  if (auto d = c.compare(whole, " whole"); !d.empty()) return d;
  for (int count : {2, 3, 7, 50})
    if (auto d = first_of({difference(whole, c.run<2, 3, 4>(count), " in " + std::to_string(count) + " chunks"),
                           difference(whole, c.run<2, 3, 4, true>(count), " kept, in " + std::to_string(count))});
        !d.empty())
      return d;
  return difference(whole, c.run<4, 1, 12>(3), " by another tile");
}

}  // namespace

extern const Cases CASES_NAME{CASES_TARGET, runs_here, edges, strides, channels, chunks};

}  // namespace winograd_cases
