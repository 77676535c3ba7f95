// Folds: every kind over every small extent and some long ones, sequential and along lanes, against plain loops; NaN,
// ties and empty folds; and that a sum along lanes depends on the extent only.
#include "runtime/rt/fold.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "runtime/rt/load.h"
#include "ulp.h"

namespace rt_test {
namespace {

// The position NumPy's argmax (argmin) gives, NaN above all; the last one where asked.
template <class T>
int64_t arg_reference(const std::vector<T>& x, int64_t n, bool max, bool last) {
  const auto nan = [](T v) { return v != v; };
  int64_t best = 0;
  for (int64_t i = 1; i < n; ++i) {
    const T a = x[static_cast<size_t>(i)], b = x[static_cast<size_t>(best)];
    const bool beats = nan(b) ? false : nan(a) || (max ? a > b : a < b);
    const bool ties = nan(a) ? nan(b) : a == b;
    if (beats || (last && ties)) best = i;
  }
  return best;
}

template <class T>
std::vector<T> values(int64_t n, int kind) {  // 0: distinct, 1: many ties, 2: with NaN and infinities
  Random random;
  std::vector<T> x(static_cast<size_t>(n) + 1);
  for (T& v : x) {
    v = static_cast<T>(static_cast<int64_t>(random.next() % (kind == 1 ? 3 : 100)) - (kind == 1 ? 0 : 50));
    if constexpr (std::is_floating_point_v<T>) {
      const int roll = kind == 2 ? static_cast<int>(random.next() % 40) : 9;
      v = roll == 0 ? T(NAN) : roll == 1 ? T(HUGE_VAL) : roll == 2 ? T(-HUGE_VAL) : v;
    }
  }
  return x;
}

template <rt::FoldKind K, class T>
auto both(const std::vector<T>& x, int64_t n) {  // sequential and along lanes must agree
  const auto body = [&](auto r) { return rt::load(x.data(), r); };
  const auto one = rt::fold<K>(n, body);
  const auto lanes = rt::fold_lanes<K, 8>(n, body);
  EXPECT_TRUE(identical(one, lanes)) << "kind " << K << ", extent " << n << ": " << +one << ", " << +lanes;
  return one;
}

template <class T>
class Folds : public testing::Test {};
using FoldTypes = testing::Types<float, double, int8_t, int32_t, int64_t>;
TYPED_TEST_SUITE(Folds, FoldTypes);

TYPED_TEST(Folds, EveryKindAndExtent) {
  using T = TypeParam;
  for (int kind = 0; kind < 3; ++kind) {
    for (int64_t n = 0; n < 300; n += n < 140 ? 1 : 37) {
      const std::vector<T> x = values<T>(n, kind);
      T sum = 0, low = rt::Limits<T>::min_identity, high = rt::Limits<T>::max_identity;
      for (int64_t i = 0; i < n; ++i) {
        const T v = x[static_cast<size_t>(i)];
        sum = rt::add(sum, v), low = rt::min(low, v), high = rt::max(high, v);  // small integers: exact in any order
      }
      ASSERT_TRUE(identical((both<rt::Sum>(x, n)), sum)) << n;
      ASSERT_TRUE(identical((both<rt::Min>(x, n)), low)) << n;
      ASSERT_TRUE(identical((both<rt::Max>(x, n)), high)) << n;
      ASSERT_EQ((both<rt::ArgMax>(x, n)), arg_reference(x, n, true, false)) << n;
      ASSERT_EQ((both<rt::ArgMin>(x, n)), arg_reference(x, n, false, false)) << n;
      ASSERT_EQ((both<rt::ArgMaxLast>(x, n)), arg_reference(x, n, true, true)) << n;
      ASSERT_EQ((both<rt::ArgMinLast>(x, n)), arg_reference(x, n, false, true)) << n;
    }
  }
}

TEST(Fold, ProductsAndEmptyFolds) {
  const auto two = [](auto r) { return rt::select(rt::lt(r, 100), 2.0, 1.0); };
  EXPECT_EQ((rt::fold<rt::Prod>(120, two)), 0x1p100);
  EXPECT_EQ((rt::fold_lanes<rt::Prod, 8>(120, two)), 0x1p100);
  EXPECT_EQ((rt::fold<rt::Prod>(0, two)), 1.0);
  EXPECT_EQ((rt::fold_lanes<rt::Sum, 8>(0, two)), 0.0);
  EXPECT_EQ((rt::fold<rt::Max>(0, two)), -HUGE_VAL);
  EXPECT_EQ((rt::fold<rt::Min>(-5, two)), HUGE_VAL);
  EXPECT_EQ((rt::fold<rt::ArgMax>(0, two)), 0);
  EXPECT_EQ((rt::fold<rt::Max>(0, [](auto) { return rt::i32(7); })), INT32_MIN);
}

TEST(Fold, AllLowestStillGivesAnIndexInside) {
  const auto lowest = [](auto r) { return rt::select(rt::lt(r, 1000), -HUGE_VALF, 0.0f); };
  for (int64_t n : {1, 15, 16, 17, 64, 65, 200}) {
    EXPECT_EQ((rt::fold_lanes<rt::ArgMax, 16>(n, lowest)), 0);
    EXPECT_EQ((rt::fold_lanes<rt::ArgMaxLast, 16>(n, lowest)), n - 1);
  }
}

TEST(Fold, LanesReduceSeparately) {
  std::vector<float> x(64 * 37);
  Random random;
  for (float& v : x) v = static_cast<float>(random.unit());
  const rt::Lanes<16> column{3};
  const auto sum = rt::fold<rt::Sum>(37, [&](auto r) { return rt::load(x.data(), r * 64 + column); });
  const auto at = rt::fold<rt::ArgMax>(37, [&](auto r) { return rt::load(x.data(), r * 64 + column); });
  const auto nested = rt::fold<rt::Max>(37, [&](auto r) {
    return rt::fold<rt::Sum>(5, [&](auto s) { return rt::load(x.data(), r * 64 + column + s); });
  });
  for (int i = 0; i < 16; ++i) {
    const auto one = [&](auto r) { return rt::load(x.data(), r * 64 + 3 + i); };
    EXPECT_TRUE(identical<float>(sum[i], rt::fold<rt::Sum>(37, one)));
    EXPECT_EQ(at[i], rt::fold<rt::ArgMax>(37, one));
    EXPECT_TRUE(identical<float>(nested[i], rt::fold<rt::Max>(37, [&](auto r) {
                                   return rt::fold<rt::Sum>(
                                       5, [&](auto s) { return rt::load(x.data(), r * 64 + 3 + i + s); });
                                 })));
  }
}

TEST(Fold, LongSumsStayAccurate) {
  const int64_t n = 5000000;
  std::vector<float> x(static_cast<size_t>(n));
  Random random;
  double exact = 0;
  for (float& v : x) v = static_cast<float>(random.unit()), exact += v;
  const auto body = [&](auto r) { return rt::load(x.data(), r); };
  EXPECT_NEAR((rt::fold<rt::Sum>(n, body)) / exact, 1, 5e-6);
  EXPECT_NEAR((rt::fold_lanes<rt::Sum, 16>(n, body)) / exact, 1, 1e-6);
}

// The order of a sum along lanes, spelled out: four accumulators, blocks, halving, the rest.
TEST(Fold, SumAlongLanesHasOneOrder) {
  constexpr int w = 8;
  for (int64_t n : {0, 5, 8, 31, 32, 33, 100, 2047, 2048, 2056, 20000}) {
    std::vector<float> x(static_cast<size_t>(n));
    Random random;
    for (float& v : x) v = static_cast<float>(random.unit());
    double total[w] = {};
    int64_t r = 0;
    while (n - r >= 4 * w) {
      float part[4][w] = {};
      for (int64_t end = std::min(n, r + 64 * 4 * w); end - r >= 4 * w; r += 4 * w) {
        for (int k = 0; k < 4 * w; ++k) part[k / w][k % w] += x[static_cast<size_t>(r + k)];
      }
      for (int k = 0; k < 4 * w; ++k) total[k % w] += part[k / w][k % w];
    }
    for (; n - r >= w; r += w) {
      for (int i = 0; i < w; ++i) total[i] += x[static_cast<size_t>(r + i)];
    }
    for (int half = w / 2; half; half /= 2) {
      for (int i = 0; i < half; ++i) total[i] += total[i + half];
    }
    for (; r < n; ++r) total[0] += x[static_cast<size_t>(r)];
    EXPECT_TRUE(identical((rt::fold_lanes<rt::Sum, w>(n, [&](auto i) { return rt::load(x.data(), i); })),
                          static_cast<float>(total[0])))
        << n;
  }
}

}  // namespace
}  // namespace rt_test
