// Regions by the remainder of an index drop only the terms of a sum that are zero there.
#include <gtest/gtest.h>

#include "optimizer/lower/lower_kernel.h"

namespace cameo {
namespace {

/// sum(k < 4: choice(i + k is even)) over 256 elements i.
OutputExpr sum_by_parity(const std::function<Expr(Expr i, Expr k, Expr even)>& term) {
  const Expr i = var(integer(256)), k = var(integer(4));
  return {{i}, fold(FoldKind::Sum, k, term(i, k, eq(mod(i + k, integer(2)), integer(0))))};
}
Expr element(uint32_t operand, Expr index) { return load(operand, DType::f32, std::vector<Expr>{index}, {}); }

int64_t terms_of(const OutputPart& part) {
  Expr sum = part.out.value;
  return sum.op() == Op::Fold ? sum.arg(0).extent().int_value() : 0;
}

TEST(SplitOutput, TapsThatReadNothingGo) {  // as ConvTranspose reads
  auto parts = split_output(sum_by_parity([](Expr i, Expr k, Expr even) {
    return element(0, select(even, floor_div(i + k, integer(2)), integer(-1))) * element(1, k);
  }));
  ASSERT_EQ(parts.size(), 2u);
  for (const OutputPart& p : parts) EXPECT_EQ(terms_of(p), 2);
}

TEST(SplitOutput, TermsOfBothParitiesStay) {
  auto parts =
      split_output(sum_by_parity([](Expr i, Expr k, Expr even) { return select(even, element(0, i), element(1, k)); }));
  for (const OutputPart& p : parts) EXPECT_EQ(terms_of(p), 4);
}

TEST(SplitOutput, AFactorBesideTheConditionStays) {  // its product with 0 may be NaN
  auto parts = split_output(sum_by_parity(
      [](Expr i, Expr k, Expr even) { return select(even, element(0, i), zero(DType::f32)) * element(1, k); }));
  for (const OutputPart& p : parts) EXPECT_EQ(terms_of(p), 4);
}

/// 32 elements each of `count` operands, one after the other.
OutputExpr joined(int64_t count) {
  const Expr i = var(integer(32 * count));
  Expr value = element(static_cast<uint32_t>(count - 1), i - integer(32 * (count - 1)));
  for (int64_t n = count - 1; n-- > 0;)
    value = select(lt(i, integer(32 * (n + 1))), element(static_cast<uint32_t>(n), i - integer(32 * n)), value);
  return {{i}, value};
}

TEST(SplitOutput, ManySmallOperandsHaveARegionEach) {  // a case of each would be asked for every one
  EXPECT_EQ(split_output(joined(3)).size(), 1u);
  const auto parts = split_output(joined(200));
  ASSERT_EQ(parts.size(), 200u);
  for (const OutputPart& p : parts) EXPECT_EQ(p.out.value.op(), Op::Load);
}

TEST(SplitOutput, CutsOnlyWhereTheIndexDoesNotWrap) {
  const Expr i = var(integer(256)), beyond = i + integer(INT64_MAX - 100);
  auto parts = split_output({{i}, select(lt(beyond, integer(INT64_MIN + 50)), element(0, i), element(1, i))});
  EXPECT_EQ(parts.size(), 1u);
}

}  // namespace
}  // namespace cameo
