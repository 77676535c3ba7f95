// Contract's sums in tile registers against a plain sum, which is exact: of 8-bit integers with and without zero
// points, extreme values among them, and of bf16 that are small integers. Each epilogue adds to what is there, so that
// an element stored twice or never shows, and rows are wider than n, so that a surplus lane shows. Operands end where
// nothing may be read behind them.
#include "tests/runtime/kernels/contract_amx_cases.h"

#include <algorithm>
#include <type_traits>
#include <vector>

#include "runtime/kernels/contract.h"
#include "tests/runtime/kernels/cases.h"

namespace contract_amx_cases {
namespace {

constexpr int kBefore = -5;

template <class T>
constexpr bool kIsPairs = std::is_same_v<T, rt::bfloat>;
template <class T>
using Weight = std::conditional_t<kIsPairs<T>, rt::bfloat, rt::i8>;
template <class T>
using Sum = std::conditional_t<kIsPairs<T>, float, int>;

template <class T>
std::vector<T> values(i64 count, unsigned seed) {
  std::vector<T> all;
  if constexpr (kIsPairs<T>) {
    for (float x : small_integers(count, seed)) all.push_back(rt::to_bfloat(x));
  } else {
    for (i64 i = 0; i < count; ++i) all.push_back(static_cast<T>((seed = seed * 1664525u + 1013904223u) >> 24));
  }
  return all;
}
template <class T>
Sum<T> number(T x) {
  if constexpr (kIsPairs<T>) {
    return rt::to_float(x);
  } else {
    return x;
  }
}

struct Extents {  // `images` of `m` rows each by weights of [segments][k][n]
  i64 m, n, k, segments = 1, images = 1;
  i64 row_stride = k * segments, segment_stride = k;
  i64 terms() const { return segments * k; }
  i64 image_stride() const { return m * row_stride + 4; }
  i64 a_elements() const {
    return (images - 1) * image_stride() + (m - 1) * row_stride + (segments - 1) * segment_stride + k;
  }
  i64 pitch() const { return n + kGap; }
  std::string text() const {
    return "m=" + std::to_string(m) + " n=" + std::to_string(n) + " k=" + std::to_string(k) +
           " segments=" + std::to_string(segments) + " images=" + std::to_string(images);
  }
};

template <class T>
struct Problem {
  Extents e;
  int zero;
  std::vector<T> a_values;
  std::vector<Sum<T>> want;
  Guarded<T> a;
  Guarded<Weight<T>> weights;

  Problem(const Extents& extents, int zero_point)
      : e(extents), zero(zero_point), a_values(values<T>(e.a_elements(), 21)), a(a_values), weights(packed()) {
    const auto w = matrix();
    std::vector<Sum<T>> rows(a_values.size());
    std::transform(a_values.begin(), a_values.end(), rows.begin(), [&](T x) { return number(x) - Sum<T>(zero); });
    want.assign(e.images * e.m * e.pitch() + rt::kPanel, kBefore);
    for (i64 row = 0; row < e.images * e.m; ++row)
      for (i64 t = 0; t < e.terms(); ++t) {
        const Sum<T> x =
            rows[row / e.m * e.image_stride() + row % e.m * e.row_stride + t / e.k * e.segment_stride + t % e.k];
        for (i64 col = 0; col < e.n; ++col) want[row * e.pitch() + col] += x * number(w[t * e.n + col]);
      }
  }
  std::vector<Weight<T>> matrix() const { return values<Weight<T>>(e.terms() * e.n, 22); }
  std::vector<Weight<T>> packed() const {
    const auto w = matrix();
    const auto at = [&](i64 t, i64 col) { return w[t * e.n + col]; };
    std::vector<Weight<T>> to(rt::panels_of(e.n) * (kIsPairs<T> ? rt::pairs_of(e.segments, e.k) * rt::kPairRow
                                                                : rt::quad_panel_bytes(rt::quads_of(e.segments, e.k))));
    if constexpr (kIsPairs<T>) {
      rt::pack_pairs(to.data(), e.n, e.segments, e.k, at);
    } else {
      rt::pack_quads(to.data(), e.n, e.segments, e.k, at);
    }
    return to;
  }
  template <int Points = 1, int D>
  auto b(rt::Strides<D> outer) const {
    if constexpr (kIsPairs<T>) {
      return rt::in_tile_registers<Points>(rt::streamed(rt::pairs_b(weights.data(), outer, e.k)));
    } else {
      return rt::in_tile_registers<Points>(rt::streamed(rt::quads_b(weights.data(), outer, e.k, zero)));
    }
  }
  std::string compare(const std::vector<Sum<T>>& got, const std::string& what) const {
    for (size_t i = 0; i < want.size(); ++i)
      if (got[i] != want[i])
        return e.text() + " zero=" + std::to_string(zero) + what + ": element " + std::to_string(i) + " is " +
               std::to_string(got[i]) + ", not " + std::to_string(want[i]);
    return "";
  }
};

template <class T>
auto adds_to(std::vector<T>& got, i64 pitch) {
  return [to = got.data(), pitch](auto acc, i64 row, auto col) __attribute__((always_inline)) {
    const auto at = rt::add(row * pitch, col);
    rt::store(to, at, rt::add(acc, rt::load(to, at)));
  };
}

template <int MR, int NV, int Band, i64 M, i64 N, class T, int Points = 1>
__attribute__((noinline)) std::string one(const Extents& e, int zero) {
  const Problem<T> p(e, zero);
  for (int chunks : {1, 3}) {
    std::vector<Sum<T>> got(p.want.size(), kBefore);
    const auto add = adds_to(got, e.pitch());
    in_chunks(chunks, nullptr, [&](const rt::Call& call) {
      rt::contract<MR, NV, false, 1>(
          call, rt::extents(e.images), rt::extents(e.segments), rt::c<M>, rt::c<N>, e.k,
          rt::matrix_a(p.a.data(), rt::strides(e.image_stride()), e.row_stride, rt::strides(e.segment_stride)),
          p.template b<Points>(rt::strides(0)),
          [&](auto acc, i64 image, i64 row, auto col)
              __attribute__((always_inline)) { add(acc, image * M + row, col); },
          rt::c<Band>);
    });
    const std::string tile = " tile=" + std::to_string(MR) + "x" + std::to_string(NV) + " bands of ";
    if (auto d = p.compare(got, tile + std::to_string(Band) + " chunks=" + std::to_string(chunks)); !d.empty())
      return d;
  }
  return "";
}

// Segments that are whole rows of tile registers and more, with and without a rest, and less than one; of quads that
// are not whole.
template <int MR, int NV, i64 M, i64 N, class T, int Band = 0>
std::string sizes() {
  constexpr i64 kGroup = 4 / sizeof(T), kRow = rt::kTileRows * kGroup;
  std::vector<i64> terms{kGroup, 3 * kGroup, kRow - kGroup, kRow, kRow + kGroup, 3 * kRow, 5 * kRow + 7 * kGroup};
  if (!kIsPairs<T>) terms.insert(terms.end(), {1, 3, 21, kRow - 1, kRow + 3, 2 * kRow + 26});  // no whole quads
  for (i64 k : terms)
    for (i64 segments : {1, 3})
      for (i64 images : {1, 2})
        for (int zero : kIsPairs<T> ? std::vector{0} : std::is_signed_v<T> ? std::vector{0, -7} : std::vector{0, 131}) {
          const Extents whole{M, N, k, segments, images};
          Extents overlapping = whole;  // as a convolution's rows do
          overlapping.row_stride = kGroup, overlapping.segment_stride = 5 * kGroup;
          for (const Extents& e : {whole, overlapping})
            if (auto d = one<MR, NV, Band, M, N, T>(e, zero); !d.empty()) return d;
        }
  return "";
}

// Rows that tiles divide, and such that the last tile reaches back; blocks of a tile that overlap; bands.
template <class T>
std::string tiles() {
  for (std::string d : {sizes<1, 4, 1, 64, T>(), sizes<7, 4, 10, 64, T>(), sizes<16, 3, 41, 33, T>(),
                        sizes<25, 2, 33, 16, T>(), sizes<47, 1, 47, 33, T>(), sizes<64, 1, 100, 33, T>(),
                        sizes<7, 4, 30, 33, T, 2>(), sizes<20, 1, 50, 40, T, 1>()})
    if (!d.empty()) return d;
  return "";
}
template <class T>
std::string more_tiles() {
  for (std::string d :
       {sizes<1, 1, 3, 16, T>(), sizes<7, 4, 7, 33, T>(), sizes<16, 4, 16, 64, T>(), sizes<25, 2, 25, 33, T>(),
        sizes<32, 2, 32, 33, T>(), sizes<32, 2, 70, 64, T>(), sizes<33, 1, 34, 16, T>(), sizes<64, 1, 64, 16, T>(),
        sizes<7, 2, 30, 64, T, 1>(), sizes<16, 2, 50, 40, T, 1>(), sizes<9, 1, 50, 40, T, 4>()})
    if (!d.empty()) return d;
  return "";
}

// Neither outer axes nor segments; terms are a constant.
template <int MR, int NV, i64 M, i64 N, i64 K, class T>
__attribute__((noinline)) std::string product(int zero) {
  const Problem<T> p({M, N, K}, zero);
  for (int chunks : {1, 3}) {
    std::vector<Sum<T>> got(p.want.size(), kBefore);
    in_chunks(chunks, nullptr, [&](const rt::Call& call) {
      rt::contract<MR, NV, false, 1>(call, rt::extents(), rt::extents(), rt::c<M>, rt::c<N>, rt::c<K>,
                                     rt::matrix_a(p.a.data(), rt::strides(), K, rt::strides()), p.b(rt::strides()),
                                     adds_to(got, p.e.pitch()));
    });
    if (auto d = p.compare(got, " constants, chunks=" + std::to_string(chunks)); !d.empty()) return d;
  }
  return "";
}
template <class T>
std::string most_of(int zero) {
  if (auto d = tiles<T>(); !d.empty()) return d;
  for (std::string d : {product<25, 2, 50, 40, 200, T>(zero), product<1, 4, 1, 100, 64, T>(zero)})
    if (!d.empty()) return d;
  return "";
}
template <class T>
std::string all_of(int zero) {
  const std::string d = most_of<T>(zero);
  return d.empty() ? more_tiles<T>() : d;
}
std::string unsigned_quads() { return all_of<rt::u8>(255); }
std::string signed_quads() { return most_of<rt::i8>(-128); }  // a tile's loops are those of unsigned ones
std::string pairs() { return all_of<rt::bfloat>(0); }

// More images than chunks, of fewer rows than a block has.
std::string many_rows_of_few() {
  for (std::string d :
       {one<2, 2, 0, 2, 33, rt::u8>({2, 33, 68, 1, 11}, 3), one<2, 2, 0, 3, 33, rt::i8>({3, 33, 68, 2, 7}, 3),
        one<3, 4, 0, 5, 64, rt::bfloat>({5, 64, 34, 2, 9}, 0)})
    if (!d.empty()) return d;
  return "";
}

// Tiles of several images, which their number divides or the last tile reaches back; more columns of tiles than one,
// bands.
template <class T, int Points, int NV, i64 M, i64 N>
std::string points_of() {
  constexpr i64 kGroup = 4 / sizeof(T);
  for (i64 images : {Points, Points + 1, 2 * Points, 3 * Points - 1})
    for (i64 k : {3 * kGroup, rt::kTileRows * kGroup, 35 * kGroup - (kIsPairs<T> ? 0 : 1)}) {
      const Extents whole{M, N, k, 2, images};
      Extents overlapping = whole;
      overlapping.row_stride = kGroup, overlapping.segment_stride = 5 * kGroup;
      for (const Extents& e : {whole, overlapping})
        for (std::string d :
             {one<Points * M, NV, 0, M, N, T, Points>(e, kIsPairs<T> ? 0 : 3),
              one<Points * M, NV, 1, M, N, T, Points>(e, 0), one<Points * M, NV, 2, M, N, T, Points>(e, 0)})
          if (!d.empty()) return "points=" + std::to_string(Points) + " " + d;
    }
  return "";
}
std::string tiles_of_points() {
  for (std::string d :
       {points_of<rt::u8, 2, 2, 14, 64>(), points_of<rt::u8, 4, 1, 7, 33>(), points_of<rt::i8, 3, 1, 7, 40>(),
        points_of<rt::i8, 2, 1, 16, 16>(), points_of<rt::u8, 2, 2, 1, 96>(), points_of<rt::bfloat, 4, 1, 13, 48>()})
    if (!d.empty()) return d;
  return "";
}

// Sums that become 8 bits again, two panels of them at once and one; and what a table has for these.
template <class T, int NV, i64 N>
std::string narrowed(int zero) {
  constexpr bool kTable = std::is_same_v<T, rt::u8>;
  std::vector<T> table(256);
  for (int i = 0; i < 256; ++i) table[i] = static_cast<T>(i * 37 + i / 9);
  const Problem<rt::u8> p({20, N, 64}, 7);
  const auto scaled = [](auto acc) __attribute__((always_inline)) { return rt::mul(rt::cast<float>(acc), 0.001f); };
  std::vector<T> want(p.want.size(), 1), got = want;
  for (i64 row = 0; row < p.e.m; ++row)
    for (i64 col = 0; col < N; ++col) {
      const i64 at = row * p.e.pitch() + col;
      want[at] = rt::cast<T>(rt::add(rt::round(scaled(p.want[at] - kBefore)), static_cast<float>(zero)));
      if (kTable) want[at] = table[want[at]];
    }
  const auto bytes = rt::byte_table(table.data());
  rt::Fault none{};
  rt::contract<10, NV, false, 1>(rt::Call{&none, nullptr, 0, 1}, rt::extents(), rt::extents(), rt::c<20>, rt::c<N>,
                                 rt::c<64>, rt::matrix_a(p.a.data(), rt::strides(), 64, rt::strides()),
                                 p.b(rt::strides()), [&](auto acc, i64 row, auto col) __attribute__((always_inline)) {
                                   const auto at = rt::add(row * p.e.pitch(), col);
                                   const auto q = rt::quantized<T>(scaled(acc), zero);
                                   if constexpr (kTable) {
                                     const auto index = rt::cast<i64>(rt::cast<int>(q));
                                     rt::store(got.data(), at, rt::look_up(bytes, index));
                                   } else {
                                     rt::store(got.data(), at, q);
                                   }
                                 });
  for (size_t i = 0; i < want.size(); ++i)
    if (got[i] != want[i])
      return "n=" + std::to_string(N) + " zero=" + std::to_string(zero) + ": element " + std::to_string(i) + " is " +
             std::to_string(got[i]) + ", not " + std::to_string(want[i]);
  return "";
}
std::string narrow_epilogue() {
  for (std::string d : {narrowed<rt::u8, 2, 64>(0), narrowed<rt::u8, 4, 64>(131), narrowed<rt::i8, 2, 32>(-3),
                        narrowed<rt::i8, 3, 48>(0), narrowed<rt::u8, 2, 40>(255), narrowed<rt::i8, 4, 128>(127)})
    if (!d.empty()) return d;
  return "";
}

// Two images, two groups with weights of their own, 3 x 3 taps: all axes at once.
template <class T, int Band = 0>
std::string convolution_of(int zero) {
  constexpr i64 kBatch = 2, kGroups = 2, kHeight = 5, kWidth = 19, kIn = 8, kOut = 40;
  constexpr i64 kPixel = kGroups * kIn, kRow = (kWidth + 2) * kPixel, kImage = (kHeight + 2) * kRow, kTaps = 9;
  const std::vector<T> x = values<T>(kBatch * kImage, 23);
  const Guarded<T> guarded(x);
  std::vector<Weight<T>> panels;
  const auto w = values<Weight<T>>(kGroups * kTaps * kIn * kOut, 24);
  for (i64 g = 0; g < kGroups; ++g) {
    const auto at = [&](i64 t, i64 col) { return w[(g * kTaps * kIn + t) * kOut + col]; };
    std::vector<Weight<T>> its(rt::panels_of(kOut) * (kIsPairs<T> ? rt::pairs_of(kTaps, kIn) * rt::kPairRow
                                                                  : rt::quad_panel_bytes(rt::quads_of(kTaps, kIn))));
    if constexpr (kIsPairs<T>) {
      rt::pack_pairs(its.data(), kOut, kTaps, kIn, at);
    } else {
      rt::pack_quads(its.data(), kOut, kTaps, kIn, at);
    }
    panels.insert(panels.end(), its.begin(), its.end());
  }
  const Guarded<Weight<T>> packed(panels);
  const auto row_of = [](i64 n, i64 g, i64 y, i64 px) { return ((n * kHeight + y) * kWidth + px) * kGroups + g; };
  std::vector<Sum<T>> want(kBatch * kHeight * kWidth * kGroups * (kOut + kGap) + rt::kPanel, kBefore);
  for (i64 n = 0; n < kBatch; ++n)
    for (i64 g = 0; g < kGroups; ++g)
      for (i64 y = 0; y < kHeight; ++y)
        for (i64 px = 0; px < kWidth; ++px)
          for (i64 o = 0; o < kOut; ++o)
            for (i64 t = 0; t < kTaps * kIn; ++t)
              want[row_of(n, g, y, px) * (kOut + kGap) + o] +=
                  (number(
                       x[n * kImage + (y + t / (3 * kIn)) * kRow + (px + t / kIn % 3) * kPixel + g * kIn + t % kIn]) -
                   Sum<T>(zero)) *
                  number(w[(g * kTaps * kIn + t) * kOut + o]);
  const i64 group = static_cast<i64>(panels.size()) / kGroups;
  for (int chunks : {1, 2, 5}) {
    std::vector<Sum<T>> got(want.size(), kBefore);
    const auto add = adds_to(got, kOut + kGap);
    const auto run = [&](const auto& b) {
      in_chunks(chunks, nullptr, [&](const rt::Call& call) {
        rt::contract<10, Band == 1 ? 3 : 2, false, 1>(
            call, rt::extents(kBatch, kGroups, kHeight), rt::extents(3l, 3l), rt::c<kWidth>, rt::c<kOut>, kIn,
            rt::matrix_a(guarded.data(), rt::strides(kImage, kIn, kRow), kPixel, rt::strides(kRow, kPixel)), b,
            [&](auto acc, i64 n, i64 g, i64 y, i64 px, auto col)
                __attribute__((always_inline)) { add(acc, row_of(n, g, y, px), col); },
            rt::c<Band>);
      });
    };
    if constexpr (kIsPairs<T>) {
      run(rt::in_tile_registers(rt::pairs_b(packed.data(), rt::strides(0l, group, 0l), kIn)));
    } else {
      run(rt::in_tile_registers(rt::quads_b(packed.data(), rt::strides(0l, group, 0l), kIn, zero)));
    }
    if (got != want) return "convolution zero=" + std::to_string(zero) + " chunks=" + std::to_string(chunks);
  }
  return "";
}
std::string convolution() {
  for (std::string d : {convolution_of<rt::u8>(9), convolution_of<rt::i8>(0), convolution_of<rt::bfloat>(0),
                        convolution_of<rt::u8, 1>(7)})
    if (!d.empty()) return d;
  return "";
}

}  // namespace

extern const Cases CASES_NAME{unsigned_quads,  signed_quads,    pairs,      many_rows_of_few,
                              tiles_of_points, narrow_epilogue, convolution};

}  // namespace contract_amx_cases
