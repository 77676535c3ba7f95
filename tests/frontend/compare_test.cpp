// The tolerance rule: what passes, what does not, and that a wrong oracle cannot widen its own tolerance.
#include "frontend/compare.h"

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

Comparison against(double got, double rounded, const Tensor* golden = nullptr) {
  return compare(floats(DType::f32, {1, got}), floats(DType::f32, {1, rounded}), floats(DType::f64, {1, 0.5}), golden);
}

TEST(Compare, PassesWithin32UlpOfTheLargestMagnitude) {
  EXPECT_TRUE(against(0.5 + 32 * kUlp, 0.5).pass);
  Comparison c = against(0.5 + 33 * kUlp, 0.5);
  EXPECT_FALSE(c.pass);
  EXPECT_EQ(c.worst, 1);
  EXPECT_DOUBLE_EQ(c.max_error, 33 * kUlp);
  EXPECT_DOUBLE_EQ(c.tolerance, 32 * kUlp);
  EXPECT_EQ(c.would_pass, c.max_error);
}

TEST(Compare, AllowsFourTimesTheRoundedRunsError) {
  EXPECT_TRUE(against(0.5 + 400 * kUlp, 0.5 - 100 * kUlp).pass);
  EXPECT_FALSE(against(0.5 + 401 * kUlp, 0.5 - 100 * kUlp).pass);
}

TEST(Compare, AllowsFourTimesTheGoldenError) {
  Tensor golden = floats(DType::f32, {1, 0.5 + 50 * kUlp});
  EXPECT_TRUE(against(0.5 - 200 * kUlp, 0.5, &golden).pass);
  EXPECT_FALSE(against(0.5 - 201 * kUlp, 0.5, &golden).pass);
}

TEST(Compare, GoldenFarFromTheInterpreterFails) {
  Tensor golden = floats(DType::f32, {1, 0.51});
  Comparison c = against(0.5, 0.5, &golden);
  EXPECT_FALSE(c.pass);
  EXPECT_NE(c.why.find("golden"), std::string::npos);
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

TEST(Compare, IntegersAreExact) {
  Tensor a = Tensor::scalar(DType::i64, 5), b = Tensor::scalar(DType::i64, 6);
  EXPECT_TRUE(compare(a, a, a).pass);
  EXPECT_FALSE(compare(a, b, b).pass);
  EXPECT_FALSE(compare(a, a, a, &b).pass);
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
