// `bench` of two, at several sizes, and with several contexts. What is timed here is too short to say more than that
// the words fit the numbers.
#include "tests/cli/program.h"

namespace cameo {
namespace {

class Bench : public CliTest {
 protected:
  Bench() : small_(write("small.onnx", small_model())) {}
  /// Of a comparison: the time of a run and the ratio, as the document has them.
  static void expect_compared(const nlohmann::json& one) {
    ASSERT_EQ(one["contenders"].size(), 2u) << one;
    for (const auto& c : one["contenders"]) EXPECT_GT(c["ns"].get<double>(), 0);
    const double ratio = one["ratio"], low = one["interval"][0], high = one["interval"][1];
    EXPECT_LE(low, ratio);
    EXPECT_LE(ratio, high);
    EXPECT_EQ(one["faster"], low > 1 ? "second" : high < 1 ? "first" : "none");
  }
  const std::string small_;
};

TEST_F(Bench, TwoAreComparedRoundByRound) {
  ASSERT_EQ(cameo({"build", digits_, "-o", "a.so", "--target=cpu:x86-64-v2"}).code, 0);
  const auto j = cameo({"bench", "a.so", digits_, "--rounds=3", "--runs=20", "--json"}).json();
  ASSERT_TRUE(j.is_object());
  EXPECT_EQ(j["schema"], "cameo.bench");
  ASSERT_EQ(j["comparisons"].size(), 1u) << j;
  expect_compared(j["comparisons"][0]);
  EXPECT_EQ(j["comparisons"][0]["contenders"][0]["rounds_ns"].size(), 3u);
  const Ended e = cameo({"bench", "a.so", digits_, "--rounds=2", "--runs=20"});
  EXPECT_EQ(e.code, 0) << e.err;
  EXPECT_TRUE(has(e.out, "a.so  "));
  EXPECT_TRUE(has(e.out, ", 2 rounds)"));
  EXPECT_TRUE(has(cameo({"bench", "a.so", "a.so", "--rounds=1", "--runs=3"}).out, "no difference is shown"));
}

TEST_F(Bench, ASizeIsSwept) {
  ASSERT_EQ(cameo({"build", small_, "-o", "a.so", "--dim=n=1..8"}).code, 0);
  const Ended e = cameo({"bench", "a.so", "--batch=1,8", "--rounds=1", "--runs=20"});
  EXPECT_EQ(e.code, 0) << e.err;
  EXPECT_TRUE(has(e.out, "batch 1\n  a.so  "));
  EXPECT_TRUE(has(e.out, "batch 8\n  a.so  "));
  EXPECT_TRUE(has(e.out, " a sample\n"));
  const auto j = cameo({"bench", small_, "a.so", "--batch=2,3", "--rounds=2", "--runs=20", "--json"}).json();
  ASSERT_EQ(j["comparisons"].size(), 2u) << j;
  EXPECT_EQ(j["comparisons"][1]["batch"], 3);
  for (const auto& one : j["comparisons"]) expect_compared(one);
}

TEST_F(Bench, WhatCannotBeComparedSaysWhy) {
  ASSERT_EQ(cameo({"build", small_, "-o", "a.so", "--dim=n=1..8"}).code, 0);
  const Ended fixed = cameo({"bench", digits_, "--batch=1,2"});
  EXPECT_EQ(fixed.code, 2);
  EXPECT_TRUE(has(fixed.err, "no input of `digits` has an outermost dim that a run decides"));
  const Ended large = cameo({"bench", "a.so", "--batch=9"});
  EXPECT_EQ(large.code, 2);
  EXPECT_TRUE(has(large.err, "`a.so`: `--dim n=9`: the model was built for 1 to 8"));
  EXPECT_EQ(cameo({"bench", "a.so", "none.so"}).code, 3);
  EXPECT_EQ(cameo({"bench", "a.so", "--batch=0"}).code, 2);
  EXPECT_EQ(cameo({"bench", "a.so", "a.so", "--rounds=0"}).code, 2);
  EXPECT_TRUE(has(cameo({"bench", "a.so", "--rounds=3"}).err, "`--rounds` is of a comparison"));
  EXPECT_EQ(cameo({"profile", "a.so", "a.so"}).code, 2);
}

TEST_F(Bench, ContextsRunAtTheSameTime) {
  const Ended e = cameo({"bench", digits_, "--contexts=3", "--threads=1", "--seconds=0.05"});
  EXPECT_EQ(e.code, 0) << e.err;
  EXPECT_TRUE(has(e.out, " runs a second of 3 contexts\n"));
  const auto j = cameo({"bench", digits_, "--contexts=2", "--runs=20", "--json"}).json();
  EXPECT_EQ(j["cases"][0]["contexts"], 2);
  EXPECT_GT(j["cases"][0]["runs_per_second"].get<double>(), 0.);
  const Ended two = cameo({"bench", digits_, digits_, "--contexts=2", "--rounds=1", "--runs=20"});
  EXPECT_TRUE(has(two.out, " runs a second of 2 contexts\n")) << two.out << two.err;
  EXPECT_EQ(cameo({"bench", digits_, "--contexts=0"}).code, 2);
  EXPECT_EQ(cameo({"run", digits_, "--contexts=2"}).code, 2);
}

}  // namespace
}  // namespace cameo
