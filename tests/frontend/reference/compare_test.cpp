// The tolerance rule: what passes, what does not, and that a wrong oracle cannot widen its own tolerance.
#include "frontend/reference/compare.h"

#include <gtest/gtest.h>

#include <cmath>

namespace cameo {
namespace {

Tensor floats(DType t, std::vector<double> v) {
  Tensor r(t, {static_cast<int64_t>(v.size())});
  for (size_t i = 0; i < v.size(); ++i) r.set(static_cast<int64_t>(i), v[i]);
  return r;
}
const double kUlp = std::ldexp(1., -23);  // at 1

/// Of an output of two elements, the larger of which is 1; the exact value of the other is 0.5.
Tensor with(double v) { return floats(DType::f32, {1, v}); }
const Tensor kExact = floats(DType::f64, {1, 0.5});
Comparison against(double got, double rounded) { return compare(with(got), with(rounded), kExact); }
Comparison golden(double value, double rounded) { return compare_golden(with(value), with(rounded), kExact); }

TEST(Compare, PassesWithin32UlpOfTheLargestMagnitude) {
  EXPECT_TRUE(against(0.5 + 32 * kUlp, 0.5).pass);
  Comparison c = against(0.5 + 33 * kUlp, 0.5);
  EXPECT_FALSE(c.pass);
  EXPECT_EQ(c.worst, 1);
  EXPECT_DOUBLE_EQ(c.max_error, 33 * kUlp);
  EXPECT_DOUBLE_EQ(c.tolerance, 32 * kUlp);
}

TEST(Compare, AllowsFourTimesTheRoundedRunsError) {
  EXPECT_TRUE(against(0.5 + 400 * kUlp, 0.5 - 100 * kUlp).pass);
  EXPECT_FALSE(against(0.5 + 401 * kUlp, 0.5 - 100 * kUlp).pass);
}

TEST(Compare, AllowsFourTimesTheErrorOfGoldenDataThatPassed) {
  const Comparison data = golden(0.5 + 50 * kUlp, 0.5);
  ASSERT_TRUE(data.pass);
  EXPECT_TRUE(compare(with(0.5 - 200 * kUlp), with(0.5), kExact, &data).pass);
  EXPECT_FALSE(compare(with(0.5 - 201 * kUlp), with(0.5), kExact, &data).pass);
}

TEST(Compare, GoldenDataHaveAToleranceOfTheirOwn) {
  EXPECT_TRUE(golden(0.5 + 256 * kUlp, 0.5).pass);
  EXPECT_FALSE(golden(0.5 + 257 * kUlp, 0.5).pass);
  EXPECT_TRUE(golden(0.5 + 480 * kUlp, 0.5 + 30 * kUlp).pass) << "16 times the error of rounding";
  EXPECT_FALSE(golden(0.5 + 481 * kUlp, 0.5 + 30 * kUlp).pass);
  const Comparison c = golden(0.5 * (1 + 1e-4), 0.5 + kUlp);
  EXPECT_FALSE(c.pass) << "twice 1e-4 of a model whose own error is 1e-7";
  EXPECT_NE(c.why.find("element 1"), std::string::npos);
  EXPECT_TRUE(golden(0.5 - 2 * kUlp, 0.5 + kUlp).pass) << "twice the error";
}

TEST(Compare, OneTenThousandthIsWrongAtEveryMagnitude) {
  for (double magnitude = 1e-2; magnitude < 1e9; magnitude *= 1.7)
    EXPECT_FALSE(compare_golden(floats(DType::f32, {magnitude * (1 + 1e-4)}), floats(DType::f32, {magnitude}),
                                floats(DType::f64, {magnitude}))
                     .pass)
        << magnitude;
}

TEST(Compare, GoldenDataOfTinyOutputsHaveTheErrorOfNumbersNearOne) {
  const auto go = [](auto f, double v) {
    return f(floats(DType::f32, {v}), floats(DType::f32, {1.7e-5}), floats(DType::f64, {1.7e-5})).pass;
  };
  EXPECT_TRUE(go(compare_golden, 1.7e-5 + 3.9 * kUlp));
  EXPECT_FALSE(go(compare_golden, 1.7e-5 + 4.1 * kUlp));
  EXPECT_FALSE(go([](const auto&... t) { return compare(t...); }, 1.7e-5 + kUlp)) << "results have no such floor";
}

TEST(Compare, AResultMayBeAsFarOffAsTinyGoldenDataThatAreExcusedAndNoFurther) {
  const Tensor rounded = floats(DType::f32, {1.7e-5}), exact = floats(DType::f64, {rounded.get(0)});
  const Comparison data = compare_golden(floats(DType::f32, {1.71e-5}), rounded, exact);
  ASSERT_TRUE(data.pass);
  EXPECT_TRUE(compare(floats(DType::f32, {1.71e-5}), rounded, exact, &data).pass);
  EXPECT_FALSE(compare(floats(DType::f32, {1.711e-5}), rounded, exact, &data).pass);
}

TEST(Compare, HalfPrecisionHas32UlpOfGoldenDataToo) {
  const auto go = [](double v) {
    return compare_golden(floats(DType::f16, {v}), floats(DType::f16, {1}), floats(DType::f64, {1})).pass;
  };
  EXPECT_TRUE(go(1 + 32 * 0x1p-10));
  EXPECT_FALSE(go(1 + 33 * 0x1p-10));
}

TEST(Compare, SpecialValuesMustAgree) {
  auto go = [](double got, double want) {
    return compare(floats(DType::f32, {got}), floats(DType::f32, {want}), floats(DType::f64, {want})).pass;
  };
  EXPECT_TRUE(go(NAN, NAN));
  EXPECT_TRUE(go(INFINITY, INFINITY));
  EXPECT_FALSE(go(INFINITY, -INFINITY));
  EXPECT_FALSE(go(NAN, 1));
  EXPECT_FALSE(go(1, NAN));
  EXPECT_FALSE(go(INFINITY, 1e30));
}

TEST(Compare, OverflowIsAsTheRoundedRunHasIt) {
  auto go = [](double got) {
    return compare(floats(DType::f16, {got}), floats(DType::f16, {INFINITY}), floats(DType::f64, {1e5})).pass;
  };
  EXPECT_TRUE(go(INFINITY));
  EXPECT_FALSE(go(65504));
}

TEST(Compare, WhereOnlyTheRoundedRunOverflowsTheExactValueIsRightToo) {
  auto go = [](double got) {
    return compare(floats(DType::f16, {1, got}), floats(DType::f16, {1, INFINITY}), floats(DType::f64, {1, 2})).pass;
  };
  EXPECT_TRUE(go(INFINITY));
  EXPECT_TRUE(go(2));
  EXPECT_FALSE(go(3));
  EXPECT_FALSE(go(NAN));
}

TEST(Compare, IntegersAreExact) {
  Tensor a = Tensor::scalar(DType::i64, 5), b = Tensor::scalar(DType::i64, 6);
  EXPECT_TRUE(compare(a, a, a).pass);
  EXPECT_FALSE(compare(a, b, b).pass);
  EXPECT_TRUE(compare(a, b, a).pass) << "as one of the runs has it";
  EXPECT_FALSE(compare_golden(b, a, a).pass);
  EXPECT_FALSE(compare_within(a, b, 1).pass);
}

TEST(Compare, NothingIsEqualToNothing) {
  const Tensor none(DType::f32, {0, 3});
  EXPECT_TRUE(compare(none, none, none).pass);
  EXPECT_TRUE(compare_golden(none, none, none).pass);
  EXPECT_TRUE(compare_within(none, none, 0).pass);
}

TEST(Compare, WithinAToleranceThatIsGiven) {
  EXPECT_TRUE(compare_within(with(0.5), with(0.625), 0.125).pass);
  const Comparison c = compare_within(with(0.5), with(0.625), 0.1);
  EXPECT_FALSE(c.pass);
  EXPECT_EQ(c.max_error, 0.125);
  EXPECT_EQ(c.worst, 1);
  EXPECT_FALSE(compare_within(with(NAN), with(0.5), 1e9).pass);
}

TEST(Compare, TypesAndDimsAreExact) {
  Tensor a = floats(DType::f32, {1}), b = floats(DType::f32, {1, 2}), d = floats(DType::f64, {1});
  EXPECT_FALSE(compare(a, b, b).pass);
  EXPECT_FALSE(compare(d, a, d).pass);
  EXPECT_EQ(compare(a, b, b).why, "is f32[1], expected f32[2]");
}

TEST(Compare, UlpOfEachType) {
  EXPECT_EQ(ulp_of(DType::f32, 1), std::ldexp(1., -23));
  EXPECT_EQ(ulp_of(DType::f32, 3), std::ldexp(1., -22));
  EXPECT_EQ(ulp_of(DType::f16, 1), std::ldexp(1., -10));
  EXPECT_EQ(ulp_of(DType::bf16, 0.5), std::ldexp(1., -8));
  EXPECT_EQ(ulp_of(DType::f32, 0), std::ldexp(1., -149));
}

}  // namespace
}  // namespace cameo
