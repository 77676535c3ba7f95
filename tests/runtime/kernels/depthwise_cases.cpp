// Depthwise against its own specification, and that against a plain sum, over bytes of all values. Each epilogue adds
// to what is there, so that an element stored twice or never shows; nothing may be read behind the last element of the
// last window.
#include "tests/runtime/kernels/depthwise_cases.h"

#include "runtime/kernels/depthwise.h"
#include "tests/runtime/kernels/cases.h"

namespace depthwise_cases {
namespace {

std::vector<rt::u8> bytes(i64 count, unsigned seed) {
  std::vector<rt::u8> v(count);
  for (rt::u8& x : v) x = static_cast<rt::u8>((seed = seed * 1664525u + 1013904223u) >> 24);
  return v;
}

// `Columns` columns and taps of a window with three segments, for tiles of MR rows.
template <class T, int MR, i64 Columns, int Taps, int RowStep>
class Windows {
  using Window = rt::TapWindow<Taps, RowStep>;
  static constexpr i64 kSegments = 3, kPitch = Columns + 3;

 public:
  // `row_stride`: in elements, where rows do not begin a number of taps apart.
  Windows(i64 rows, int zero, i64 row_stride = RowStep * Columns)
      : m_(rows),
        row_stride_(row_stride),
        segment_((rows - 1) * row_stride + Taps * Columns),
        zero_(zero),
        a_bytes_(bytes(kSegments * segment_, 11)),
        weights_(bytes(kSegments * Taps * Columns, 12)),
        values_(a_bytes_.begin(), a_bytes_.end()),
        want_(rows * kPitch, -5),
        panels_(rt::panels_of(Columns) * rt::tap_panel_bytes(kSegments, Taps, Window::kShifts)) {
    const auto weight = [&](i64 s, i64 t, i64 col) {
      return static_cast<rt::i8>(weights_[(s * Taps + t) * Columns + col]);
    };
    rt::pack_taps(panels_.data(), Columns, kSegments, Taps, Window::kShifts, weight);
    for (i64 row = 0; row < rows; ++row)
      for (i64 col = 0; col < Columns; ++col)
        for (i64 t = 0; t < kSegments * Taps; ++t)
          want_[row * kPitch + col] +=
              (values_[t / Taps * segment_ + row * row_stride + t % Taps * Columns + col] - zero) *
              weight(t / Taps, t % Taps, col);
  }
  std::string text() const {
    return std::to_string(Columns) + " columns, " + std::to_string(m_) + " rows, " + std::to_string(Taps) +
           " taps, steps of " + std::to_string(RowStep) + ", zero " + std::to_string(zero_);
  }
  // Rows: a constant or a number.
  template <class Rows>
  __attribute__((noinline)) std::string check(Rows rows) const {
    const auto naive = [](auto... arguments) { rt::depthwise_naive(arguments...); };
    const auto tiled = [](auto... arguments) { rt::depthwise<MR>(arguments...); };
    if (run(2, rows, naive) != want_) return text() + ", naive";
    for (int chunks : {1, 3})
      if (run(chunks, rows, tiled) != want_) return text();
    return "";
  }

 private:
  template <class Rows, class F>
  std::vector<int> run(int chunks, Rows rows, F call_of) const {
    std::vector<int> got(want_.size(), -5);
    const Guarded<T> a(values_);
    const Guarded<rt::i8> packed(panels_);
    const auto keep = [&](auto acc, i64, i64 row, auto col) __attribute__((always_inline)) {
      const auto at = rt::add(row * kPitch, col);
      rt::store(got.data(), at, rt::add(acc, rt::load(got.data(), at)));
    };
    in_chunks(chunks, nullptr, [&](const rt::Call& call) {
      call_of(call, Window{Columns}, rt::extents(i64{1}), rt::extents(i64{kSegments}), rows, rt::c<Columns>,
              rt::c<Taps>, rt::matrix_a(a.data(), rt::strides(i64{0}), row_stride_, rt::strides(segment_)),
              rt::taps_b(packed.data(), zero_), keep);
    });
    return got;
  }

  i64 m_, row_stride_, segment_;
  int zero_;
  std::vector<rt::u8> a_bytes_, weights_;
  std::vector<T> values_;
  std::vector<int> want_;
  std::vector<rt::i8> panels_;
};

template <class T, int MR, i64 Columns, int Taps, int RowStep, i64 Rows>
std::string one(int zero) {
  return Windows<T, MR, Columns, Taps, RowStep>(Rows, zero).check(rt::c<Rows>);
}

std::string widths() {  // of columns: registers, halves of them, and what is left
  return first_of({one<rt::u8, 2, 64, 3, 1, 5>(131), one<rt::i8, 4, 96, 3, 1, 7>(-7), one<rt::u8, 3, 16, 3, 1, 3>(0),
                   one<rt::i8, 2, 1, 3, 1, 4>(0), one<rt::u8, 2, 27, 3, 1, 4>(255), one<rt::u8, 2, 144, 3, 2, 4>(3),
                   one<rt::i8, 4, 127, 3, 1, 8>(-128)});
}
std::string windows() {  // taps and steps, also those of no whole number of taps
  return first_of({one<rt::u8, 4, 40, 5, 1, 9>(7), one<rt::u8, 4, 40, 5, 2, 9>(7), one<rt::i8, 3, 20, 7, 3, 6>(7),
                   one<rt::u8, 4, 20, 2, 1, 6>(7), one<rt::u8, 2, 20, 4, 1, 6>(7), one<rt::u8, 2, 20, 1, 1, 6>(7),
                   one<rt::u8, 2, 20, 16, 4, 6>(7), one<rt::u8, 1, 20, 3, 1, 6>(7),
                   Windows<rt::u8, 1, 24, 3, 0>(5, 9, 37).check(rt::c<5>)});
}
std::string any_rows() {
  for (i64 rows : {1, 2, 3, 4, 5, 11})
    if (auto d = Windows<rt::u8, 4, 35, 3, 1>(rows, 77).check(rows); !d.empty()) return d;
  return "";
}

}  // namespace

extern const Cases CASES_NAME{CASES_TARGET, runs_here, widths, windows, any_rows};

}  // namespace depthwise_cases
