// Load and Read: each has the accessors of its own alone. What a rewrite made it is not asked to make again.
#include "frontend/ir/expr.h"

#include <gtest/gtest.h>

namespace cameo {
namespace {

TEST(expr_access, a_load_has_an_index_and_no_offset) {
  const std::vector<Expr> index{var(integer(4)), integer(2)};
  const Expr e = load(3, DType::f32, index, zero(DType::f32), true);
  EXPECT_EQ(e.operand(), 3u);
  EXPECT_TRUE(e.checked());
  EXPECT_EQ(std::vector<Expr>(e.index().begin(), e.index().end()), index);
  EXPECT_EQ(e.outside(), zero(DType::f32));
  EXPECT_EXIT(e.offset(), testing::ExitedWithCode(1), "expected a Read");
  EXPECT_EXIT(e.guard(), testing::ExitedWithCode(1), "expected a Read");
  EXPECT_EXIT(e.blamed(), testing::ExitedWithCode(1), "expected a Read");
}

TEST(expr_access, a_read_has_an_offset_and_no_index) {
  const Expr i = var(integer(9)), within = lt(i, integer(8));
  const Expr e = read_at(1, DType::f32, i, within, one(DType::f32));
  EXPECT_EQ(e.operand(), 1u);
  EXPECT_EQ(e.offset(), i);
  EXPECT_EQ(e.guard(), within);
  EXPECT_EQ(e.outside(), one(DType::f32));
  EXPECT_FALSE(e.checked());
  EXPECT_TRUE(e.blamed().empty());
  EXPECT_EXIT(e.index(), testing::ExitedWithCode(1), "expected a Load");
}

TEST(expr_access, a_read_is_checked_where_something_is_blamed) {
  const Expr i = var(integer(9));
  const std::vector<Expr> blamed{i, i + integer(1), integer(8)};
  const Expr e = read_at(1, DType::f32, i, lt(i, integer(8)), zero(DType::f32), blamed);
  EXPECT_TRUE(e.checked());
  EXPECT_EQ(std::vector<Expr>(e.blamed().begin(), e.blamed().end()), blamed);
  EXPECT_EQ(e.outside(), zero(DType::f32));
}

TEST(expr_access, a_load_and_a_read_of_the_same_arguments_differ) {
  const Expr i = var(integer(9)), none = zero(DType::f32);
  const Expr one_axis = load(0, DType::f32, std::vector<Expr>{i}, none),
             read = read_at(0, DType::f32, i, boolean(true), none);
  EXPECT_NE(one_axis, read);
  EXPECT_EXIT((one_axis + none).operand(), testing::ExitedWithCode(1), "expected a Load or a Read");
  EXPECT_EQ(to_string(one_axis), "x0[i" + std::to_string(i.var_number()) + "]");
}

TEST(expr_making, small_powers_are_products_and_roots) {
  const Expr x = load(0, DType::f32, {}, {});
  const auto power = [&](double exponent) { return apply(Op::Pow, {x, like(x, exponent)}); };
  EXPECT_EQ(power(1), x);
  EXPECT_EQ(power(2), x * x);
  EXPECT_EQ(power(3), x * x * x);
  EXPECT_EQ(power(-1), 1 / x);
  for (double exponent : {0.25, 0.5, 0.75, 1.5}) {
    EXPECT_EQ(power(exponent).op(), Op::Select) << exponent;
    EXPECT_EQ(power(-exponent), 1 / power(exponent)) << exponent;
  }
  EXPECT_EQ(power(4).op(), Op::Pow);
}

TEST(expr_rewrite, what_was_made_is_not_made_again) {
  const auto element = [](uint32_t operand) {
    return load(operand, DType::i64, std::vector<Expr>{}, zero(DType::i64));
  };
  const Expr made = rewrite(element(0) - integer(1), [&](Expr e) {
    if (e.op() != Op::Load) return e;
    EXPECT_EQ(e.operand(), 0u);
    return element(21) + integer(1);
  });
  EXPECT_EQ(made, element(21)) << to_string(made);
}

}  // namespace
}  // namespace cameo
