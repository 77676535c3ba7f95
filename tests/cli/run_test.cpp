// `run`, `test` and `bench` of models and artifacts: dims from the data, the cache, and how far results may be off.
#include <fmt/format.h>

#include <cmath>

#include "cli/blame.h"
#include "tests/cli/program.h"
#include "tests/frontend/import/onnx_writer.h"

namespace cameo {
namespace {

class Run : public CliTest {
 protected:
  const std::string small_ = write("small.onnx", small_model());

  /// A data set for `small`: one row for each list, and what is expected of it.
  std::string data_set(const std::string& name, std::vector<float> x, std::vector<float> y) {
    using onnx_text::tensor;
    const int64_t rows = static_cast<int64_t>(x.size()) / 3;
    write(name + "/input_0.pb", tensor<float>("x", 1, {rows, 3}, x));
    write(name + "/output_0.pb", tensor<float>("y", 1, {rows, 3}, y));
    return path(name);
  }
  size_t cached() const {
    size_t count = 0;
    for (const auto& e : fs::recursive_directory_iterator(folder_ / "cache")) count += e.is_regular_file();
    return count;
  }
};

TEST_F(Run, AModelAnswersAsItsArtifactWould) {
  const Ended e = cameo({"run", digits_, "-i", "0=@" CAMEO_SOURCE_DIR "/models/digit.png", "-o", "top1"});
  EXPECT_EQ(e.code, 0) << e.err;
  EXPECT_TRUE(has(e.out, " 3  "));
}

TEST_F(Run, DimsComeFromTheData) {
  for (const char* value : {"x=[[1,2,3],[0,0,0]]", "[[1,2,3],[0,0,0]]", "0=2x3xf32=[[1,2,3],[0,0,0]]"}) {
    const Ended e = cameo({"run", small_, "-i", value, "-o", "text"});
    EXPECT_EQ(e.code, 0) << value << e.err;
    EXPECT_TRUE(has(e.out, "f32[2,3]"));
  }
  const Ended saved = cameo({"run", small_, "-i", "[[1,2,3]]", "-o", "@y.npy", "-o", "@y.npz", "-o", "@y.pb"});
  EXPECT_EQ(saved.code, 0) << saved.err;
  for (const char* file : {"@y.npy", "@y.pb", "x=@y.npz"})
    EXPECT_EQ(cameo({"run", small_, "-i", file}).code, 0) << file;
  EXPECT_EQ(cameo({"run", small_, "-i", "@" + data_set("set", {1, 2, 3}, {2, 0, 10})}).code, 0);
}

TEST_F(Run, WhatNoDataTellsIsOpenAndANoteHasTheSizeOfTheRun) {
  const Ended e = cameo({"run", small_, "-i", "rand"});
  EXPECT_EQ(e.code, 0) << e.err;
  EXPECT_TRUE(has(e.err, "warning[W0008]"));
  EXPECT_TRUE(has(e.err, "cameo run " + small_ + " --dim n=1"));
  EXPECT_TRUE(has(e.err, "note: n=1, the least"));
  EXPECT_EQ(cameo({"run", small_, "-i", "rand", "--dim", "n=1"}).code, 0);
  const Ended misfit = cameo({"run", small_, "-i", "[[1,2],[3,4]]"});
  EXPECT_EQ(misfit.code, 3);
  EXPECT_TRUE(has(misfit.err, "2x2"));
}

TEST_F(Run, StepsGoOnFromTheStateOfTheOneBefore) {
  const std::string growing = CAMEO_SOURCE_DIR "/tests/embed/growing.onnx";
  const Words run = {"run", growing, "--state", "present=past", "-i", "x=[[2],[3]]", "-o", "present=text"};
  const auto with = [&](Words more) {
    Words words = run;
    words.insert(words.end(), more.begin(), more.end());
    return cameo(words);
  };
  EXPECT_TRUE(has(with({"--steps", "3"}).out, "# present f32[2,3]\n2 2 2\n3 3 3\n")) << "it begins with nothing";
  EXPECT_TRUE(has(with({"--steps=2", "-i", "past=[[7,8],[9,9]]"}).out, "# present f32[2,4]\n7 8 2 2\n9 9 3 3\n"));
  EXPECT_TRUE(has(with({"--steps=2", "--dim", "past=2"}).err, "error: output `present` is f32[2,3], but input"))
      << "fixed";
  const Ended full = with({"--steps=6", "--dim", "past=0..4"});
  EXPECT_EQ(full.code, 7);
  EXPECT_TRUE(has(full.err, "error: input 0 `past` has 5 in dim 1 (past), which the model was built for 0 to 4"));
  EXPECT_EQ(with({"--steps=0"}).code, 2);
  EXPECT_TRUE(has(with({"--state", "present=pasd"}).err, "there is no input `pasd`; did you mean `past`?"));
  EXPECT_TRUE(has(with({"--state", "presents=past"}).err, "there is no output `presents`; did you mean `present`?"));
  EXPECT_TRUE(has(with({"--state", "present"}).err, "is not OUT=IN"));
}

TEST_F(Run, TheCacheIsUsedAndEveryFlagThatMattersIsInItsKey) {
  ASSERT_EQ(cameo({"run", digits_, "-i", "rand"}).code, 0);
  EXPECT_EQ(cached(), 1u);
  ASSERT_EQ(cameo({"bench", digits_, "--runs", "5", "--warmup", "1"}).code, 0);
  ASSERT_EQ(cameo({"test", digits_, golden_}).code, 0);
  EXPECT_EQ(cached(), 1u);
  ASSERT_EQ(cameo({"run", digits_, "-i", "rand", "--target=cpu:x86-64-v2"}).code, 0);
  EXPECT_EQ(cached(), 2u);
  ASSERT_EQ(cameo({"run", small_, "-i", "[[1,2,3]]"}).code, 0);
  ASSERT_EQ(cameo({"run", small_, "-i", "[[1,2,3],[1,2,3]]"}).code, 0);
  EXPECT_EQ(cached(), 4u);
}

TEST_F(Run, ProfileSaysHowMuchEachStepIsOfThePeak) {
  if (!__builtin_cpu_supports("fma")) GTEST_SKIP() << "this processor has no multiply-adds";
  const auto j = cameo({"profile", digits_, "--runs", "20", "--json"}).json();
  EXPECT_GT(j["peak"]["gflop_per_s"], 1.) << j;
  EXPECT_GT(j["peak"]["gb_per_s"], 0.1);
  for (const auto& node : j["nodes"]) EXPECT_GE(node["of_peak"], 0.) << node;
  EXPECT_GT(j["nodes"][0]["of_peak"], 0.001) << "the slowest step";
  EXPECT_TRUE(has(cameo({"profile", digits_, "--runs", "5"}).out, "     GB/s  of peak  kernel"));
}

TEST_F(Run, ProfileIsOfTheTimedRuns) {
  const auto j = cameo({"profile", digits_, "--runs", "3", "--warmup", "2", "--json"}).json();
  EXPECT_EQ(j["runs"], 3) << j;
}

TEST_F(Run, ProgramsThatCameoHasNotBuiltAreNotStarted) {
  for (const Words& words : {Words{"run", "/bin/touch"}, Words{"bench", "/bin/mkdir"}, Words{"inspect", "/bin/ls"}}) {
    const Ended e = cameo(words);
    EXPECT_EQ(e.code, 3) << words[1];
    EXPECT_TRUE(has(e.err, "`" + words[1] + "` is a program or a library that cameo has not built")) << e.err;
    EXPECT_FALSE(fs::exists(folder_ / words[0]));
  }
}

TEST_F(Run, InspectCountsStepsAsThePlanDoes) {
  ASSERT_EQ(cameo({"build", digits_, "-o", "a.so"}).code, 0);
  EXPECT_EQ(cameo({"inspect", "a.so", "--json"}).json()["steps"],
            cameo({"inspect", digits_, "--json"}).json()["plan"]["steps"]);
}

TEST_F(Run, BenchGivesItsNumbersByName) {
  const auto j = cameo({"bench", digits_, "--runs", "20", "--warmup", "1", "--json"}).json();
  ASSERT_TRUE(j.is_object());
  EXPECT_EQ(j["schema"], "cameo.bench");
  EXPECT_GT(j["cases"][0]["latency_ns"]["p50"].get<int64_t>(), 0);
  EXPECT_GT(j["cases"][0]["flops"], 160e3);
  EXPECT_GT(j["cases"][0]["bytes"], 6090 * 4);
  EXPECT_GT(j["cases"][0]["gflop_per_s"], 0.);
  EXPECT_GT(j["cases"][0]["gb_per_s"], 0.);
}

TEST_F(Run, ArtifactsTakeNoFlagsOfModels) {
  ASSERT_EQ(cameo({"build", digits_, "-o", "a.so"}).code, 0);
  EXPECT_EQ(cameo({"run", "a.so", "-i", "rand"}).code, 0);
  EXPECT_EQ(cameo({"test", "a.so", golden_}).code, 0);
  EXPECT_EQ(cameo({"inspect", "a.so", "--json"}).json()["schema"], "cameo.inspect");
  EXPECT_EQ(cameo({"run", "a.so", "--dim", "n=1"}).code, 2);
  EXPECT_EQ(cameo({"test", "a.so", "--per-node"}).code, 2);
  fs::permissions(path("a.so"), fs::perms::owner_read);
  EXPECT_TRUE(has(cameo({"run", "a.so"}).err, "chmod +x"));
}

// ---- test -----------------------------------------------------------------------------------------------------------
TEST_F(Run, DataSetsOfDifferentSizesAreTestedTogether) {
  fs::create_directory(folder_ / "all");
  data_set("all/test_data_set_0", {1, 2, 3}, {2, 0, 10});
  data_set("all/test_data_set_1", {1, 2, 3, 0, 0, 0}, {2, 0, 10, 1, 1, 1});
  const Ended e = cameo({"test", small_, "all"});
  EXPECT_EQ(e.code, 0) << e.out << e.err;
  EXPECT_TRUE(has(e.out, "2 of 2 outputs in 2 cases passed"));
  EXPECT_TRUE(has(e.out, "the tolerance that would pass"));
}

TEST_F(Run, WrongDataHaveAVerdictOfTheirOwn) {
  for (const float wrong : {11.f, 10.001f, std::nanf(""), INFINITY}) {
    const std::string data = data_set("wrong", {1, 2, 3}, {2, 0, wrong});
    const Ended e = cameo({"test", small_, data});
    EXPECT_EQ(e.code, 5) << e.out << e.err;
    EXPECT_TRUE(has(e.out, "DATA  y"));
    EXPECT_TRUE(has(e.out, "the golden data are wrong: element 2"));
    EXPECT_TRUE(has(e.err, "the golden data of 1 of 1 outputs are wrong"));
  }
  const auto j = cameo({"test", small_, data_set("wrong", {1, 2, 3}, {2, 0, 10.001f}), "--json"}).json();
  const auto& output = j["cases"][0]["outputs"][0];
  EXPECT_EQ(j["wrong_data"], 1);
  EXPECT_EQ(j["failures"], 0);
  EXPECT_EQ(output["verdict"], "wrong_data");
  EXPECT_EQ(output["passed"], false);
  EXPECT_EQ(output["max_error"], 0);
  EXPECT_NEAR(output["golden"]["error"].get<double>(), 1e-3, 1e-6);
  EXPECT_LT(output["golden"]["tolerance"].get<double>(), 4e-4);
  EXPECT_EQ(output["golden"]["worst_index"], 2);
  EXPECT_GT(output["tolerance"].get<double>(), 0);
  EXPECT_LT(output["tolerance"].get<double>(), 1e-4) << "wrong data have no part in it";
}

TEST_F(Run, AToleranceThatIsGivenIsAllThatCounts) {
  data_set("wrong", {1, 2, 3}, {2, 0, 11});
  const Ended share = cameo({"test", small_, path("wrong"), "--tolerance", "0.2", "--json"});
  EXPECT_EQ(share.code, 0) << share.out;
  const auto output = share.json()["cases"][0]["outputs"][0];
  EXPECT_NEAR(output["tolerance_that_would_pass"].get<double>(), 1 / 11., 1e-3);
  EXPECT_EQ(output["why"], "");
  const Ended strict = cameo({"test", small_, path("wrong"), "--tolerance", "0.05"});
  EXPECT_EQ(strict.code, 5);
  EXPECT_TRUE(has(strict.out, "FAIL  y"));
  EXPECT_TRUE(has(strict.out, "element 2 is 10, expected 11: error 1, tolerance 0.55"));
}

TEST_F(Run, WhatIsPrintedToPassPasses) {
  data_set("near", {1, 2, 3}, {2, 0, 10.0001f});
  const auto output = cameo({"test", small_, path("near"), "--json"}).json()["cases"][0]["outputs"][0];
  EXPECT_EQ(output["verdict"], "pass");
  const std::string share = fmt::format("{:.9g}", output["tolerance_that_would_pass"].get<double>());
  EXPECT_EQ(cameo({"test", small_, path("near"), "--tolerance", share}).code, 0) << share;
}

TEST_F(Run, AnEmbeddedCaseJudgesDataForItsInputs) {
  ASSERT_EQ(
      cameo({"build", small_, "--dim", "n=1", "-o", "a.so", "--golden", data_set("right", {1, 2, 3}, {2, 0, 10})}).code,
      0);
  const Ended right = run(path("a.so"), {"test", "right"});
  EXPECT_EQ(right.code, 0) << right.out;
  const Ended wrong = run(path("a.so"), {"test", data_set("wrong", {1, 2, 3}, {2, 0, 10.001f})});
  EXPECT_EQ(wrong.code, 5) << wrong.out;
  EXPECT_TRUE(has(wrong.out, "DATA  y"));
  EXPECT_TRUE(has(wrong.err, "the golden data of 1 of 1 outputs are wrong"));
  const auto j = run(path("a.so"), {"test", "wrong", "--json"}).json();
  EXPECT_EQ(j["cases"][0]["outputs"][0]["verdict"], "wrong_data");
  EXPECT_EQ(j["wrong_data"], 1);
  const Ended refused = cameo({"build", small_, "--dim", "n=1", "-o", "b.so", "--golden", "wrong"});
  EXPECT_EQ(refused.code, 5);
  EXPECT_TRUE(has(refused.err, "the data for output `y` are wrong: element 2"));
  EXPECT_FALSE(fs::exists(path("b.so")));
  EXPECT_EQ(cameo({"build", small_, "--dim", "n=1", "-o", "b.so", "--golden", "wrong", "--tolerance", "0.01"}).code, 0);
}

TEST_F(Run, OneOffIsWrongWhereNumbersAreWhole) {
  using namespace onnx_text;
  GraphText g;
  g.inputs = {value("x", 7, {2})};
  g.outputs = {value("y", 7, {2})};
  g.initializers = {tensor<int64_t>("one", 7, {}, {1})};
  g.nodes = {node("Add", {"x", "one"}, {"y"})};
  write("whole.onnx", model(g));
  write("set/input_0.pb", tensor<int64_t>("x", 7, {2}, {4, 5}));
  write("set/output_0.pb", tensor<int64_t>("y", 7, {2}, {5, 6}));
  EXPECT_EQ(cameo({"test", "whole.onnx", "set"}).code, 0);
  write("set/output_0.pb", tensor<int64_t>("y", 7, {2}, {5, 7}));
  const Ended e = cameo({"test", "whole.onnx", "set"});
  EXPECT_EQ(e.code, 5);
  EXPECT_TRUE(has(e.out, "DATA  y"));
  EXPECT_TRUE(has(e.out, "the golden data are wrong: element 1 is 7, expected 6"));
}

TEST_F(Run, WithoutDataTheInterpreterSaysWhatIsExpected) {
  const Ended e = cameo({"test", small_, "--dim", "n=5", "--per-node"});
  EXPECT_EQ(e.code, 0) << e.out << e.err;
  EXPECT_TRUE(has(e.out, "3 of 3 outputs in 3 cases passed"));
  EXPECT_TRUE(has(e.out, "no node diverges"));
}

/// y = (x * first) * second, matrix products of 4x4; the nodes are `one` and `two`.
std::string products(float first, float second) {
  using namespace onnx_text;
  GraphText g;
  g.inputs = {value("x", 1, {4, 4})};
  g.outputs = {value("y", 1, {4, 4})};
  g.initializers = {tensor<float>("first", 1, {4, 4}, std::vector<float>(16, first)),
                    tensor<float>("second", 1, {4, 4}, std::vector<float>(16, second))};
  g.nodes = {node("MatMul", {"x", "first"}, {"h"}, {}, "", "one"),
             node("MatMul", {"h", "second"}, {"y"}, {}, "", "two")};
  return model(g);
}

TEST_F(Run, TheFirstNodeThatDivergesIsNamed) {
  Diagnostics diagnostics;
  const Model right = import_onnx(write("right.onnx", products(1, 2)), {}, diagnostics);
  const Interface io = interface_of(right.graph);
  const std::vector<Tensor> inputs = {Tensor::of<float>(DType::f32, {4, 4}, std::vector<float>(16, 0.5f))};
  const auto blamed = [&](float first, float second) {
    EXPECT_EQ(cameo({"build", write("wrong.onnx", products(first, second)), "-o", "wrong.so"}).code, 0);
    LoadedModel artifact(path("wrong.so"), 1);
    return find_divergence(right.graph, io, artifact, inputs);
  };
  const Blame one = blamed(1.5, 2), two = blamed(1, 2.5), none = blamed(1, 2);
  EXPECT_TRUE(has(one.node, "`one`"));
  EXPECT_EQ(one.value, "h");
  EXPECT_NEAR(one.error, 1, 1e-5);  // 4 * 0.5 * 1.5 instead of 2
  EXPECT_TRUE(has(two.node, "`two`"));
  EXPECT_FALSE(none.found) << none.sentence;
  EXPECT_TRUE(has(none.sentence, "2 values compared"));
}

TEST_F(Run, TapsShowIntermediateValuesInTheirOwnOrder) {
  const Ended e = cameo({"test", digits_, golden_, "--per-node", "--json"});
  EXPECT_EQ(e.code, 0) << e.out << e.err;
  EXPECT_TRUE(e.json()["cases"][0]["first_divergence"].is_null());
  EXPECT_EQ(cameo({"run", digits_, "-i", "rand", "--taps", "taps.npz"}).code, 0);
  for (const char* name : {"relu1.npy", "pool2.npy", "logits.npy"})
    EXPECT_TRUE(read("taps.npz").find(name) != std::string::npos) << name;
}

TEST_F(Run, DataThatDoesNotFitIsNamed) {
  const Ended none = cameo({"test", small_, path("nothing")});
  EXPECT_EQ(none.code, 7);
  EXPECT_TRUE(has(none.err, "is no folder"));
  write("odd/input_0.pb", "garbage");
  EXPECT_EQ(cameo({"test", small_, path("odd")}).code, 7);
  write("odd/input_0.pb", onnx_text::tensor<int64_t>("x", 7, {1, 3}, {1, 2, 3}));
  const Ended e = cameo({"test", small_, path("odd")});
  EXPECT_EQ(e.code, 7) << e.err;
  EXPECT_TRUE(has(e.err, "i64[1x3]"));
}

}  // namespace
}  // namespace cameo
