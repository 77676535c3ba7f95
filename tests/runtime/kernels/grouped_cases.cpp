// Grouped against its own specification, and that against a plain sum, on small integers: every sum is exact, so any
// order of it is equal. Each epilogue adds to what is there, so that an element stored twice or never shows, and rows
// are wider than the groups' columns, so that a surplus lane shows.
#include "tests/runtime/kernels/grouped_cases.h"

#include "runtime/kernels/grouped.h"
#include "tests/runtime/kernels/cases.h"

namespace grouped_cases {
namespace {

// Two panels of `Groups` groups each: Out columns and In elements a group. `Segments` runs of the window's taps.
template <int Groups, int Out, int In, int Rows, int Segments, class Window>
struct Convolution {
  static constexpr i64 kPanels = 2, kColumns = Groups * Out, kChannels = kPanels * Groups * In, kTaps = Window::kTaps;
  static constexpr i64 kRow = Window::kRowStep * kChannels, kTap = Window::kTapStep * kChannels,
                       kSegment = Rows * kRow + kTaps * kTap + 1, kTerms = Segments * kTaps * In,
                       kPitch = kPanels * kColumns + 3;
  Floats a_values = small_integers((Segments - 1) * kSegment + (Rows - 1) * kRow + (kTaps - 1) * kTap + kChannels, 1);
  Floats b_values = small_integers(kPanels * kTerms * kColumns, 2);
  Floats want = Floats(Rows * kPitch, -5.f), packed;
  Guarded<float> a{a_values};

  Convolution() {
    for (i64 p = 0; p < kPanels; ++p) {
      const auto b = b_values.begin() + p * kTerms * kColumns;
      const Floats panel = pack(Floats(b, b + kTerms * kColumns), kColumns, kTerms);
      packed.insert(packed.end(), panel.begin(), panel.end());
      for (i64 row = 0; row < Rows; ++row)
        for (i64 col = 0; col < kColumns; ++col)
          for (i64 t = 0; t < kTerms; ++t)
            want[row * kPitch + p * kColumns + col] +=
                a_values[row * kRow + t / In / kTaps * kSegment + t / In % kTaps * kTap +
                         (p * Groups + col / Out) * In + t % In] *
                b[t * kColumns + col];
    }
  }
  template <class F>
  Floats run(int chunks, F call_of) const {
    Floats got(want.size(), -5.f);
    const Guarded weights(packed);
    const auto keep = [&](auto acc, i64 p, i64 row, auto col) __attribute__((always_inline)) {
      const auto at = rt::add(row * kPitch + p * kColumns, col);
      rt::store(got.data(), at, rt::add(acc, rt::load(got.data(), at)));
    };
    in_chunks(chunks, nullptr, [&](const rt::Call& call) {
      call_of(call, Window{}, rt::extents(kPanels), rt::extents(i64{Segments}), rt::c<Rows>, rt::c<kColumns>, rt::c<In>,
              rt::matrix_a(a.data(), rt::strides(i64{Groups} * In), kRow, rt::strides(kSegment)),
              rt::packed_b(weights.data(), rt::strides(rt::packed_b_elements(kColumns, kTerms))), keep);
    });
    return got;
  }
};

template <int MR, bool InRegisters, int Groups, int Out, int In, int Rows, int Segments, int Taps = 1, int RowStep = 1,
          int TapStep = 1>
__attribute__((noinline)) std::string one() {
  const Convolution<Groups, Out, In, Rows, Segments, rt::GroupWindow<Out, Taps, RowStep, TapStep>> c;
  const std::string what = std::to_string(Groups) + " groups of " + std::to_string(Out) + " by " + std::to_string(In) +
                           ", " + std::to_string(Taps) + " taps, " + std::to_string(Rows) + " rows";
  const auto naive = [](auto... arguments) { rt::grouped_naive(arguments...); };
  const auto tiled = [](auto... arguments) { rt::grouped<MR, InRegisters>(arguments...); };
  if (auto d = difference(c.want, c.run(2, naive), what + ", naive"); !d.empty()) return d;
  for (int chunks : {1, 3})
    if (auto d = difference(c.want, c.run(chunks, tiled), what); !d.empty()) return d;
  return "";
}

std::string widths() {  // of groups, and panels that are not full
  return first_of({one<5, true, 8, 2, 2, 13, 3, 3>(), one<5, true, 4, 4, 4, 13, 3, 3>(),
                   one<5, true, 2, 8, 8, 13, 2, 3>(), one<4, true, 4, 4, 2, 9, 3>(), one<4, true, 2, 4, 8, 9, 3, 3>(),
                   one<3, true, 2, 2, 2, 4, 1, 5>(), one<3, true, 2, 4, 1, 7, 2, 3>(), one<1, true, 4, 2, 4, 1, 3>()});
}
std::string steps() {  // of strides and dilations
  return first_of({one<6, true, 4, 4, 4, 11, 2, 3, 2, 1>(), one<6, true, 4, 4, 4, 11, 2, 3, 1, 2>(),
                   one<4, true, 2, 8, 8, 7, 2, 2, 3, 2>(), one<7, true, 8, 2, 2, 14, 2, 5, 2, 3>()});
}
std::string long_sums() {  // kept in blocks
  return first_of({one<6, false, 4, 4, 4, 15, 40, 3>(), one<6, false, 2, 4, 4, 15, 33, 1>(),
                   one<4, false, 2, 8, 8, 9, 3, 7, 2, 1>()});
}

}  // namespace

extern const Cases CASES_NAME{CASES_TARGET, runs_here, widths, steps, long_sums};

}  // namespace grouped_cases
