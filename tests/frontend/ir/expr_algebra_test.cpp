// Sizes that only a run knows: what is proven of index expressions over them holds at every size, and what index maps
// need (rows and columns of flattened axes, windows, halves) is proven.
#include "frontend/ir/expr_algebra.h"

#include <gtest/gtest.h>

#include <map>
#include <random>

namespace cameo {
namespace {

using Rng = std::mt19937_64;
using Values = std::map<uint32_t, int64_t>;  // of symbols and variables, by id

int64_t floor_of(int64_t a, int64_t b) { return a / b - ((a % b != 0) && ((a < 0) != (b < 0))); }

int64_t evaluate(Expr e, const Values& at) {
  if (e.is_const()) return e.int_value();
  if (e.op() == Op::Symbol || e.op() == Op::Var) return at.at(e.id());
  std::vector<int64_t> a;
  for (Expr x : e.args()) a.push_back(evaluate(x, at));
  switch (e.op()) {
    case Op::Add: return a[0] + a[1];
    case Op::Sub: return a[0] - a[1];
    case Op::Mul: return a[0] * a[1];
    case Op::FloorDiv: return a[1] == 0 ? 0 : floor_of(a[0], a[1]);
    case Op::Mod: return a[1] == 0 ? 0 : a[0] - floor_of(a[0], a[1]) * a[1];
    case Op::Min: return std::min(a[0], a[1]);
    case Op::Max: return std::max(a[0], a[1]);
    case Op::Lt: return a[0] < a[1];
    case Op::Le: return a[0] <= a[1];
    case Op::Eq: return a[0] == a[1];
    default: ADD_FAILURE() << "no meaning of " << to_string(e); return 0;
  }
}

/// Index expressions as shape rules and index maps make them: sums and products of sizes, variables that run over them,
/// and divisions by sizes.
class Indices {
 public:
  explicit Indices(uint64_t seed) : rng_(seed) {
    symbols_ = {symbol("n", {1, 5}), symbol("m", {0, 4}), symbol("k", {2, 6})};
    for (int i = 0; i < 3; ++i) variables_.push_back(var(size(1 + i % 2)));
  }

  Expr size(int depth) {
    if (depth == 0 || draw(4) == 0) return draw(3) ? pick(symbols_) : integer(1 + draw(4));
    const Expr a = size(depth - 1), b = size(depth - 1);
    switch (draw(6)) {
      case 0: return floor_div(a, integer(1 + draw(3)));
      case 1: return max(a - integer(draw(3)), integer(0));
      case 2:
      case 3: return a + b;
      default: return a * b;
    }
  }
  Expr index(int depth) {
    if (depth == 0) return draw(3) ? pick(variables_) : size(1);
    const Expr a = index(depth - 1);
    switch (draw(9)) {
      case 0: return floor_div(a, size(2));
      case 1: return mod(a, size(2));
      case 2: return a - index(depth - 1);
      case 3: return a * size(1);
      case 4: return min(a, size(2));
      case 5: return max(a, index(depth - 1));
      case 6: return a * size(1) + index(depth - 1);
      case 7: return a + integer(draw(5) - 2);
      default: return a + index(depth - 1);
    }
  }
  Expr condition() {
    const Expr a = index(2), b = draw(2) ? size(2) : index(2);
    return draw(3) == 0 ? eq(a, b) : draw(2) ? lt(a, b) : le(a, b);
  }
  /// Sizes within their bounds and variables below their extents; nothing where an axis is empty.
  std::optional<Values> values() {
    Values at;
    for (Expr s : symbols_) {
      const Interval r = range_of(s);
      at[s.id()] = static_cast<int64_t>(r.low) + draw(static_cast<int64_t>(r.high - r.low) + 1);
    }
    for (Expr v : variables_) {
      const int64_t extent = evaluate(v.extent(), at);
      if (extent <= 0) return std::nullopt;
      at[v.id()] = draw(3) ? draw(extent) : draw(2) ? extent - 1 : 0;
    }
    return at;
  }

 private:
  int64_t draw(int64_t below) { return static_cast<int64_t>(rng_() % static_cast<uint64_t>(below)); }
  Expr pick(const std::vector<Expr>& from) { return from[static_cast<size_t>(draw(std::ssize(from)))]; }

  Rng rng_;
  std::vector<Expr> symbols_, variables_;
};

std::string text(const Values& at) {
  std::string s;
  for (auto& [id, v] : at) s += " #" + std::to_string(id) + "=" + std::to_string(v);
  return s;
}

TEST(ExprAlgebra, HoldsForRandomIndicesOverSizes) {
  int shorter = 0;
  for (uint64_t seed = 0; seed < 6'000 && !HasFailure(); ++seed) {
    Indices indices(seed);
    const Expr e = seed % 3 ? indices.index(3) : indices.condition(), simplified = simplify_index(e);
    shorter += simplified != e;
    const Expr sum = e.type() == DType::i64 ? from_affine(affine(e)) : e;
    for (int i = 0; i < 20; ++i) {
      const auto at = indices.values();
      if (!at) continue;
      const int64_t want = evaluate(e, *at);
      ASSERT_EQ(evaluate(simplified, *at), want) << to_string(e) << "\n" << to_string(simplified) << text(*at);
      ASSERT_EQ(evaluate(sum, *at), want) << to_string(e) << "\n" << to_string(sum) << text(*at);
      const Interval r = range_of(simplified);
      ASSERT_TRUE(r.low <= want && want <= r.high) << to_string(simplified) << text(*at);
    }
    EXPECT_EQ(simplify_index(simplified), simplified) << to_string(e);
  }
  EXPECT_GT(shorter, 4'000);
}

// ---- what has to be proven ----
class Sizes : public testing::Test {
 protected:
  const Expr n = symbol("N", {1, 32}), s = symbol("S", {1, 512}), past = symbol("past", {0, 511});
};

TEST_F(Sizes, EqualPolynomialsAreEqual) {
  EXPECT_EQ(simplify_index((n + integer(1)) * s), simplify_index(s * n + s));
  EXPECT_EQ(simplify_index((n + s) * (n - s)), simplify_index(n * n - s * s));
  EXPECT_EQ(simplify_index(n * integer(4) * s * integer(3)), simplify_index(s * (n * integer(12))));
}
TEST_F(Sizes, FlattenedAxesComeApart) {
  const Expr i = var(n), j = var(s), h = var(integer(12)), flat = (i * s + j) * integer(12) + h;
  EXPECT_EQ(simplify_index(floor_div(flat, integer(12))), simplify_index(i * s + j));
  EXPECT_EQ(simplify_index(mod(flat, integer(12))), h);
  EXPECT_EQ(simplify_index(floor_div(flat, s * integer(12))), i);
  EXPECT_EQ(simplify_index(mod(floor_div(flat, integer(12)), s)), j);
  EXPECT_EQ(simplify_index(floor_div(i * (past + integer(1)) + var(past + integer(1)), past + integer(1))), i);
}
TEST_F(Sizes, WhereAnAxisMayBeEmptyToo) {  // then there is no index
  const Expr i = var(n), j = var(past), h = var(integer(12)), flat = (i * past + j) * integer(12) + h;
  const Expr half = floor_div(s, integer(2)), k = var(half), pixel = (i * half + k) * integer(2) + var(integer(2));
  EXPECT_EQ(simplify_index(floor_div(flat, past * integer(12))), i);
  EXPECT_EQ(simplify_index(mod(floor_div(flat, integer(12)), past)), j);
  EXPECT_EQ(simplify_index(floor_div(pixel, half * integer(2))), i);
  EXPECT_EQ(simplify_index(mod(floor_div(pixel, integer(2)), half)), k);
  const Expr found = fold(FoldKind::Sum, j, j);
  EXPECT_EQ(simplify_index(floor_div(found * past, past)).op(), Op::FloorDiv);  // of an empty fold it is 0 / 0
}
TEST_F(Sizes, DivisionsLoseWhatBothSidesHave) {
  const Expr width = s + integer(1), i = var(n * width), k = var(integer(10)), j = var(width * integer(2));
  EXPECT_EQ(simplify_index(floor_div(i * integer(10) + k, width * integer(10))), floor_div(i, width));
  EXPECT_EQ(simplify_index(mod(i * integer(10) + k, width * integer(10))),
            simplify_index(mod(i, width) * integer(10) + k));
  EXPECT_EQ(simplify_index(floor_div(i * n + var(n), width * n)), floor_div(i, width));
  EXPECT_EQ(simplify_index(floor_div(j * width, width * integer(2))), floor_div(j, integer(2)));
  EXPECT_EQ(simplify_index(mod(j * width, width * integer(2))), simplify_index(mod(j, integer(2)) * width));
}
TEST_F(Sizes, QuotientsOfSizesAreOne) {
  EXPECT_EQ(simplify_index(floor_div(floor_div(s - integer(1), integer(2)) - integer(1), integer(2))),
            simplify_index(floor_div(s - integer(3), integer(4))));
  EXPECT_EQ(simplify_index(floor_div(s - integer(40), integer(20)) + integer(1)),  // as constants are written
            simplify_index(floor_div(s, integer(20)) - integer(1)));
  EXPECT_EQ(simplify_index(mod(s - integer(1), integer(4))), mod(s + integer(3), integer(4)));
}
TEST_F(Sizes, QuotientsByNegativeNumbers) {  // of a Range that goes down
  EXPECT_EQ(simplify_index(floor_div(s * integer(2), integer(-1))), simplify_index(s * integer(-2)));
  EXPECT_EQ(simplify_index(floor_div(s, integer(-3))), floor_div(s * integer(-1), integer(3)));
}
TEST_F(Sizes, AndTogetherAgain) {
  const Expr flat = var(n * s);
  EXPECT_EQ(simplify_index(floor_div(flat, s) * s + mod(flat, s)), flat);
  EXPECT_EQ(simplify_index(floor_div(flat, s) * s * integer(8) + mod(flat, s) * integer(8)), flat * integer(8));
}
TEST_F(Sizes, ButNotWhatIsDividedByZero) {  // 0, where x / n * n + x % n would be x
  const Expr i = var(n);
  EXPECT_EQ(simplify_index(mod(i, integer(0)) + floor_div(i, integer(0))).op(), Op::Add);
  EXPECT_EQ(simplify_index(floor_div(i, past) * past + mod(i, past)).op(), Op::Add);
}
TEST_F(Sizes, IndicesLieWithinExtents) {
  const Expr i = var(n), j = var(s), k = var(past);
  EXPECT_EQ(simplify_index(lt(i * s + j, n * s)), boolean(true));
  EXPECT_EQ(simplify_index(lt(k + integer(1), past + integer(1))), boolean(true));
  EXPECT_EQ(simplify_index(le(past + integer(1), k)), boolean(false));
  EXPECT_EQ(simplify_index(lt(floor_div(j, integer(2)), floor_div(s + integer(1), integer(2)))), boolean(true));
  EXPECT_EQ(simplify_index(lt(floor_div(var(n * s), s), n)), boolean(true));
  EXPECT_EQ(simplify_index(min(i * integer(2), n * integer(2))), i * integer(2));
  EXPECT_EQ(simplify_index(eq(k, past)), boolean(false));
}
TEST_F(Sizes, WindowsReachTheirPadding) {  // 3 taps, stride 2, one element of padding on both sides
  const Expr in = symbol("H", {4, 640}), out = floor_div(in - integer(1), integer(2)) + integer(1);
  const Expr at = var(out) * integer(2) + var(integer(3)) - integer(1);
  EXPECT_EQ(simplify_index(le(integer(-1), at)), boolean(true));
  EXPECT_EQ(simplify_index(lt(at, in + integer(1))), boolean(true));
  EXPECT_NE(simplify_index(lt(at, in)), boolean(true));
}
TEST_F(Sizes, AnAxisThatIsNotBroadcastHasItsIndex) {
  const Expr i = var(n);
  EXPECT_EQ(simplify_index(select(eq(n, integer(1)), integer(0), i)), i);
  EXPECT_EQ(simplify_index(select(eq(s, integer(1)), integer(0), i)).op(), Op::Select);
}
TEST_F(Sizes, WhatBroadcastsAgainstACutOfItselfKeepsItsSize) {
  const Expr cut = min(s, integer(64));
  EXPECT_EQ(simplify_index(select(eq(s, integer(1)), cut, s)), s);
  EXPECT_EQ(simplify_index(select(eq(s, integer(1)), n, s)).op(), Op::Select);
  EXPECT_EQ(simplify_index(select(eq(s, integer(70)), cut, s)).op(), Op::Select);
}
TEST_F(Sizes, WhatDoesNotHoldStays) {
  const Expr i = var(n), j = var(s);
  EXPECT_FALSE(simplify_index(lt(i, s)).is_const());
  EXPECT_FALSE(simplify_index(lt(i * n + j, n * s)).is_const());
  EXPECT_EQ(simplify_index(floor_div(i * s + j + integer(1), s)).op(), Op::Add);  // i + (j + 1) / s
  EXPECT_FALSE(simplify_index(eq(n, s)).is_const());
}
TEST_F(Sizes, BoundsArePartOfASymbol) {
  EXPECT_NE(symbol("N", {1, 32}), symbol("N", {1, 33}));
  EXPECT_EQ(symbol("N", {1, 32}), n);
  EXPECT_EQ(Dim(n).upper(), 32);
  EXPECT_EQ((Dim(n) * Dim(3)).upper(), 96);
  EXPECT_EQ(Dim(symbol("any")).upper(), kOpen);
}
TEST_F(Sizes, ProductsOfManySumsStayProducts) {
  Expr product = n;
  for (int i = 0; i < 40; ++i) product = product * (symbol("d" + std::to_string(i), {0, 1}) + integer(1));
  EXPECT_LE(affine(product).terms.size(), 64u);
}

}  // namespace
}  // namespace cameo
