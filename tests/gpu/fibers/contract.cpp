// contract with both operands in shared memory over fibers, against a product in double: shapes with edges in every
// axis, every element type, each way in which operands may stand, several orders of threads.
#include "runtime/kernels/contract.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "tests/support/fibers.h"

namespace {

using rt::i64;

struct Shape {
  i64 points, m, n, segments, k;  // rows of a stand `gap` apart, segments `step`
  i64 gap, step;
};
enum class B { Packed, AlongColumns, AlongTerms, Strided };

template <class T>
T narrow(float x) {
  if constexpr (rt::kSame<T, float>) {
    return x;
  } else if constexpr (rt::kSame<T, rt::half>) {
    return rt::to_half(x);
  } else {
    return rt::to_bfloat(x);
  }
}
template <class T>
double widened(T x) {
  if constexpr (rt::kSame<T, float>) {
    return x;
  } else {
    return rt::to_float(x);
  }
}
/// Some numbers that 8 bits hold.
template <class T>
std::vector<T> numbers(size_t count, unsigned seed) {
  std::vector<T> v;
  for (size_t i = 0; i < count; ++i)
    v.push_back(narrow<T>(static_cast<float>((seed += 0x9e3779b9u) >> 9 & 0xff) / 16 - 8));
  return v;
}

/// Operands of one product. `misplaced`: a's elements are not where 16 bytes begin.
template <class T>
struct Product {
  Shape s;
  B b_stands;
  i64 misplaced, terms = s.segments * s.k, b_size;
  std::vector<T> a, b;

  Product(Shape shape, B stands, bool misplace)
      : s(shape),
        b_stands(stands),
        misplaced(misplace ? 1 : 0),
        b_size(stands == B::Packed ? rt::packed_b_elements(s.n, terms) : 2 * s.n * terms),
        a(numbers<T>(static_cast<size_t>(misplaced + (s.points * s.m - 1) * s.gap + (s.segments - 1) * s.step + s.k),
                     1)),
        b(numbers<T>(static_cast<size_t>(stands == B::Packed ? b_size : s.points * b_size), 2)) {}

  i64 k_stride() const { return b_stands == B::AlongTerms ? 1 : b_stands == B::Strided ? 2 * s.n : s.n; }
  i64 n_stride() const { return b_stands == B::AlongTerms ? terms : b_stands == B::Strided ? 2 : 1; }
  double a_at(i64 point, i64 row, i64 t) const {
    const i64 at = misplaced + (point * s.m + row) * s.gap + t / s.k * s.step + t % s.k;
    return widened(a[static_cast<size_t>(at)]);
  }
  double b_at(i64 point, i64 t, i64 col) const {
    const i64 at = b_stands == B::Packed ? (col / 16 * terms + t) * 16 + col % 16
                                         : point * b_size + t * k_stride() + col * n_stride();
    return widened(b[static_cast<size_t>(at)]);
  }
  /// sum + 100 row + col, where the kernel has written it; NaN elsewhere.
  template <int Rows, int NV, int Stages>
  std::vector<float> multiplied(int blocks, uint64_t seed) const {
    std::vector<float> y(static_cast<size_t>(s.points * s.m * s.n), NAN);
    const auto epilogue = [&](auto acc, i64 point, i64 row, auto col) {
      const size_t at = static_cast<size_t>((point * s.m + row) * s.n + col);
      if (!std::isnan(y[at])) ADD_FAILURE() << "an output that is written twice";
      y[at] = acc + static_cast<float>(100 * row + col);
    };
    rt::Fibers& words = rt::cameo_fibers;
    cameo::test::run_blocks(
        words, blocks,
        [&] {
          const rt::Call call{nullptr, nullptr, words.block, words.blocks};
          const auto of_a = rt::matrix_a(a.data() + misplaced, rt::strides(s.m * s.gap), s.gap, rt::strides(s.step));
          const auto run = [&](auto of_b) {
            rt::contract_staged<Rows, NV, 1, Stages>(call, rt::extents(s.points), rt::extents(s.segments), s.m, s.n,
                                                     s.k, of_a, of_b, epilogue);
          };
          if (b_stands == B::Packed) return run(rt::packed_b(b.data(), rt::strides(i64{0})));
          run(rt::strided_b(b.data(), rt::strides(b_size), k_stride(), n_stride()));
        },
        seed);
    return y;
  }
  void check(const std::vector<float>& y) const {
    for (i64 p = 0; p < s.points; ++p)
      for (i64 r = 0; r < s.m; ++r)
        for (i64 c = 0; c < s.n; ++c) {
          double sum = 0, size = 0;
          for (i64 t = 0; t < terms; ++t) {
            sum += a_at(p, r, t) * b_at(p, t, c);
            size += std::abs(a_at(p, r, t) * b_at(p, t, c));
          }
          sum += static_cast<double>(100 * r + c);
          const float got = y[static_cast<size_t>((p * s.m + r) * s.n + c)];
          ASSERT_NEAR(got, sum, 1e-6 * (size + std::abs(sum))) << "point " << p << " row " << r << " column " << c;
        }
  }
};

template <class T, int Rows, int NV, int Stages = 3>
void check(Shape s, B b, bool misplaced, int blocks = 2, uint64_t seed = 1) {
  SCOPED_TRACE(testing::Message() << s.points << " x " << s.m << " x " << s.n << ", " << s.segments << " x " << s.k
                                  << " terms, b " << static_cast<int>(b) << (misplaced ? " misplaced" : ""));
  const Product<T> product(s, b, misplaced);
  product.check(product.template multiplied<Rows, NV, Stages>(blocks, seed));
}

TEST(ContractStaged, TilesOfEverySize) {
  const Shape s{2, 70, 80, 1, 40, 40, 0};
  check<rt::half, 32, 2>(s, B::Packed, false);
  check<rt::half, 32, 2, 2>(s, B::Packed, false);
  check<rt::half, 32, 2, 4>(s, B::Packed, false);
  check<rt::half, 32, 4>(s, B::Packed, false);
  check<rt::half, 64, 4>(s, B::Packed, false);
  check<rt::bfloat, 128, 4>(s, B::Packed, false);
  check<float, 32, 2>(s, B::Packed, false);
  check<float, 32, 4>(s, B::AlongTerms, false);
  check<float, 64, 2>(s, B::AlongTerms, false);
  check<float, 64, 4>(s, B::Packed, false);
}
TEST(ContractStaged, Edges) {
  for (const Shape& s : {Shape{1, 1, 1, 1, 1, 1, 0}, Shape{3, 5, 17, 1, 9, 9, 0}, Shape{1, 33, 31, 1, 33, 48, 0},
                         Shape{1, 64, 64, 1, 32, 32, 0}, Shape{2, 31, 65, 1, 100, 104, 0}})
    for (const B b : {B::Packed, B::AlongColumns, B::AlongTerms, B::Strided}) {
      check<rt::half, 32, 2>(s, b, false);
      check<rt::bfloat, 32, 4>(s, b, true);
      check<float, 32, 2>(s, b, true);
      check<float, 64, 4>(s, b, false);
    }
}
TEST(ContractStaged, RunsOfColumnsAndOfTermsInBatches) {
  for (const B b : {B::AlongColumns, B::AlongTerms}) {
    check<rt::half, 64, 4>({3, 72, 72, 1, 72, 72, 0}, b, false, 5);
    check<float, 64, 4>({3, 72, 72, 1, 172, 172, 0}, b, false, 5);
  }
}
TEST(ContractStaged, SegmentsOfConvolutions) {
  check<rt::half, 32, 4>({7, 9, 40, 3, 24, 8, 88}, B::Packed, false);  // runs: rows overlap, as pixels do
  check<float, 32, 4>({7, 9, 40, 3, 24, 8, 88}, B::Packed, false);
  check<rt::bfloat, 64, 2>({5, 11, 24, 5, 9, 3, 39}, B::Packed, false);  // none: three channels
}
TEST(ContractStaged, AnyOrderOfThreads) {
  for (uint64_t seed = 1; seed <= 8; ++seed) {
    check<rt::half, 32, 2>({2, 40, 40, 1, 136, 136, 0}, B::Packed, false, 1, seed);
    check<rt::half, 32, 2>({2, 40, 40, 1, 136, 136, 0}, B::AlongTerms, true, 1, seed);
    check<float, 32, 2>({2, 40, 40, 1, 136, 136, 0}, B::Packed, false, 1, seed);
  }
}

}  // namespace
