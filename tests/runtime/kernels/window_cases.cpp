// Window against its own specification, on floats that are small integers; and both against a plain fold, for pools of
// bytes. Each epilogue adds to what is there, so that an element stored twice or never shows, and rows are wider than
// kColumns, so that a surplus lane shows.
#include "tests/runtime/kernels/window_cases.h"

#include <vector>

#include "runtime/kernels/window.h"
#include "tests/runtime/kernels/cases.h"

namespace window_cases {
namespace {

// A fold of 3 rows by kTaps columns over an image of channels, against the specification; rows are kStride apart.
template <int MR, rt::FoldKind K, bool Written, i64 kRows, i64 kColumns, i64 kTaps, i64 kStride>
std::string window_one() {
  constexpr i64 kHeight = 4, kWide = (kRows - 1) * kStride + kTaps, kPitch = kColumns + kGap;
  const Floats x = small_integers((kHeight + 2) * kWide * kColumns, 9), w = small_integers(3 * kTaps * kColumns, 10);
  const Guarded image(x), weights(w);
  const auto step = [&](auto acc, i64 y, i64 row, auto col, i64 ky, i64 kx) __attribute__((always_inline)) {
    const auto a = rt::load(image.data(), rt::add(((y + ky) * kWide + row * kStride + kx) * kColumns, col));
    const auto b = rt::load(weights.data(), rt::add((ky * kTaps + kx) * kColumns, col));
    return K == rt::FoldKind::Sum ? rt::fma(a, b, acc) : rt::max(acc, rt::add(a, b));
  };
  enum class Form { Naive, OfConstants, OfSizes };
  const auto run = [&](int chunks, Form form) {
    Floats y(kHeight * kRows * kPitch, 0.5f);
    const auto keep = [&](auto acc, i64 i, i64 row, auto col) __attribute__((always_inline)) {
      const auto at = rt::add((i * kRows + row) * kPitch, col);
      rt::store(y.data(), at, rt::add(acc, rt::load(y.data(), at)));
    };
    in_chunks(chunks, nullptr, [&](const rt::Call& call) {
      const auto height = rt::extents(kHeight), taps = rt::extents(i64{3});
      if (form == Form::Naive)
        rt::window_naive<K>(call, height, taps, kRows, kColumns, kTaps, step, keep);
      else if (form == Form::OfConstants)
        rt::window<MR, K, Written>(call, height, taps, rt::c<kRows>, rt::c<kColumns>, rt::c<kTaps>, step, keep);
      else
        rt::window<MR, K, Written>(call, height, taps, kRows, kColumns, rt::c<kTaps>, step, keep);
    });
    return y;
  };
  const std::string what = "window of " + std::to_string(kRows) + " rows, " + std::to_string(kColumns) + " columns";
  const Floats want = run(1, Form::Naive);
  for (int chunks : {1, 3})
    for (Form form : {Form::OfConstants, Form::OfSizes})
      if (auto d = difference(want, run(chunks, form), what); !d.empty()) return d;
  return "";
}
std::string windows() {
  for (std::string d :
       {window_one<4, rt::FoldKind::Sum, true, 7, 16, 3, 1>(), window_one<4, rt::FoldKind::Sum, false, 7, 16, 3, 1>(),
        window_one<8, rt::FoldKind::Sum, true, 13, 31, 5, 2>(), window_one<3, rt::FoldKind::Max, true, 5, 7, 2, 2>(),
        window_one<2, rt::FoldKind::Max, false, 2, 40, 9, 1>()})
    if (!d.empty()) return d;
  return "";
}

// A pool of bytes, as above; nothing may be read behind the last column of the last window.
template <class T, int MR, rt::FoldKind K, bool Written, i64 kRows, i64 kColumns, i64 kTaps, i64 kStride>
std::string pool_one() {
  constexpr i64 kHeight = 2, kWide = (kRows - 1) * kStride + kTaps, kPitch = kColumns + kGap;
  std::vector<T> x((kHeight + 2) * kWide * kColumns);
  unsigned seed = 9;
  for (T& v : x) v = static_cast<T>((seed = seed * 1664525u + 1013904223u) >> 24);
  const Guarded<T> image(x);
  const auto step = [&](auto acc, i64 y, i64 row, auto col, i64 ky, i64 kx) __attribute__((always_inline)) {
    const auto a = rt::load(image.data(), rt::add(((y + ky) * kWide + row * kStride + kx) * kColumns, col));
    if constexpr (K == rt::FoldKind::Max) return rt::max(acc, a);
    if constexpr (K == rt::FoldKind::Min) return rt::min(acc, a);
  };
  std::vector<int> want(kHeight * kRows * kPitch, 5);
  for (i64 y = 0; y < kHeight; ++y)
    for (i64 row = 0; row < kRows; ++row)
      for (i64 col = 0; col < kColumns; ++col) {
        T best = x[(y * kWide + row * kStride) * kColumns + col];
        for (i64 ky = 0; ky < 3; ++ky)
          for (i64 kx = 0; kx < kTaps; ++kx) {
            const T a = x[((y + ky) * kWide + row * kStride + kx) * kColumns + col];
            if (K == rt::FoldKind::Max ? a > best : a < best) best = a;
          }
        want[(y * kRows + row) * kPitch + col] += best;
      }
  const auto run = [&](int chunks, auto window) {
    std::vector<int> y(want.size(), 5);
    const auto keep = [&](auto acc, i64 i, i64 row, auto col) __attribute__((always_inline)) {
      const auto at = rt::add((i * kRows + row) * kPitch, col);
      rt::store(y.data(), at, rt::add(rt::cast<rt::i32>(acc), rt::load(y.data(), at)));
    };
    in_chunks(chunks, nullptr, [&](const rt::Call& call) { window(call, keep); });
    return y;
  };
  const auto height = rt::extents(kHeight), taps = rt::extents(i64{3});
  const auto naive = [&](const rt::Call& call, auto keep) {
    rt::window_naive<K, T>(call, height, taps, kRows, kColumns, kTaps, step, keep);
  };
  const auto of_constants = [&](const rt::Call& call, auto keep) {
    rt::window<MR, K, Written, T>(call, height, taps, rt::c<kRows>, rt::c<kColumns>, rt::c<kTaps>, step, keep);
  };
  const auto of_sizes = [&](const rt::Call& call, auto keep) {
    rt::window<MR, K, Written, T>(call, height, taps, kRows, kColumns, rt::c<kTaps>, step, keep);
  };
  const std::string what = "pool of " + std::to_string(kRows) + " rows, " + std::to_string(kColumns) + " columns";
  if (run(1, naive) != want) return what + ", naive";
  for (int chunks : {1, 3}) {
    if (run(chunks, of_constants) != want) return what;
    if (run(chunks, of_sizes) != want) return what + " that only a run knows";
  }
  return "";
}
std::string pools_of_bytes() {
  for (std::string d : {pool_one<rt::u8, 4, rt::FoldKind::Max, true, 7, 64, 3, 1>(),
                        pool_one<rt::i8, 8, rt::FoldKind::Max, true, 9, 131, 2, 2>(),
                        pool_one<rt::i8, 3, rt::FoldKind::Min, false, 5, 47, 5, 1>(),
                        pool_one<rt::u8, 2, rt::FoldKind::Min, false, 3, 5, 2, 3>()})
    if (!d.empty()) return d;
  return "";
}

}  // namespace

extern const Cases CASES_NAME{CASES_TARGET, runs_here, windows, pools_of_bytes};

}  // namespace window_cases
