// Sizes that only a run knows, in every verb: `--dim n=1..8`, `--shape x=1..8,3`, dims that nothing binds, and inputs
// whose elements decide shapes.
#include "tests/cli/program.h"
#include "tests/frontend/import/onnx_writer.h"

namespace cameo {
namespace {

using namespace onnx_text;

class Sizes : public CliTest {
 protected:
  const std::string small_ = write("small.onnx", small_model());

  /// A data set for `small`: rows of ones, of which each is 2, 0, 4.
  std::string data_set(const std::string& name, int64_t rows, float first = 2) {
    std::vector<float> y;
    for (int64_t i = 0; i < rows; ++i) y.insert(y.end(), {i ? 2 : first, 0, 4});
    write(name + "/input_0.pb", tensor<float>("x", 1, {rows, 3}, std::vector<float>(rows * 3, 1)));
    write(name + "/output_0.pb", tensor<float>("y", 1, {rows, 3}, y));
    return path(name);
  }
  /// y = x reshaped to what input `shape` says, times 2.
  std::string reshaping() {
    GraphText g;
    g.inputs = {value("x", 1, {2, 6}), value("shape", 7, {2})};
    g.outputs = {value("y", 1, {"p", "q"})};
    g.nodes = {node("Reshape", {"x", "shape"}, {"r"}, {}, "", "/reshape"), node("Add", {"r", "r"}, {"y"})};
    return write("reshape.onnx", model(g));
  }
  std::string reshaping_data(const std::string& name, int64_t rows, int64_t columns) {
    write(name + "/input_0.pb", tensor<float>("x", 1, {2, 6}, std::vector<float>(12, 1)));
    write(name + "/input_1.pb", tensor<int64_t>("shape", 7, {2}, {rows, columns}));
    write(name + "/output_0.pb", tensor<float>("y", 1, {rows, columns}, std::vector<float>(rows * columns, 2)));
    return path(name);
  }
  /// Of n rows and n + 1 rows.
  std::string concatenating() {
    GraphText g;
    g.inputs = {value("x", 1, {"n", 3}), value("mask", 1, {"n + 1", 3})};
    g.outputs = {value("y", 1, {"m", 3})};
    g.nodes = {node("Concat", {"x", "mask"}, {"y"}, {attr("axis", int64_t{0})})};
    return write("concat.onnx", model(g));
  }
  size_t cached() const {
    size_t count = 0;
    for (const auto& e : fs::recursive_directory_iterator(folder_ / "cache")) count += e.is_regular_file();
    return count;
  }
  void expect(const Words& words, int code, const std::string& sentence) {
    const Ended e = cameo(words);
    EXPECT_EQ(e.code, code) << e.out << e.err;
    EXPECT_TRUE(has(e.out + e.err, sentence));
  }
};

// ---- test -----------------------------------------------------------------------------------------------------------
TEST_F(Sizes, OneArtifactIsTestedAtTheSizesOfEachDataSet) {
  fs::create_directory(folder_ / "all");
  for (int64_t rows : {1, 3, 8}) data_set("all/test_data_set_" + std::to_string(rows), rows);
  const Ended e = cameo({"test", small_, "all", "--dim=n=1..8"});
  EXPECT_EQ(e.code, 0) << e.out << e.err;
  EXPECT_TRUE(has(e.out, "3 of 3 outputs in 3 cases passed"));
  EXPECT_TRUE(has(e.out, "f32[8x3]"));
  EXPECT_EQ(cached(), 1u);
  EXPECT_TRUE(has(cameo({"test", small_, "all", "--dim=n=1..8", "--per-node"}).out, "no node diverges"));
}

TEST_F(Sizes, DataThatDoNotFitARangeAreBadData) {
  expect({"test", small_, data_set("nine", 9), "--dim=n=1..8"}, 7, "has 9 for `n`, which the model takes within 1..8");
  expect({"test", small_, data_set("wrong", 4, 3), "--dim=n=1..8"}, 5, "the golden data are wrong");
  write("rows/input_0.pb", tensor<float>("x", 1, {2, 3}, std::vector<float>(6, 1)));
  write("rows/output_0.pb", tensor<float>("y", 1, {3, 3}, std::vector<float>(9, 1)));
  expect({"test", small_, "rows", "--dim=n=1..8"}, 7, "the model takes f32[2x3]");
}

TEST_F(Sizes, RandomCasesAreOfSeveralSizes) {
  const Ended e = cameo({"test", small_, "--dim=n=2..20"});
  EXPECT_EQ(e.code, 0) << e.out << e.err;
  for (const char* name : {"random:0 at n=2\n", "random:1 at n=20\n", "random:2 at n=11\n"})
    EXPECT_TRUE(has(e.out, name));
  EXPECT_TRUE(has(cameo({"test", small_}).out, "random:1 at n=64\n")) << "open, as nothing binds it";
}

// ---- run, bench, profile --------------------------------------------------------------------------------------------
TEST_F(Sizes, ARunOfAModelTakesThemOffItsData) {
  expect({"run", small_, "--dim=n=1..8", "-i", "[[1,1,1],[1,1,1]]"}, 0, "f32[2,3]");
  expect({"run", small_, "--dim=n=1..8", "-i", "[[1,1,1]]"}, 0, "f32[1,3]");
  EXPECT_EQ(cached(), 1u);
  expect({"run", small_, "--dim=n=1..1", "-i", "[[1,1,1],[1,1,1]]"}, 7, "built for 1 to 1");
}

TEST_F(Sizes, ARangeSaysWhatIsBuiltAndANumberAtWhichItRuns) {
  expect({"run", small_, "--dim=n=1..8", "--dim=n=5", "-i", "rand"}, 0, "f32[5,3]");
  expect({"bench", small_, "--dim=n=1..8", "--dim=n=5", "--runs=3"}, 0, ", n=5, clock");
  expect({"bench", small_, "--dim=n=1..8", "--dim=n=6", "--runs=3"}, 0, ", n=6, clock");
  EXPECT_EQ(cached(), 1u);
  expect({"bench", small_, "--dim=n=2..8", "--runs=3"}, 0, "note: n=2, the least; `--dim NAME=N` says another size");
  expect({"profile", small_, "--dim=n=1..8", "--dim=n=9"}, 2, "`--dim n=9`: the model was built for 1 to 8");
  EXPECT_EQ(cameo({"build", small_, "--dim=n=1..8", "--dim=n=5", "-o", "a.so"}).code, 2) << "only a run has a size";
}

TEST_F(Sizes, AnArtifactTakesThemThroughCameo) {
  ASSERT_EQ(cameo({"build", small_, "-o", "a.so", "--dim=n=1..8"}).code, 0);
  expect({"run", "a.so", "--dim=n=5", "-i", "rand"}, 0, "f32[5,3]");
  expect({"bench", "a.so", "--dim", "n=5", "--runs=3"}, 0, ", n=5, clock");
  expect({"run", "a.so", "--dim=m=5", "-i", "rand"}, 2, "no input has a size of that name; there are `n`");
  expect({"test", "a.so", "--dim=n=5"}, 2, "is built already, and `--dim` is for models");
}

/// Of a window of 3 the model needs 3 elements, of which one is left.
TEST_F(Sizes, AtWhichNothingRunsAreNotProposed) {
  GraphText g;
  g.inputs = {value("x", 1, {"batch", 1, "n"})};
  g.outputs = {value("y", 1, {"batch", 1, "m"})};
  g.initializers = {tensor<float>("w", 1, {1, 1, 3}, {1, 1, 1})};
  g.nodes = {node("Conv", {"x", "w"}, {"y"})};
  const std::string conv = write("conv.onnx", model(g));
  const Ended e = cameo({"bench", conv, "--runs=3"});
  EXPECT_EQ(e.code, 0) << e.err;
  EXPECT_TRUE(has(e.err, "cameo bench " + conv + " --dim batch=1 --dim n=3 --runs=3\n"));
  EXPECT_TRUE(has(e.err, "note: batch=1, n=3, the least; `--dim NAME=N` says another size"));
  EXPECT_TRUE(has(e.out, ", batch=1, n=3, clock"));
  EXPECT_TRUE(has(cameo({"inspect", conv}).out, "f32[batch=1..,1,n=3..]"));
  expect({"bench", conv, "--dim=batch=1", "--dim=n=1..9", "--runs=3"}, 0,
         "note: n=4, the least that were found to fit");
  expect({"build", conv, "-o", "a.so", "--dim", "batch=1", "--dim", "n=4"}, 0, "");
  expect({"test", conv}, 0, "random:0 at batch=1, n=3\n");
  expect({"build", conv, "-o", "a.so", "--golden=random:3"}, 0, "");
}

// ---- flags ----------------------------------------------------------------------------------------------------------
TEST_F(Sizes, ShapesTakeRanges) {
  for (const char* shape : {"x=1..8,3", "0=1..8,3", "x=1..8x3", "x=1..,3"}) {
    ASSERT_EQ(cameo({"build", small_, "-o", "a.so", "--shape", shape}).code, 0) << shape;
    EXPECT_EQ(run(path("a.so"), {"run", "--dim", "n=8", "-i", "rand"}).code, 0) << shape;
  }
  expect({"bench", small_, "--shape", "x=1..8,3", "--dim=n=5", "--runs=3"}, 0, ", n=5, clock");
  expect({"build", small_, "--shape", "x=1..8,1..3"}, 2, "`--shape x=1..8,1..3` does not fit: axis `x[1]` is 3");
  expect({"build", small_, "--shape", "x=1..8"}, 2, "has 1 dims, the input has 2");
  expect({"build", small_, "--shape", "x=8..1,3"}, 2, "sizes go up from 0");
  expect({"build", small_, "--shape", "x=..8,3"}, 2, "are no dims like 1x3x224x224 or 1..8,3,32..,32..");
  expect({"build", small_, "--shape", "x=1..8,3", "--dim", "n=1..4"}, 2, "another range than a flag before it");
}

TEST_F(Sizes, ShapesGiveAnInputWithoutARankOneWithRanges) {
  GraphText g;
  g.inputs = {bytes(1, "x") + bytes(2, bytes(1, number(1, 1)))};
  g.outputs = {value("y", 1, {})};
  g.nodes = {node("Relu", {"x"}, {"y"})};
  const std::string relu = write("relu.onnx", model(g));
  ASSERT_EQ(cameo({"build", relu, "-o", "a.so", "--shape", "x=1..8,2"}).code, 0);
  expect({"inspect", "a.so"}, 0, "f32[x[0]=1..8,2]");
}

TEST_F(Sizes, SumsOfThemFollowFromTheData) {
  const std::string concat = concatenating();
  const auto data = [&](int64_t n, int64_t mask) {
    write("data/input_0.pb", tensor<float>("x", 1, {n, 3}, std::vector<float>(n * 3, 1)));
    write("data/input_1.pb", tensor<float>("mask", 1, {mask, 3}, std::vector<float>(mask * 3, 1)));
    return path("data");
  };
  expect({"test", concat, data(4, 5), "--dim=n=1..8"}, 0, "f32[9x3]");
  expect({"test", concat, data(4, 4), "--dim=n=1..8"}, 7, "`mask` has 4x3, where the model takes f32[5x3] at n=4");
  expect({"bench", concat, "--dim=n=1..8", "--dim=n=4", "--runs=3"}, 0, ", n=4, clock");
}

TEST_F(Sizes, InspectNamesThemAsAnArtifactDoes) {
  const std::string concat = concatenating();
  const Ended of_model = cameo({"inspect", concat, "--dim=n=1..8"});
  ASSERT_EQ(cameo({"build", concat, "-o", "a.so", "--dim=n=1..8"}).code, 0);
  const Ended of_artifact = cameo({"inspect", "a.so"});
  for (const char* type : {"x  f32[n=1..8,3]", "mask  f32[n + 1=2..9,3]", "y  f32[(n * 2) + 1=3..17,3]"}) {
    EXPECT_TRUE(has(of_model.out, type));
    EXPECT_TRUE(has(of_artifact.out, type));
  }
  const auto sizes = cameo({"inspect", concat, "--dim=n=1..8", "--json"}).json()["sizes"];
  EXPECT_EQ(sizes, nlohmann::json({{"n", {1, 8}}}));
  EXPECT_EQ(cameo({"check", small_, "--json"}).json()["sizes"], nlohmann::json({{"n", {1, nullptr}}}));
}

// ---- inputs whose elements decide shapes ----------------------------------------------------------------------------
TEST_F(Sizes, ThatElementsDecideComeFromTheData) {
  const std::string reshape = reshaping();
  fs::create_directory(folder_ / "all");
  reshaping_data("all/test_data_set_0", 3, 4);
  reshaping_data("all/test_data_set_1", 1, 12);
  expect({"test", reshape, "all"}, 0, "2 of 2 outputs in 2 cases passed");
  EXPECT_EQ(cached(), 1u);
  ASSERT_EQ(cameo({"build", reshape, "-o", "a.so", "--golden", "all"}).code, 0);
  EXPECT_EQ(run(path("a.so"), {"test"}).code, 0);
  for (const Words& words : {Words(), {"inspect"}, {"bench", "-i", "x=rand", "-i", "shape=[6,2]", "--runs=3"}}) {
    const Ended e = run(path("a.so"), words);
    EXPECT_EQ(e.code, 0) << e.out << e.err;
    EXPECT_FALSE(has(e.out + e.err, "shape:0"));
  }
  EXPECT_TRUE(has(run(path("a.so"), {"run", "-i", "x=rand", "-i", "shape=[4,-1]"}).out, "f32[4,3]"));
  const Ended misfit = run(path("a.so"), {"run", "-i", "x=rand", "-i", "shape=[5,5]"});
  EXPECT_EQ(misfit.code, 7) << misfit.out << misfit.err;
  EXPECT_TRUE(has(misfit.err, "node `/reshape` does not fit these sizes"));
  expect({"run", reshape, "-i", "x=rand", "-i", "shape=[6,2]"}, 0, "f32[6,2]");
  expect({"bench", reshape, "-i", "shape=[6,2]", "--runs=3"}, 0, "median");
  expect({"test", reshape, reshaping_data("misfit", 5, 5)}, 7, "does not fit the model");
}

TEST_F(Sizes, ThatElementsDecideAreNotMadeUp) {
  const std::string reshape = reshaping();
  const std::string why = "the elements of input `shape` decide shapes, and random ones cannot";
  expect({"test", reshape}, 2, why);
  expect({"build", reshape, "-o", "a.so", "--golden=random:3"}, 2, why);
  expect({"bench", reshape, "--runs=3"}, 2, "the elements of input `shape`, i64[2], decide shapes: give them like");
  ASSERT_EQ(cameo({"build", reshape, "-o", "a.so"}).code, 0);
  const Ended said[] = {run(path("a.so"), {"--help"}), run(path("a.so"), {"bench", "-i", "shape=[6,2]", "--runs=3"}),
                        run(path("a.so"), {"bench", "-i", "shape=[6,2]", "--runs=3", "--json"})};
  for (const Ended& e : said) {
    EXPECT_EQ(e.code, 0) << e.err;
    EXPECT_EQ((e.out + e.err).find("shape:0"), std::string::npos) << e.out << e.err;
  }
  for (const char* verb : {"inspect", "check", "explain", "bench"})
    EXPECT_EQ((cameo({verb, reshape}).out + cameo({verb, reshape}).err).find("shape:0"), std::string::npos) << verb;
}

}  // namespace
}  // namespace cameo
