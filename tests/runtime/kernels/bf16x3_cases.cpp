// bf16x3 against sums in double precision and beside contract's of f32: nowhere may it be further off than a rounding
// of the largest sum, or than those are. Each epilogue adds to what is there, zeros, so that an element stored twice or
// never shows, and rows are wider than n, so that a surplus lane shows. Operands and scratch end where nothing may be
// read or written behind them.
#include "tests/runtime/kernels/bf16x3_cases.h"

#include <algorithm>
#include <cfloat>
#include <cmath>
#include <type_traits>
#include <vector>

#include "runtime/kernels/bf16x3.h"
#include "runtime/kernels/contract.h"
#include "tests/runtime/kernels/cases.h"

namespace bf16x3_cases {
namespace {

constexpr float kInfinite = std::numeric_limits<float>::infinity(), kNone = std::numeric_limits<float>::quiet_NaN();

// All 24 bits of them, of either sign, most of a size, some much smaller.
Floats real_numbers(i64 count, unsigned seed) {
  Floats all(count);
  const auto next = [&] { return (seed = seed * 1664525u + 1013904223u) >> 8; };
  for (float& x : all) {
    const unsigned bits = next() | 0x800000u;
    const int exponent = next() % 4 ? 0 : -static_cast<int>(next() >> 12) % 12;
    x = std::ldexp(static_cast<float>(bits) * (next() >> 12 & 1 ? 1.f : -1.f), exponent - 24);
  }
  return all;
}

// How far sums are off, in units of 2^-24 of what the sizes of their terms sum up to.
struct Errors {
  double most = 0, squares = 0, count = 0;
  void add(double off) {
    off *= 0x1p24;
    most = std::max(most, std::abs(off)), squares += off * off, ++count;
  }
  double mean() const { return std::sqrt(squares / std::max(count, 1.)); }
  std::string text() const {
    return "off by " + std::to_string(most) + " at most, " + std::to_string(mean()) + " in the mean";
  }
};
constexpr double kMost = 2.5;  // of any number of terms; floats' sums are off by more

struct Sizes {  // `points` of `m` rows each by weights of [segments][k][n]
  i64 m, n, k, segments = 1, points = 1;
  i64 row_stride = k * segments, segment_stride = k;
  i64 terms() const { return segments * k; }
  i64 rows() const { return points * m; }
  i64 point_stride() const { return m * row_stride + 3; }
  i64 row_at(i64 row) const { return row / m * point_stride() + row % m * row_stride; }
  i64 term_at(i64 term) const { return term / k * segment_stride + term % k; }
  i64 a_elements() const { return row_at(rows() - 1) + term_at(terms() - 1) + 1; }
  i64 pitch() const { return n + kGap; }
  i64 out_elements() const { return rows() * pitch() + rt::kPanel; }
};

// Adds to what is there.
auto adds_to(Floats& to, const Sizes& s) {
  return [out = to.data(), pitch = s.pitch(), m = s.m](auto acc, i64 point, i64 row, auto col)
             __attribute__((always_inline)) {
               const auto at = rt::add((point * m + row) * pitch, col);
               rt::store(out, at, rt::add(acc, rt::load(out, at)));
             };
}
template <int S>
auto with_axes(const Sizes& s, auto f) {  // f(segments, their strides)
  if constexpr (S == 0) {
    return f(rt::extents(), rt::strides());
  } else {
    return f(rt::extents(s.segments), rt::strides(s.segment_stride));
  }
}
// Sums of floats.
template <int S>
__attribute__((noinline)) Floats plain_sums(const Sizes& s, const Floats& a, const Floats& w) {
  const Floats packed = pack(w, s.n, s.terms());
  Floats got(s.out_elements());
  in_chunks(1, nullptr, [&](const rt::Call& call) {
    with_axes<S>(s, [&](auto segments, auto strides) {
      rt::contract<4, 1>(call, rt::extents(s.points), segments, s.m, s.n, s.k,
                         rt::matrix_a(a.data(), rt::strides(s.point_stride()), s.row_stride, strides),
                         rt::packed_b(packed.data(), rt::strides(0)), adds_to(got, s));
    });
  });
  return got;
}

// M rows by N columns of K terms in S axes of segments, by tiles of MR by NV, `Band` below another. Weights of two
// parts have the bits of f16. Fewer rows than Few are contract's. In chunks, M is a number that only a run knows where
// `Ranged`.
template <int MR, int NV, int Band, i64 M, i64 N, i64 K, int S, int Parts = 3, int Few = 0, bool Ranged = false>
struct Problem {
  using Weight = std::conditional_t<Parts == 2, rt::half, float>;
  Sizes s;
  Floats a, w;  // w: [terms][n]

  explicit Problem(const Sizes& of) : s(of), a(real_numbers(s.a_elements(), 31)), w(real_numbers(s.terms() * N, 32)) {
    constexpr unsigned kBitsOfF16 = 0xffffe000;
    if (Parts == 2)
      for (float& x : w) x = __builtin_bit_cast(float, __builtin_bit_cast(unsigned, x) & kBitsOfF16);
  }
  float& row(i64 row, i64 term) { return a[s.row_at(row) + s.term_at(term)]; }
  float& weight(i64 term, i64 column) { return w[term * N + column]; }
  std::string text() const {
    return std::to_string(s.points) + " x m=" + std::to_string(M) + " n=" + std::to_string(N) +
           " k=" + std::to_string(K) + " segments=" + std::to_string(s.segments) + " tile=" + std::to_string(MR) + "x" +
           std::to_string(NV) + " bands of " + std::to_string(Band);
  }
  std::string at(i64 row, i64 column, double is, double wanted) const {
    return text() + ": row " + std::to_string(row) + ", column " + std::to_string(column) + " is off by " +
           std::to_string(is - wanted) + " of " + std::to_string(wanted);
  }

  // `rows`: M, as a constant or not. A thread that has a chunk after another of the same band finds its rows in parts.
  __attribute__((noinline)) Floats run(int chunks, auto rows_of_point) const {
    std::vector<Weight> panels(rt::packed_b_elements(N, s.terms()));
    rt::pack_b(panels.data(), N, s.terms(), [&](i64 t, i64 column) {
      if constexpr (Parts == 2) {
        return rt::to_half(w[t * N + column]);
      } else {
        return w[t * N + column];
      }
    });
    const Guarded<float> rows(a);
    const Guarded<Weight> weights(panels);
    const Guarded<char> scratch(std::vector<char>(rt::bf16x3_scratch_bytes({MR, NV}, Band, N, s.terms()), -1));
    Floats got(s.out_elements());
    in_chunks(chunks, reinterpret_cast<float*>(scratch.data()), [&](rt::Call call) {
      call.again = call.chunk > 0;
      with_axes<S>(s, [&](auto segments, auto strides) {
        rt::bf16x3<MR, NV, Band, Few>(call, rt::extents(s.points), segments, rows_of_point, rt::c<N>, rt::c<K>,
                                      rt::matrix_a(rows.data(), rt::strides(s.point_stride()), s.row_stride, strides),
                                      weights.data(), adds_to(got, s));
      });
    });
    return got;
  }
  // f(row, column, where it is, the exact sum, that of its terms' sizes)
  void each(auto f) const {
    std::vector<double> sums(N), sizes(N);
    for (i64 row = 0; row < s.rows(); ++row) {
      std::fill(sums.begin(), sums.end(), 0), std::fill(sizes.begin(), sizes.end(), 0);
      for (i64 t = 0; t < s.terms(); ++t) {
        const double x = a[s.row_at(row) + s.term_at(t)];
        for (i64 column = 0; column < N; ++column) {
          const double product = x * w[t * N + column];
          sums[column] += product, sizes[column] += std::abs(product);
        }
      }
      for (i64 column = 0; column < N; ++column) f(row, column, row * s.pitch() + column, sums[column], sizes[column]);
    }
  }
  // What surrounds the sums, and that chunks do not matter: the sums.
  std::string run_in_chunks(Floats& got) const {
    got = run(1, rt::c<M>);
    const Floats again = run(3, std::conditional_t<Ranged, i64, decltype(rt::c<M>)>(rt::c<M>));
    for (size_t i = 0; i < got.size(); ++i)
      if (__builtin_bit_cast(unsigned, got[i]) != __builtin_bit_cast(unsigned, again[i]) &&
          !(std::isnan(got[i]) && std::isnan(again[i])))
        return text() + ": three chunks give another sum";
    for (i64 i = 0; i < s.out_elements(); ++i)
      if ((i % s.pitch() >= N || i / s.pitch() >= s.rows()) && got[i] != 0) return text() + ": stores beside its rows";
    return "";
  }
  std::string compare() const {
    Floats got;
    if (auto d = run_in_chunks(got); !d.empty()) return d;
    const Floats floats = plain_sums<S>(s, a, w);
    Errors error, plain_error;
    std::string difference;
    each([&](i64 row, i64 column, i64 i, double exact, double size) {
      if (!std::isfinite(exact) || std::abs(exact) > FLT_MAX) {  // as the plain sum has it
        const bool same = std::isnan(floats[i]) ? std::isnan(got[i]) : got[i] == floats[i];
        if (!same && difference.empty()) difference = at(row, column, got[i], floats[i]);
        return;
      }
      if (!std::isfinite(got[i]) && difference.empty()) difference = at(row, column, got[i], exact);
      if (size == 0) return;
      error.add((got[i] - exact) / size);
      plain_error.add((floats[i] - exact) / size);
    });
    if (!difference.empty()) return difference;
    const bool few = s.terms() < 3;
    if (error.most > std::max(plain_error.most, kMost) || (!few && error.mean() > plain_error.mean()))
      return text() + ": " + error.text() + ", a sum of floats " + plain_error.text();
    return "";
  }
};

template <int MR, int NV, int Band, i64 M, i64 N, i64 K, int S = 0, int Parts = 3>
std::string one(i64 points = 1, i64 segments = 1) {
  return Problem<MR, NV, Band, M, N, K, S, Parts>({M, N, K, segments, points}).compare();
}
template <int MR, int NV, int Band, i64 M, i64 N, i64 K, int S = 0>
std::string ranged(i64 points = 1, i64 segments = 1) {
  return Problem<MR, NV, Band, M, N, K, S, 3, 0, true>({M, N, K, segments, points}).compare();
}

// Fewer than a step, steps with and without a rest, blocks of 1024 with and without one.
std::string terms() {
  for (std::string d :
       {one<32, 2, 1, 32, 32, 1>(), one<32, 2, 1, 32, 32, 7>(), one<32, 2, 1, 32, 32, 31>(),
        one<32, 2, 1, 32, 32, 32>(), one<32, 2, 1, 32, 32, 33>(), one<32, 2, 1, 32, 32, 64>(),
        one<32, 2, 1, 32, 32, 100>(), one<32, 2, 1, 32, 32, 1023>(), one<32, 2, 1, 32, 32, 1024>(),
        one<32, 2, 1, 32, 32, 1025>(), one<32, 2, 2, 70, 33, 2050>(), one<16, 3, 1, 16, 96, 3072>(),
        one<48, 1, 2, 96, 16, 5001>(), one<32, 2, 1, 50, 33, 100, 0, 2>(), one<16, 3, 2, 50, 50, 1100, 0, 2>()})
    if (!d.empty()) return d;
  return "";
}

// Of whole steps and not, shorter and longer than a step, more than a block of them; rows that overlap.
template <i64 K>
std::string segments_of() {
  for (i64 count : {1, 2, 3, 9, 40}) {
    Sizes apart{33, 40, K, count}, overlapping = apart;
    overlapping.row_stride = 2, overlapping.segment_stride = K + 5;
    for (const Sizes& s : {apart, overlapping}) {
      const Problem<17, 2, 2, 33, 40, K, 1> p(s);
      if (auto d = p.compare(); !d.empty()) return d;
    }
  }
  return "";
}
std::string segments() {
  for (std::string d : {segments_of<1>(), segments_of<3>(), segments_of<16>(), segments_of<31>(), segments_of<32>(),
                        segments_of<50>(), segments_of<96>()})
    if (!d.empty()) return d;
  return "";
}

// Rows that do not divide the tile, so that the last one reaches back; blocks of a tile that overlap; columns that fill
// no panel, or no tile; fewer rows than a tile has.
std::string tile_edges() {
  for (std::string d : {ranged<1, 3, 1, 1, 100, 70>(), ranged<1, 2, 3, 3, 17, 70>(), ranged<7, 2, 1, 10, 50, 70>(),
                        ranged<16, 3, 2, 41, 64, 70>(), ranged<25, 2, 1, 25, 33, 70>(), ranged<25, 2, 1, 33, 1, 70>(),
                        ranged<32, 2, 3, 65, 80, 70>(), ranged<33, 1, 1, 34, 31, 70>(), ranged<47, 1, 1, 100, 48, 70>(),
                        ranged<48, 1, 2, 49, 15, 70>(), ranged<32, 2, 1, 5, 40, 70>(), ranged<48, 1, 2, 1, 40, 1100>(),
                        ranged<16, 3, 1, 3, 50, 24, 1>(4, 3)})
    if (!d.empty()) return d;
  return "";
}

// Fewer rows at a point than a tile has, so that tiles begin and end anywhere; and more.
std::string outer_axes() {
  for (std::string d :
       {ranged<32, 2, 1, 1, 33, 40>(50), ranged<32, 2, 2, 3, 33, 40>(11), ranged<31, 2, 3, 5, 48, 64, 1>(25, 3),
        ranged<16, 3, 2, 7, 64, 20, 1>(9, 5), ranged<48, 1, 1, 60, 16, 40>(2)})
    if (!d.empty()) return d;
  return "";
}

// Rows below and above the number from which on they are multiplied in parts; of one point and of several.
std::string few_rows() {
  constexpr int kFew = 16;
  const auto of = []<i64 M>(rt::Constant<M>, i64 points) {
    return Problem<32, 2, 2, M, 50, 1100, 0, 3, kFew, true>({M, 50, 1100, 1, points}).compare();
  };
  for (std::string d : {of(rt::c<1>, 1), of(rt::c<15>, 1), of(rt::c<16>, 1), of(rt::c<40>, 1), of(rt::c<1>, 15),
                        of(rt::c<1>, 16), of(rt::c<5>, 3), of(rt::c<5>, 4)})
    if (!d.empty()) return d;
  return "";
}

// Bands that divide the tiles and not, of one and of all; with sums of several blocks.
std::string bands() {
  for (std::string d : {one<8, 2, 1, 50, 70, 1100>(), one<8, 2, 2, 50, 70, 1100>(), one<8, 2, 3, 50, 70, 1100>(),
                        one<8, 2, 7, 50, 70, 1100>(), one<8, 2, 100, 50, 70, 1100>(), one<8, 1, 4, 50, 70, 64>()})
    if (!d.empty()) return d;
  return "";
}

// Infinities and NaNs in rows and weights are as in sums of floats, and other rows and columns of the tile stay exact.
template <i64 K>
std::string no_numbers_of() {
  using Its = Problem<32, 2, 2, 70, 40, K, 0>;
  const auto with = [](auto change) {
    Its p({70, 40, K});
    change(p);
    return p.compare();
  };
  for (std::string d :
       {with([](Its& p) { p.row(3, 5) = kInfinite; }), with([](Its& p) { p.row(40, K - 1) = -kInfinite; }),
        with([](Its& p) { p.row(69, 0) = kNone; }), with([](Its& p) { p.weight(7, 3) = kInfinite; }),
        with([](Its& p) { p.weight(K - 1, 39) = -kInfinite; }), with([](Its& p) { p.weight(0, 20) = kNone; }),
        with([](Its& p) { p.row(5, 6) = kInfinite, p.weight(6, 9) = 0; }),
        with([](Its& p) { p.weight(6, 9) = kInfinite, p.row(5, 6) = 0; }),
        with([](Its& p) { p.row(1, 2) = kInfinite, p.row(1, K - 2) = kInfinite; }),
        with([](Its& p) { p.row(1, 2) = FLT_MAX, p.weight(2, 4) = 2; })})
    if (!d.empty()) return d;
  return "";
}
std::string no_numbers() {
  const std::string d = no_numbers_of<70>();
  return d.empty() ? no_numbers_of<1100>() : d;
}

// The largest floats have parts, and so have their neighbours; beside a row that is none, too.
std::string largest_numbers() {
  for (float large : {FLT_MAX, -FLT_MAX, 0x1.fefffep127f, 0x1.ff0002p127f, 0x1.fep127f, 0x1.fffep127f})
    for (bool beside_none : {false, true})
      for (float times : {1.f, 0.5f, 0.99999994f}) {
        Problem<32, 2, 1, 32, 40, 70, 0> p({32, 40, 70});
        for (i64 t = 0; t < 70; ++t) {
          for (i64 column : {5, 33}) p.weight(t, column) = t == 9 ? large : 0;
          for (i64 row : {2, 30}) p.row(row, t) = t == 11 ? large : 0;
        }
        for (i64 row = 0; row < 32; ++row)
          if (row % 28 != 2) p.row(row, 9) = times;
        for (i64 column = 0; column < 40; ++column)
          if (column % 28 != 5) p.weight(11, column) = times;
        if (beside_none) p.row(12, 20) = kNone;
        if (auto d = p.compare(); !d.empty()) return d + " beside " + std::to_string(large);
      }
  return "";
}

// What is lost of small rows, weights and products is below the least number that is normal, of each of the products.
std::string smallest_numbers() {
  constexpr i64 kTerms = 70;
  for (int rows : {0, -60, -101, -110, -126, -140})
    for (int weights : {0, -40, -63, -101, -120, -140}) {
      Problem<32, 2, 1, 40, 40, kTerms, 0> p({40, 40, kTerms});
      for (float& x : p.a) x = std::ldexp(x, rows);
      for (float& x : p.w) x = std::ldexp(x, weights);
      Floats got;
      if (auto d = p.run_in_chunks(got); !d.empty()) return d;
      std::string difference;
      p.each([&](i64 row, i64 column, i64 i, double exact, double size) {
        const double of_parts = 0x1p-126 * (std::ldexp(1, rows) + std::ldexp(1, weights));
        const double lost = 2 * kTerms * of_parts + 6 * kTerms * 0x1p-126;
        if (!(std::abs(got[i] - exact) <= lost + 0x1p-23 * size) && difference.empty())
          difference = p.at(row, column, got[i], exact);
      });
      if (!difference.empty()) return difference;
    }
  return "";
}

}  // namespace

extern const Cases CASES_NAME{terms, segments,   tile_edges,      outer_axes,      few_rows,
                              bands, no_numbers, largest_numbers, smallest_numbers};

}  // namespace bf16x3_cases
