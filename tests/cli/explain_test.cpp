// `explain` and `inspect`: every answer comes from the plan and names ONNX nodes.
#include "tests/cli/program.h"

namespace cameo {
namespace {

using Explain = CliTest;

TEST_F(Explain, EveryCodeHasATitleAndAText) {
  const Ended e = cameo({"explain", "E0501"});
  EXPECT_TRUE(has(e.out, "E0501: input without a shape"));
  EXPECT_TRUE(has(e.out, "--shape"));
  EXPECT_EQ(cameo({"explain", "W0003"}).code, 0);
  EXPECT_EQ(cameo({"explain", "E9999"}).code, 2);
}

TEST_F(Explain, ANodeIsFoundInTheKernelThatComputesIt) {
  const auto j = cameo({"explain", digits_, "/relu1", "--json"}).json();
  ASSERT_EQ(j["nodes"].size(), 1u);
  const auto& steps = j["nodes"][0]["steps"];
  ASSERT_GE(steps.size(), 1u);
  EXPECT_EQ(steps[0]["nodes"], (nlohmann::json{"/conv1", "/relu1"}));
  EXPECT_TRUE(has(cameo({"explain", digits_, "/relu1"}).out, "fused as Conv + Relu"));
  EXPECT_EQ(cameo({"explain", digits_, "0"}).code, 0);  // by number
}

TEST_F(Explain, ANodeIsToldFromItsNeighboursInOtherKernels) {
  const Ended e = cameo({"explain", digits_, "/conv2"});
  const std::string why = "both have reductions, and not of rows alone; a reduction makes it";
  EXPECT_TRUE(has(e.out, "  not with MaxPool /pool1, which makes `pool1`: " + why + "\n")) << e.out;
  const auto apart = cameo({"explain", digits_, "/conv2", "--json"}).json()["nodes"][0]["apart"];
  ASSERT_GE(apart.size(), 1u);
  EXPECT_EQ(apart[0]["node"], "MaxPool /pool1");
  EXPECT_EQ(apart[0]["reads_it"], false);
  EXPECT_EQ(apart[0]["why"], why);
}

TEST_F(Explain, AValueWithoutANameIsLeftOut) {
  Words narrow = {"explain", digits_, "/conv2", "--precision=bf16", "--target=cpu:x86-64-v4-bf16"};
  EXPECT_TRUE(has(cameo(narrow).out, "  not with MaxPool /pool1: the reader widens it"));
  narrow.push_back("--json");
  const auto apart = cameo(narrow).json()["nodes"][0]["apart"];
  ASSERT_GE(apart.size(), 1u);
  EXPECT_EQ(apart[0]["node"], "MaxPool /pool1");
  EXPECT_FALSE(apart[0].contains("value"));
}

TEST_F(Explain, StepsOfAnExpandedOperatorNameIt) {
  const auto j = cameo({"explain", digits_, "--json"}).json();
  for (const auto& step : j["steps"]) EXPECT_FALSE(step["nodes"].empty()) << step;
  EXPECT_TRUE(has(cameo({"explain", digits_}).out, "Softmax /softmax"));
}

TEST_F(Explain, InspectCountsOperatorsAndBytes) {
  const auto j = cameo({"inspect", digits_, "--json"}).json();
  EXPECT_EQ(j["operators"]["Conv"], 2);
  EXPECT_EQ(j["constant_bytes"], 6090 * 4 + 0);
  EXPECT_EQ(j["inputs"][0]["shape"], (nlohmann::json{1, 1, 8, 8}));
  EXPECT_GT(j["plan"]["arena_bytes"].get<int64_t>(), 0);
  const double operations = j["plan"]["operations"];  // 2 * (16*64*9 + 32*16*144 + 1280) and a little
  EXPECT_GT(operations, 160e3);
  EXPECT_LT(operations, 260e3);
}

TEST_F(Explain, SymbolicDimsAreTakenAsBuildTakesThem) {
  const std::string model = write("small.onnx", small_model());
  const Ended e = cameo({"inspect", model});
  EXPECT_EQ(e.code, 0) << e.err;
  EXPECT_TRUE(has(e.err, "cameo inspect " + model + " --dim n=1"));
  EXPECT_TRUE(has(e.out, "input   x  f32[n=1..,3]"));
  EXPECT_TRUE(has(e.out, "GFLOP a run at n=1024"));
  EXPECT_TRUE(has(cameo({"explain", model}).out, "\nsizes n=1..; prices"));
  EXPECT_TRUE(has(cameo({"explain", model, "rectify", "--dim=n=1..8"}).out, "nest over [3, n]"));
  EXPECT_TRUE(has(cameo({"build", model, "--emit=plan", "--dim=n=1..8"}).out, "\nsizes n=1..8; prices"));
}

}  // namespace
}  // namespace cameo
