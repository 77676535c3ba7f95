// Contract of f32 against its own specification, and that against a plain sum, on small integers: every sum is exact,
// so any order of it is equal. Each epilogue adds to what is there, so that an element stored twice or never shows, and
// rows are wider than n, so that a surplus lane shows.
#include "tests/runtime/kernels/contract_cases.h"

#include <cmath>
#include <initializer_list>
#include <utility>
#include <vector>

#include "runtime/kernels/contract.h"
#include "tests/runtime/kernels/cases.h"
#include "tests/runtime/kernels/contract_shapes_of_cases.h"

namespace contract_cases {
namespace {

struct One {  // a matrix product or one image's rows: operands, and the plain sum
  Shape s;
  Floats a_values, b, want;
  Guarded<float> a, packed;
  explicit One(const Shape& shape)
      : s(shape),
        a_values(small_integers((s.m - 1) * s.row_stride + (s.segments - 1) * s.segment_stride + s.k, 1)),
        b(small_integers(s.segments * s.k * s.n, 2)),
        want(s.m * (s.n + kGap) + rt::kPanel, -5.f),
        a(a_values),
        packed(pack(b, s.n, s.segments * s.k)) {
    for (i64 row = 0; row < s.m; ++row)
      for (i64 t = 0; t < s.segments * s.k; ++t)
        for (i64 col = 0; col < s.n; ++col)
          want[row * (s.n + kGap) + col] +=
              a_values[row * s.row_stride + t / s.k * s.segment_stride + t % s.k] * b[t * s.n + col];
  }
  auto epilogue(float* out) const {
    return [out, pitch = s.n + kGap](auto acc, i64 row, auto col) __attribute__((always_inline)) {
      const auto at = rt::add(row * pitch, col);
      rt::store(out, at, rt::add(acc, rt::load(out, at)));
    };
  }
  auto operand_a() const { return rt::matrix_a(a.data(), rt::strides(), s.row_stride, rt::strides(s.segment_stride)); }
};

template <int MR, int NV, int Splits = kSplits<MR, NV>>
__attribute__((noinline)) std::string compare(const Shape& shape) {
  const One one(shape);
  const auto b = rt::packed_b(one.packed.data(), rt::strides());
  for (int chunks : {1, 3}) {
    const std::string tile = " tile=" + std::to_string(MR) + "x" + std::to_string(NV) + " chunks=";
    const auto run = [&](auto in_registers) {
      Floats got(one.want.size(), -5.f);
      in_chunks(chunks, nullptr, [&](const rt::Call& call) {
        rt::contract<MR, NV, in_registers.value, Splits>(call, rt::extents(), rt::extents(shape.segments), shape.m,
                                                         shape.n, shape.k, one.operand_a(), b,
                                                         one.epilogue(got.data()));
      });
      return difference(one.want, got, shape.text() + tile + std::to_string(chunks));
    };
    if (auto d = run(rt::c<0>); !d.empty()) return d;
    if (shape.segments * shape.k > rt::kSumBlock) continue;
    if (auto d = run(rt::c<1>); !d.empty()) return d + " in registers";
  }
  Floats got(one.want.size(), -5.f);
  in_chunks(2, nullptr, [&](const rt::Call& call) {
    rt::contract_naive(call, rt::extents(), rt::extents(shape.segments), shape.m, shape.n, shape.k, one.operand_a(), b,
                       one.epilogue(got.data()));
  });
  return difference(one.want, got, shape.text() + " naive");
}

// Sizes that only the run time knows take every branch of the splits.
template <int MR, int NV>
std::string sweep() {
  for (i64 m : {1, 2, 3, 5, 6, 7, 11, 13, 31, 64})
    for (i64 n : {1, 2, 7, 15, 16, 17, 31, 48, 63, 64, 65, 80, 129})
      for (i64 k : {1, 2, 3, 4, 5, 7, 16, 33})
        if (auto d = compare<MR, NV>({m, n, k, 1, k, 0}); !d.empty()) return d;
  return compare<MR, NV>({9, 33, 300, 1, 300, 0});  // long sums have their own epilogue loop
}
std::string tile_edges() {
  std::string d;
  (void)((d = sweep<6, 4>()).empty() && (d = sweep<6, 1>()).empty() && (d = sweep<2, 1>()).empty() &&
         (d = sweep<1, 4>()).empty() && (d = sweep<1, 1>()).empty() && (d = sweep<7, 3>()).empty() &&
         (d = sweep<14, 2>()).empty());
  return d;
}

std::string segments() {  // rows overlap, segments overlap, both strides longer and shorter than k
  for (i64 k : {1, 3, 9, 21, 48})
    for (i64 count : {1, 2, 3, 7})
      for (i64 row_stride : {i64(1), i64(2), k, k + 5})
        for (i64 segment_stride : {i64(1), 3 * row_stride, 16 * row_stride + k}) {
          const Shape s{13, 40, k, count, row_stride, segment_stride};
          for (std::string d : {compare<6, 4>(s), compare<6, 1>(s), compare<2, 1>(s), compare<2, 1, 1>(s)})
            if (!d.empty()) return d;
        }
  return "";
}

// Rows in groups along two outer axes: few rows of many groups, and many of few.
template <int MR, int NV>
std::string group_of_rows(i64 points, i64 m, bool interleaved) {
  constexpr i64 kImages = 2, kColumns = 33, kTerms = 5;
  const One one({kImages * points * m, kColumns, kTerms, 1, kTerms, 0});
  const i64 point_rows = interleaved ? 1 : m, next_row = interleaved ? points : 1;
  const auto a = rt::matrix_a(one.a.data(), rt::strides(points * m * kTerms, point_rows * kTerms), next_row * kTerms,
                              rt::strides());
  const auto b = rt::packed_b(one.packed.data(), rt::strides(0, 0));
  for (int chunks : {1, 3}) {
    Floats got(one.want.size(), -5.f);
    const auto add_all = one.epilogue(got.data());
    in_chunks(chunks, nullptr, [&](const rt::Call& call) {
      rt::contract<MR, NV, true>(call, rt::extents(kImages, points), rt::extents(), m, kColumns, kTerms, a, b,
                                 [&](auto acc, i64 image, i64 point, i64 row, auto col) __attribute__((always_inline)) {
                                   add_all(acc, image * points * m + point * point_rows + row * next_row, col);
                                 });
    });
    if (auto d = difference(one.want, got, "m=" + std::to_string(m) + " points=" + std::to_string(points)); !d.empty())
      return d + (interleaved ? " interleaved" : "");
  }
  return "";
}
std::string rows_in_groups() {
  for (i64 count : {1, 2, 5, 9, 30})
    for (i64 m : {1, 2, 3, 7, 9})
      for (bool interleaved : {false, true})
        for (std::string d : {group_of_rows<8, 2>(count, m, interleaved), group_of_rows<1, 4>(count, m, interleaved)})
          if (!d.empty()) return d;
  return "";
}

// As a compiled kernel has it: literals, and the tile that the planner would take.
template <i64 M, i64 N, i64 K>
__attribute__((noinline)) std::string literal() {
  constexpr rt::Tile tile = rt::contract_tile(rt::kVectorBytes, rt::kVectorBytes == 64 ? 32 : 16, M, N);
  static_assert(rt::split_tiles(M, tile.rows).rest == tile.rows - 1);
  static_assert(rt::split_tiles(rt::panels_of(N), tile.vectors).rest == tile.vectors - 1);
  const One one({M, N, K, 1, K, 0});
  const auto compare_with = [&](const auto& packed, auto in_registers, const char* name) -> std::string {
    for (int chunks : {1, 2, 7, 100}) {
      Floats got(one.want.size(), -5.f);
      in_chunks(chunks, nullptr, [&](const rt::Call& call) {
        rt::contract<tile.rows, tile.vectors, in_registers.value>(
            call, rt::extents(), rt::extents(), rt::c<M>, rt::c<N>, rt::c<K>,
            rt::matrix_a(one.a.data(), rt::strides(), K, rt::strides()), packed, one.epilogue(got.data()));
      });
      if (auto d = difference(one.want, got, one.s.text() + name + std::to_string(chunks)); !d.empty()) return d;
    }
    return "";
  };
  const auto packed = rt::packed_b(one.packed.data(), rt::strides());
  if (auto d = compare_with(packed, rt::c<0>, " chunks="); !d.empty()) return d;
  if (auto d = compare_with(packed, rt::c<1>, " in registers chunks="); !d.empty()) return d;
  return compare_with(rt::streamed(rt::packed_b(one.packed.data(), rt::strides())), rt::c<0>, " streamed chunks=");
}
std::string literal_shapes() {
  for (std::string d : {literal<1, 1, 1>(), literal<1, 768, 64>(), literal<2, 100, 17>(), literal<4, 48, 31>(),
                        literal<7, 512, 9>(), literal<14, 40, 5>(), literal<49, 130, 64>(), literal<128, 96, 257>(),
                        literal<9, 24, 33>(), literal<20, 76, 7>()})
    if (!d.empty()) return d;
  return "";
}

// Bands of tiles, the last one shorter, and chunks that begin inside of one: literals, whole tiles and sizes of a run.
template <int Band>
__attribute__((noinline)) std::string banded(auto m, auto n, auto k) {
  const One one({m, n, k, 1, k, 0});
  const auto b = rt::streamed(rt::packed_b(one.packed.data(), rt::strides()));
  const auto a = rt::matrix_a(one.a.data(), rt::strides(), k, rt::strides());
  for (int chunks : {1, 2, 7, 100}) {
    Floats got(one.want.size(), -5.f);
    in_chunks(chunks, nullptr, [&](const rt::Call& call) {
      rt::contract<2, 1, true>(call, rt::extents(), rt::extents(), m, n, k, a, b, one.epilogue(got.data()),
                               rt::c<Band>);
    });
    const std::string name = " bands of " + std::to_string(Band) + " chunks=" + std::to_string(chunks);
    if (auto d = difference(one.want, got, one.s.text() + name); !d.empty()) return d;
  }
  return "";
}
std::string bands() {
  for (std::string d :
       {banded<1>(rt::c<7>, rt::c<40>, rt::c<9>), banded<3>(rt::c<14>, rt::c<70>, rt::c<5>),
        banded<3>(i64(15), rt::c<40>, i64(9)), banded<4>(i64(16), i64(40), i64(9)),
        banded<3>(rt::multiple_of<2>(14), rt::multiple_of<16>(80), rt::c<9>), banded<100>(i64(15), i64(40), i64(9))})
    if (!d.empty()) return d;
  return "";
}

// Numbers that a kernel is given, of whole tiles: the same bits as literals.
template <i64 M, i64 N, i64 K, bool InRegisters>
__attribute__((noinline)) std::string whole_tiles() {
  const One one({M, N, K, 1, K, 0});
  const auto b = rt::packed_b(one.packed.data(), rt::strides());
  const auto a = rt::matrix_a(one.a.data(), rt::strides(), K, rt::strides());
  const auto product = [&](const rt::Call& call, float* got, auto m, auto n, auto band) {
    rt::contract<6, 2, InRegisters>(call, rt::extents(), rt::extents(), m, n, rt::c<K>, a, b, one.epilogue(got), band);
  };
  for (int chunks : {1, 3, 50}) {
    Floats literal(one.want.size(), -5.f), shared(one.want.size(), -5.f);
    in_chunks(chunks, nullptr, [&](const rt::Call& call) {
      product(call, literal.data(), rt::c<M>, rt::c<N>, rt::c<3>);
      product(call, shared.data(), rt::multiple_of<6>(M), rt::multiple_of<32>(N), rt::multiple_of<1>(3));
    });
    if (auto d = difference(one.want, literal, one.s.text()); !d.empty()) return d;
    if (literal != shared) return one.s.text() + " differs with numbers, chunks=" + std::to_string(chunks);
  }
  return "";
}
std::string whole_tiles() {
  for (std::string d :
       {whole_tiles<6, 32, 8, true>(), whole_tiles<42, 96, 40, true>(), whole_tiles<12, 64, 600, false>()})
    if (!d.empty()) return d;
  return "";
}

// A chunk of a backward round has the columns of the same chunk of any other: they stay with the thread that takes it.
__attribute__((noinline)) std::string turned_of(auto n) {
  const One one({1, 40, 9, 1, 9, 0});
  const auto b = rt::packed_b(one.packed.data(), rt::strides());
  const auto a = rt::matrix_a(one.a.data(), rt::strides(), 9, rt::strides());
  for (int chunk = 0; chunk < 3; ++chunk) {
    Floats got[2];
    for (const bool turned : {false, true}) {
      got[turned].assign(one.want.size(), -5.f);
      rt::contract<1, 1, true>(rt::Call{nullptr, nullptr, chunk, 3, nullptr, turned}, rt::extents(), rt::extents(),
                               rt::c<1>, n, rt::c<9>, a, b, one.epilogue(got[turned].data()));
    }
    if (auto d = difference(got[0], got[1], "turned chunk " + std::to_string(chunk)); !d.empty()) return d;
  }
  return "";
}
std::string turned() {
  const std::string d = turned_of(rt::c<40>);
  return d.empty() ? turned_of(i64(40)) : d;
}

// Two images, two groups (with weights of their own or the same), 3 x 3 convolution of 4 channels: all axes at once.
std::string convolution(bool shared) {
  constexpr i64 kBatch = 2, kGroups = 2, kHeight = 5, kWidth = 9, kIn = 4, kOut = 20;
  constexpr i64 kPixel = kGroups * kIn, kRow = (kWidth + 2) * kPixel, kImage = (kHeight + 2) * kRow;
  const Floats x = small_integers(kBatch * kImage, 3), w = small_integers(kGroups * 9 * kIn * kOut, 4);
  Floats packed;
  for (i64 g = 0; g < (shared ? 1 : kGroups); ++g) {
    const Floats p = pack(Floats(w.begin() + g * 9 * kIn * kOut, w.begin() + (g + 1) * 9 * kIn * kOut), kOut, 9 * kIn);
    packed.insert(packed.end(), p.begin(), p.end());
  }
  const auto out_at = [](i64 n, i64 g, i64 y, i64 px, auto col) __attribute__((always_inline)) {
    return rt::add((((n * kHeight + y) * kWidth + px) * kGroups + g) * kOut, col);
  };
  Floats want(kBatch * kHeight * kWidth * kGroups * kOut);
  for (i64 n = 0; n < kBatch; ++n)
    for (i64 g = 0; g < kGroups; ++g)
      for (i64 y = 0; y < kHeight; ++y)
        for (i64 px = 0; px < kWidth; ++px)
          for (i64 o = 0; o < kOut; ++o)
            for (i64 t = 0; t < 9 * kIn; ++t)
              want[out_at(n, g, y, px, o)] +=
                  x[n * kImage + (y + t / (3 * kIn)) * kRow + (px + t / kIn % 3) * kPixel + g * kIn + t % kIn] *
                  w[((shared ? 0 : g) * 9 * kIn + t) * kOut + o];
  for (int chunks : {1, 2, 5}) {
    Floats got(want.size());
    in_chunks(chunks, nullptr, [&](const rt::Call& call) {
      rt::contract<5, 2>(
          call, rt::extents(kBatch, kGroups, kHeight), rt::extents(3l, 3l), kWidth, kOut, kIn,
          rt::matrix_a(x.data(), rt::strides(kImage, kIn, kRow), kPixel, rt::strides(kRow, kPixel)),
          rt::packed_b(packed.data(), rt::strides(0l, shared ? 0l : rt::packed_b_elements(kOut, 9 * kIn), 0l)),
          [&](auto acc, i64 n, i64 g, i64 y, i64 px, auto col) __attribute__((always_inline)) {
            const auto at = out_at(n, g, y, px, col);
            rt::store(got.data(), at, rt::add(acc, rt::load(got.data(), at)));
          });
    });
    if (auto d = difference(want, got, "convolution chunks=" + std::to_string(chunks)); !d.empty()) return d;
  }
  return "";
}
std::string outer_axes() {
  const std::string d = convolution(false);
  return d.empty() ? convolution(true) : d;
}

// Attention's products: B is computed, one a head, its columns or its steps of k contiguous, or neither.
template <int MR, int NV>
std::string strided_one(i64 m, i64 n, i64 k, i64 k_stride, i64 n_stride, i64 pack_from) {
  const i64 heads = 3, b_size = (k - 1) * k_stride + (n - 1) * n_stride + 1;
  const Floats a = small_integers(heads * m * k, 5), b = small_integers(heads * b_size, 6);
  const Guarded guarded_a(a), guarded_b(b);
  Floats want(heads * m * (n + kGap) + rt::kPanel, -5.f);
  for (i64 h = 0; h < heads; ++h)
    for (i64 row = 0; row < m; ++row)
      for (i64 t = 0; t < k; ++t)
        for (i64 col = 0; col < n; ++col)
          want[(h * m + row) * (n + kGap) + col] +=
              a[(h * m + row) * k + t] * b[h * b_size + t * k_stride + col * n_stride];
  std::vector<float> scratch(rt::contract_scratch_bytes({MR, NV}, k) / sizeof(float) + 1, -1.f);
  for (int chunks : {1, 4}) {
    Floats got(want.size(), -5.f);
    in_chunks(chunks, scratch.data(), [&](const rt::Call& call) {
      rt::contract<MR, NV, false, kSplits<MR, NV>>(
          call, rt::extents(heads), rt::extents(), m, n, k,
          rt::matrix_a(guarded_a.data(), rt::strides(m * k), k, rt::strides()),
          rt::strided_b(guarded_b.data(), rt::strides(b_size), k_stride, n_stride, pack_from),
          [&](auto acc, i64 h, i64 row, auto col) __attribute__((always_inline)) {
            const auto at = rt::add((h * m + row) * (n + kGap), col);
            rt::store(got.data(), at, rt::add(acc, rt::load(got.data(), at)));
          });
    });
    const std::string what = Shape{m, n, k}.text() + " strides " + std::to_string(k_stride) + ", " +
                             std::to_string(n_stride) + " packed from " + std::to_string(pack_from) +
                             " chunks=" + std::to_string(chunks);
    if (auto d = difference(want, got, what); !d.empty()) return d;
    if (scratch.back() != -1.f) return what + ": more scratch than said";
  }
  return "";
}
std::string strided() {
  for (auto [m, pack_from] : std::initializer_list<std::pair<i64, i64>>{{1, 2}, {1, 0}, {5, 6}, {17, 0}, {17, 18}})
    for (i64 n : {1, 15, 16, 33, 64, 70})
      for (i64 k : {1, 5, 16, 37, 64})
        for (auto [ks, ns] : std::initializer_list<std::pair<i64, i64>>{{n + 2, 1}, {1, k + 2}, {2, 2 * k}})
          for (std::string d :
               {strided_one<6, 4>(m, n, k, ks, ns, pack_from), strided_one<6, 1>(m, n, k, ks, ns, pack_from)})
            if (!d.empty()) return d;
  return "";
}

// Sums of thousands of real numbers stay within a few roundings of the exact one, and do not depend on the chunks.
std::string real_numbers() {
  constexpr i64 kM = 13, kN = 50, kK = 3000;
  Floats a(kM * kK), b(kK * kN), got(kM * kN), again(kM * kN);
  for (size_t i = 0; i < a.size(); ++i) a[i] = std::sin(static_cast<float>(i) * 0.7f);
  for (size_t i = 0; i < b.size(); ++i) b[i] = std::cos(static_cast<float>(i) * 1.3f);
  const Floats packed = pack(b, kN, kK);
  const auto run = [&](Floats& to, int chunks) {
    in_chunks(chunks, nullptr, [&](const rt::Call& call) {
      rt::contract<6, 2>(call, rt::extents(), rt::extents(), kM, kN, kK,
                         rt::matrix_a(a.data(), rt::strides(), kK, rt::strides()),
                         rt::packed_b(packed.data(), rt::strides()),
                         [&](auto acc, i64 row, auto col)
                             __attribute__((always_inline)) { rt::store(to.data(), rt::add(row * kN, col), acc); });
    });
  };
  run(got, 1);
  run(again, 5);
  if (auto d = difference(got, again, "five chunks"); !d.empty()) return d;
  for (i64 row = 0; row < kM; ++row)
    for (i64 col = 0; col < kN; ++col) {
      double sum = 0, magnitude = 0;
      for (i64 k = 0; k < kK; ++k) {
        const double product = static_cast<double>(a[row * kK + k]) * b[k * kN + col];
        sum += product;
        magnitude += std::abs(product);
      }
      if (std::abs(got[row * kN + col] - sum) > 1e-6 * magnitude) return "a sum of real numbers is off";
    }
  return "";
}

// Weights that a column's first tile widens: known sizes and those of a run, and fewer tiles than pay for it. Chunks
// share the scratch, so that what one has left there shows in the next.
template <bool InRegisters>
std::string widened_one(auto m, auto n, auto k, i64 segments) {
  constexpr rt::Tile kTile = rt::kVectorBytes == 64 ? rt::Tile{4, 3} : rt::Tile{4, 1};
  const One one({m, n, k, segments, k, m * k});
  std::vector<rt::half> narrow(static_cast<size_t>(rt::packed_b_elements(n, segments * k)));
  for (i64 i = 0; i < static_cast<i64>(narrow.size()); ++i) rt::store(narrow.data(), i, one.packed.data()[i]);
  const Guarded<rt::half> weights(narrow);
  std::vector<float> scratch(rt::contract_scratch_bytes(kTile, segments * k) / sizeof(float) + 1, -1.f);
  const auto b = rt::widened(rt::packed_b(weights.data(), rt::strides()));
  const auto run = [&](int chunks, const auto& of_weights) {
    Floats got(one.want.size(), -5.f);
    in_chunks(chunks, scratch.data(), [&](const rt::Call& call) {
      rt::contract<kTile.rows, kTile.vectors, InRegisters>(call, rt::extents(), rt::extents(segments), m, n, k,
                                                           one.operand_a(), of_weights, one.epilogue(got.data()));
    });
    return difference(one.want, got, one.s.text() + " widened chunks=" + std::to_string(chunks));
  };
  for (int chunks : {1, 3, 20})
    for (std::string d : {run(chunks, b), run(chunks, rt::streamed(b))})
      if (!d.empty()) return d;
  return scratch.back() == -1.f ? "" : one.s.text() + ": more scratch than said";
}
std::string widened() {
  for (i64 m : {1, 2, 7, 16, 30})
    for (i64 n : {5, 16, 100})
      for (i64 k : {1, 12, 700})
        for (std::string d : {widened_one<false>(m, n, k, 1), widened_one<false>(m, rt::c<100>, k, 3)})
          if (!d.empty()) return d;
  for (std::string d :
       {widened_one<true>(rt::c<16>, rt::c<100>, rt::c<33>, 1), widened_one<true>(rt::c<30>, rt::c<24>, rt::c<7>, 4),
        widened_one<false>(rt::c<18>, rt::c<97>, rt::c<700>, 1)})
    if (!d.empty()) return d;
  return "";
}

// The specification alone takes operands of any element: here 16-bit floats, summed in 32 bits.
std::string halves() {
  constexpr i64 kM = 3, kN = 20, kK = 11;
  const Floats a = small_integers(kM * kK, 7), b = small_integers(kK * kN, 8);
  std::vector<rt::half> half_a(a.size()), half_b(rt::packed_b_elements(kN, kK));
  for (size_t i = 0; i < a.size(); ++i) rt::store(half_a.data(), static_cast<i64>(i), a[i]);
  const Floats packed = pack(b, kN, kK);
  for (size_t i = 0; i < packed.size(); ++i) rt::store(half_b.data(), static_cast<i64>(i), packed[i]);
  Floats want(kM * kN), got(kM * kN);
  for (i64 row = 0; row < kM; ++row)
    for (i64 col = 0; col < kN; ++col)
      for (i64 k = 0; k < kK; ++k) want[row * kN + col] += a[row * kK + k] * b[k * kN + col];
  in_chunks(2, nullptr, [&](const rt::Call& call) {
    rt::contract_naive(
        call, rt::extents(), rt::extents(), kM, kN, kK, rt::matrix_a(half_a.data(), rt::strides(), kK, rt::strides()),
        rt::packed_b(half_b.data(), rt::strides()), [&](float acc, i64 row, i64 col) { got[row * kN + col] = acc; });
  });
  return difference(want, got, "halves");
}

// Codes of 4 or 8 bits in blocks, with zero points of blocks or one for all. Scales are powers of two, so sums are
// exact.
template <int Bits, int MR, int NV>
std::string codes_one(i64 m, i64 n, i64 k, i64 blocks, bool has_zeros) {
  constexpr i64 kTerms = 8 / Bits;
  const i64 k_total = k * blocks, panels = rt::panels_of(n) * rt::kPanel;
  const Floats a = small_integers(m * k_total, 1), picks = small_integers(k_total * n, 2);
  const auto code = [&](i64 t, i64 col) { return int(picks[t * n + col]) + 3 + (Bits == 8 ? 240 : 9); };
  const auto zero = [&](i64 block, i64 col) { return has_zeros ? int(block + col) % 16 : 8; };
  const auto scale = [&](i64 block, i64 col) { return (block + col) % 2 ? 0.5f : 2.f; };
  std::vector<rt::u8> bytes(panels * k_total / kTerms), zeros(panels * blocks);
  Floats scales(panels * blocks);
  rt::pack_b(bytes.data(), n, k_total / kTerms, [&](i64 t, i64 col) {
    int byte = 0;
    for (i64 i = 0; i < kTerms; ++i) byte |= code(t * kTerms + i, col) << i * 4;
    return static_cast<rt::u8>(byte);
  });
  rt::pack_b(zeros.data(), n, blocks, [&](i64 block, i64 col) { return static_cast<rt::u8>(zero(block, col)); });
  rt::pack_b(scales.data(), n, blocks, scale);
  Floats want(m * (n + kGap) + rt::kPanel, -5.f);
  for (i64 row = 0; row < m; ++row)
    for (i64 t = 0; t < k_total; ++t)
      for (i64 col = 0; col < n; ++col)
        want[row * (n + kGap) + col] +=
            a[row * k_total + t] * static_cast<float>(code(t, col) - zero(t / k, col)) * scale(t / k, col);
  const Guarded guarded_a(a), guarded_scales(scales);
  const Guarded<rt::u8> guarded(bytes), guarded_zeros(zeros);
  const auto b =
      rt::codes_b<Bits>(guarded.data(), guarded_scales.data(), has_zeros ? guarded_zeros.data() : nullptr, k, 8);
  for (const bool naive : {true, false}) {
    Floats got(want.size(), -5.f);
    in_chunks(3, nullptr, [&](const rt::Call& call) {
      const auto rows = rt::matrix_a(guarded_a.data(), rt::strides(), k_total, rt::strides(k));
      const auto keep = [&](auto acc, i64 row, auto col) __attribute__((always_inline)) {
        const auto at = rt::add(row * (n + kGap), col);
        rt::store(got.data(), at, rt::add(acc, rt::load(got.data(), at)));
      };
      if (naive)
        rt::contract_naive(call, rt::extents(), rt::extents(blocks), m, n, k, rows, b, keep);
      else
        rt::contract<MR, NV, true>(call, rt::extents(), rt::extents(blocks), m, n, k, rows, b, keep);
    });
    const std::string what =
        Shape{m, n, k, blocks}.text() + " codes of " + std::to_string(Bits) + (naive ? " naive" : "");
    if (auto d = difference(want, got, what); !d.empty()) return d;
  }
  return "";
}
std::string codes() {
  for (i64 m : {1, 2, 5})
    for (i64 n : {1, 16, 50})
      for (i64 k : {2, 16, 18})
        for (bool zeros : {true, false})
          for (std::string d : {codes_one<4, 1, 4>(m, n, k, 3, zeros), codes_one<4, 2, 2>(m, n, k, 1, zeros),
                                codes_one<8, 3, 1>(m, n, k, 2, zeros)})
            if (!d.empty()) return d;
  return "";
}

}  // namespace

extern const Cases CASES_NAME{CASES_TARGET, runs_here,    tile_edges, segments,   literal_shapes,
                              whole_tiles,  bands,        turned,     outer_axes, rows_in_groups,
                              strided,      real_numbers, halves,     widened,    codes};

}  // namespace contract_cases
