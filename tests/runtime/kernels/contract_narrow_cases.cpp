// Contract of 8-bit integers and of bf16, and its specification, against a plain sum, which is exact: any order of it
// is equal. Each epilogue adds to what is there, so that an element stored twice or never shows, and rows are wider
// than n, so that a surplus lane shows.
#include "tests/runtime/kernels/contract_narrow_cases.h"

#include <vector>

#include "runtime/kernels/contract.h"
#include "tests/runtime/kernels/cases.h"
#include "tests/runtime/kernels/contract_shapes_of_cases.h"

namespace contract_narrow_cases {
namespace {

// `got` and the sums, rows kGap apart.
template <int MR, int NV, class T, class A, class B>
std::vector<T> added(const Shape& shape, std::vector<T> got, bool naive, auto in_registers, const A* a, const B& b,
                     int chunks) {
  const auto keep = [&, pitch = shape.n + kGap](auto acc, i64 row, auto col) __attribute__((always_inline)) {
    const auto at = rt::add(row * pitch, col);
    rt::store(got.data(), at, rt::add(acc, rt::load(got.data(), at)));
  };
  const auto rows = rt::matrix_a(a, rt::strides(), shape.row_stride, rt::strides(shape.segment_stride));
  in_chunks(chunks, nullptr, [&](const rt::Call& call) {
    const auto segments = rt::extents(shape.segments);
    if (naive)
      rt::contract_naive(call, rt::extents(), segments, shape.m, shape.n, shape.k, rows, b, keep);
    else
      rt::contract<MR, NV, in_registers.value, kSplits<MR, NV>>(call, rt::extents(), segments, shape.m, shape.n,
                                                                shape.k, rows, b, keep);
  });
  return got;
}

// 8-bit rows less a zero point, weights in quads: rows and segments that are no whole quads, u8 and i8, extreme values.
template <class T, int MR, int NV>
std::string quads_one(const Shape& shape, int zero) {
  const i64 terms = shape.segments * shape.k, size = (shape.m - 1) * shape.row_stride + terms;
  const auto bytes = [](i64 count, unsigned seed) {
    std::vector<rt::u8> v(count);
    for (rt::u8& x : v) x = static_cast<rt::u8>((seed = seed * 1664525u + 1013904223u) >> 24);
    return v;
  };
  const std::vector<rt::u8> a_bytes = bytes(size, 11), w = bytes(terms * shape.n, 12);
  const std::vector<T> a_values(a_bytes.begin(), a_bytes.end());
  const auto weight = [&](i64 t, i64 col) { return static_cast<rt::i8>(w[t * shape.n + col]); };
  std::vector<rt::i8> panels(rt::panels_of(shape.n) * rt::quad_panel_bytes(rt::quads_of(shape.segments, shape.k)));
  rt::pack_quads(panels.data(), shape.n, shape.segments, shape.k, weight);
  const Guarded<T> a(a_values);
  const Guarded<rt::i8> packed(panels);
  const i64 pitch = shape.n + kGap;
  std::vector<int> want(shape.m * pitch, -5);
  for (i64 row = 0; row < shape.m; ++row)
    for (i64 t = 0; t < terms; ++t)
      for (i64 col = 0; col < shape.n; ++col)
        want[row * pitch + col] +=
            (static_cast<int>(a_values[row * shape.row_stride + t / shape.k * shape.segment_stride + t % shape.k]) -
             zero) *
            weight(t, col);
  const auto b = rt::quads_b(packed.data(), rt::strides(), shape.k, zero);
  const auto run = [&](bool naive, auto in_registers, auto panels, int chunks) {
    return added<MR, NV>(shape, std::vector<int>(want.size(), -5), naive, in_registers, a.data(), panels, chunks);
  };
  const std::string what = "quads " + shape.text() + " zero=" + std::to_string(zero);
  if (run(true, rt::c<0>, b, 2) != want) return what + " naive";
  for (int chunks : {1, 3})
    if (run(false, rt::c<1>, b, chunks) != want || run(false, rt::c<0>, b, chunks) != want ||
        run(false, rt::c<0>, rt::streamed(b), chunks) != want)
      return what + " tile=" + std::to_string(MR) + "x" + std::to_string(NV) + " chunks=" + std::to_string(chunks);
  return "";
}
// Groups of 8-bit rows side by side, each by panels of its own.
template <class T, int MR, int NV>
std::string quads_in_groups(i64 m, i64 n, i64 k, int zero) {
  constexpr i64 kGroups = 3;
  const i64 row_stride = kGroups * k, pitch = kGroups * n + kGap,
            panel = rt::panels_of(n) * rt::quad_panel_bytes(rt::quads_of(1, k));
  std::vector<T> a_values(m * row_stride);
  std::vector<rt::i8> w(kGroups * k * n), panels(kGroups * panel);
  unsigned seed = 13;
  const auto next = [&] { return (seed = seed * 1664525u + 1013904223u) >> 24; };
  for (T& x : a_values) x = static_cast<T>(next());
  for (rt::i8& x : w) x = static_cast<rt::i8>(next());
  std::vector<int> want(m * pitch, -5);
  for (i64 g = 0; g < kGroups; ++g) {
    const auto weight = [&](i64 t, i64 col) { return w[(g * k + t) * n + col]; };
    rt::pack_quads(panels.data() + g * panel, n, 1, k, weight);
    for (i64 row = 0; row < m; ++row)
      for (i64 t = 0; t < k; ++t)
        for (i64 col = 0; col < n; ++col)
          want[row * pitch + g * n + col] += (a_values[row * row_stride + g * k + t] - zero) * weight(t, col);
  }
  const Guarded<T> a(a_values);
  const Guarded<rt::i8> packed(panels);
  for (int chunks : {1, 3}) {
    std::vector<int> got(want.size(), -5);
    in_chunks(chunks, nullptr, [&](const rt::Call& call) {
      rt::contract<MR, NV, true, kSplits<MR, NV>>(
          call, rt::extents(kGroups), rt::extents(), m, n, k,
          rt::matrix_a(a.data(), rt::strides(k), row_stride, rt::strides()),
          rt::quads_b(packed.data(), rt::strides(panel), k, zero),
          [&](auto acc, i64 g, i64 row, auto col) __attribute__((always_inline)) {
            const auto at = rt::add(row * pitch + g * n, col);
            rt::store(got.data(), at, rt::add(acc, rt::load(got.data(), at)));
          });
    });
    if (got != want)
      return "quads in groups " + Shape{m, n, k}.text() + " zero=" + std::to_string(zero) +
             " chunks=" + std::to_string(chunks);
  }
  return "";
}
// Sums whose low byte is looked up, in a loop over those of a tile: whole panels in twos, a single one, and a part of
// one.
template <class T, int MR, int NV, i64 N>
std::string looked_up() {
  constexpr i64 kRows = 13, kTerms = 16, kPitch = N + kGap;
  std::vector<rt::u8> a_values(kRows * kTerms);
  std::vector<rt::i8> w(kTerms * N), panels(rt::panels_of(N) * rt::quad_panel_bytes(rt::quads_of(1, kTerms)));
  std::vector<T> table(256), want(kRows * kPitch, 7);
  unsigned seed = 17;
  const auto next = [&] { return (seed = seed * 1664525u + 1013904223u) >> 24; };
  for (rt::u8& x : a_values) x = static_cast<rt::u8>(next());
  for (rt::i8& x : w) x = static_cast<rt::i8>(next());
  for (T& x : table) x = static_cast<T>(next());
  rt::pack_quads(panels.data(), N, 1, kTerms, [&](i64 t, i64 col) { return w[t * N + col]; });
  for (i64 row = 0; row < kRows; ++row)
    for (i64 col = 0; col < N; ++col) {
      int sum = 0;
      for (i64 t = 0; t < kTerms; ++t) sum += (a_values[row * kTerms + t] - 131) * w[t * N + col];
      want[row * kPitch + col] = table[sum & 255];
    }
  const Guarded<rt::u8> a(a_values);
  const Guarded<rt::i8> packed(panels);
  const auto bytes = rt::byte_table(table.data());
  for (int chunks : {1, 3}) {
    std::vector<T> got(want.size(), 7);
    in_chunks(chunks, nullptr, [&](const rt::Call& call) {
      rt::contract<MR, NV, false, 1>(call, rt::extents(), rt::extents(), rt::c<kRows>, rt::c<N>, rt::c<kTerms>,
                                     rt::matrix_a(a.data(), rt::strides(), kTerms, rt::strides()),
                                     rt::quads_b(packed.data(), rt::strides(), kTerms, 131),
                                     [&](auto acc, i64 row, auto col) __attribute__((always_inline)) {
                                       const auto found = rt::look_up(bytes, rt::cast<i64>(rt::bit_and(acc, 255)));
                                       rt::store(got.data(), rt::add(row * kPitch, col), found);
                                     });
    });
    if (got != want)
      return "looked up tile=" + std::to_string(MR) + "x" + std::to_string(NV) + " n=" + std::to_string(N) +
             " chunks=" + std::to_string(chunks);
  }
  return "";
}

std::string quads() {
  for (std::string d : {looked_up<rt::u8, 4, 3, 48>(), looked_up<rt::i8, 5, 2, 64>(), looked_up<rt::u8, 4, 2, 40>()})
    if (!d.empty()) return d;
  for (i64 n : {16, 24, 40})
    for (i64 k : {16, 22})
      for (std::string d : {quads_in_groups<rt::u8, 4, 1>(9, n, k, 131), quads_in_groups<rt::i8, 3, 2>(7, n, k, -7)})
        if (!d.empty()) return d;
  for (i64 m : {1, 2, 5, 13})
    for (i64 n : {1, 15, 16, 33, 64})
      for (i64 k : {1, 2, 3, 4, 7, 16, 21, 600})
        for (i64 segments : {1, 3}) {
          const Shape s{m, n, k, segments, segments * k, k};
          for (std::string d : {quads_one<rt::u8, 4, 1>(s, 0), quads_one<rt::i8, 4, 1>(s, 0),
                                quads_one<rt::u8, 3, 2>(s, 131), quads_one<rt::i8, 3, 2>(s, -7)})
            if (!d.empty()) return d;
        }
  return "";
}

// Rows and weights of bf16, weights in pairs: rows and segments of odd numbers of terms.
template <int MR, int NV>
std::string pairs_one(const Shape& shape) {
  const i64 terms = shape.segments * shape.k;
  const Floats x = small_integers((shape.m - 1) * shape.row_stride + terms, 13),
               w = small_integers(terms * shape.n, 14);
  std::vector<rt::bfloat> narrow(x.size()),
      panels(rt::panels_of(shape.n) * rt::pairs_of(shape.segments, shape.k) * rt::kPairRow);
  for (size_t i = 0; i < x.size(); ++i) narrow[i] = rt::to_bfloat(x[i]);
  rt::pack_pairs(panels.data(), shape.n, shape.segments, shape.k,
                 [&](i64 t, i64 col) { return rt::to_bfloat(w[t * shape.n + col]); });
  const Guarded<rt::bfloat> a(narrow), packed(panels);
  const i64 pitch = shape.n + kGap;
  Floats want(shape.m * pitch + rt::kPanel, -5.f);
  for (i64 row = 0; row < shape.m; ++row)
    for (i64 t = 0; t < terms; ++t)
      for (i64 col = 0; col < shape.n; ++col)
        want[row * pitch + col] +=
            x[row * shape.row_stride + t / shape.k * shape.segment_stride + t % shape.k] * w[t * shape.n + col];
  const auto run = [&](bool naive, auto in_registers, const auto& panels_b, int chunks) {
    return added<MR, NV>(shape, Floats(want.size(), -5.f), naive, in_registers, a.data(), panels_b, chunks);
  };
  const std::string what = "pairs " + shape.text() + " tile=" + std::to_string(MR) + "x" + std::to_string(NV);
  const auto b = rt::pairs_b(packed.data(), rt::strides(), shape.k);
  if (auto d = difference(want, run(true, rt::c<0>, b, 2), what + " naive"); !d.empty()) return d;
  for (int chunks : {1, 3})
    for (const Floats& got :
         {run(false, rt::c<1>, b, chunks), run(false, rt::c<0>, b, chunks),
          run(false, rt::c<0>, rt::streamed(rt::pairs_b(packed.data(), rt::strides(), shape.k)), chunks)})
      if (auto d = difference(want, got, what + " chunks=" + std::to_string(chunks)); !d.empty()) return d;
  return "";
}
std::string pairs() {
  for (i64 m : {1, 2, 5, 13})
    for (i64 n : {1, 15, 16, 33, 64})
      for (i64 k : {1, 2, 3, 4, 7, 16, 21, 600})
        for (i64 segments : {1, 3}) {
          const Shape s{m, n, k, segments, segments * k, k};
          for (std::string d : {pairs_one<4, 1>(s), pairs_one<3, 2>(s)})
            if (!d.empty()) return d;
        }
  return "";
}

}  // namespace

extern const Cases CASES_NAME{CASES_TARGET, runs_here, quads, pairs};

}  // namespace contract_narrow_cases
