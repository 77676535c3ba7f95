// `--bucket`: plans of their own for some sizes; what an artifact says of them, and what is refused.
#include "tests/cli/program.h"
#include "tests/frontend/import/onnx_writer.h"

namespace cameo {
namespace {

class Buckets : public CliTest {
 protected:
  const std::string model_ = write("small.onnx", small_model());
  Ended build(Words more) {
    more.insert(more.begin(), {"build", model_, "-o", "a.so"});
    return cameo(more);
  }
  /// The plan that a run of `n` rows takes, as `bench` says.
  std::string plan_at(int n) {
    const Ended e = run(path("a.so"), {"bench", "--dim", "n=" + std::to_string(n), "--runs=3", "--json"});
    EXPECT_EQ(e.code, 0) << e.err;
    return e.json()["cases"][0].value("plan", "none");
  }
  void expect_refused(const Words& flags, int code, const std::string& sentence) {
    const Ended e = build(flags);
    EXPECT_EQ(e.code, code) << e.out;
    EXPECT_TRUE(has(e.err, sentence));
    EXPECT_FALSE(fs::exists(path("a.so")));
  }
};

TEST_F(Buckets, AreTakenByRunsOfExactlyTheirSizes) {
  ASSERT_EQ(build({"--dim=n=1..20", "--bucket=n=4,16", "--golden=random:2"}).code, 0);
  EXPECT_EQ(plan_at(4), "n=4");
  EXPECT_EQ(plan_at(16), "n=16");
  for (int between : {1, 3, 5, 15, 20}) EXPECT_EQ(plan_at(between), "") << between;
  for (const char* input :
       {"[[1,2,3]]", "[[1,2,3],[1,2,3],[1,2,3],[4,5,6]]", "[[4,5,6],[1,2,3],[1,2,3],[1,2,3],[1,2,3]]"})
    EXPECT_TRUE(has(run(path("a.so"), {"run", "-i", input, "-o", "text"}).out, "10")) << input;
  EXPECT_EQ(run(path("a.so"), {"run", "--dim", "n=21", "-i", "rand"}).code, 2);
}

TEST_F(Buckets, EachHasAGoldenCase) {
  ASSERT_EQ(build({"--dim=n=2..20", "--bucket=n=4,16", "--golden=random:2"}).code, 0);
  const Ended e = run(path("a.so"), {"test"});
  EXPECT_EQ(e.code, 0) << e.err;
  EXPECT_TRUE(has(e.out, "random:2 at n=4"));
  EXPECT_TRUE(has(e.out, "f32[4,3]"));
  EXPECT_TRUE(has(e.out, "f32[16,3]"));
  EXPECT_TRUE(has(e.out, "in 4 cases passed"));
}

TEST_F(Buckets, LearnWhatTheirOutputsAre) {
  using namespace onnx_text;
  GraphText g;
  g.inputs = {value("x", 1, {"n"})};
  g.outputs = {value("places")};
  g.nodes = {node("NonZero", {"x"}, {"places"})};
  const std::string model = write("places.onnx", onnx_text::model(g));
  ASSERT_EQ(cameo({"build", model, "-o", "p.so", "--dim=n=1..20", "--bucket=n=4", "--golden=random:1"}).code, 0);
  EXPECT_TRUE(has(run(path("p.so"), {"run", "-i", "[1,0,1,1]"}).out, "places  i64[1,3]"));
  EXPECT_TRUE(has(run(path("p.so"), {"run", "-i", "[1,0,1,1,1]"}).out, "places  i64[1,4]"));
  const Ended golden = run(path("p.so"), {"test"});
  EXPECT_EQ(golden.code, 0) << golden.out;
  EXPECT_TRUE(has(golden.out, "places i64[1,4]"));
}

TEST_F(Buckets, AppendToStatesInPlace) {
  using namespace onnx_text;
  GraphText g;
  g.inputs = {value("past", 1, {"p", 8}), value("x", 1, {"n", 8})};
  g.outputs = {value("present", 1, {"m", 8})};
  g.nodes = {node("Concat", {"past", "x"}, {"present"}, {attr("axis", int64_t{0})})};
  const std::string model = write("growing.onnx", onnx_text::model(g));
  for (const char* bucket : {"--bucket=n=2", "--bucket=n=12", "--bucket=p=4,n=2"}) {
    ASSERT_EQ(cameo({"build", model, "-o", "g.so", "--dim=p=0..60", "--dim=n=1..20", bucket}).code, 0) << bucket;
    const Ended e = run(path("g.so"), {"run", "--state", "present=past", "--steps", "5", "-i",
                                       "x=[[0,1,2,3,4,5,6,7],[8,9,10,11,12,13,14,15]]", "-o", "present=stats"});
    EXPECT_EQ(e.code, 0) << e.err;
    EXPECT_TRUE(has(e.out, "f32[10,8]  min 0  mean 7.5  max 15")) << bucket;
  }
}

TEST_F(Buckets, AreSaidByInspectBenchAndProfile) {
  ASSERT_EQ(build({"--bucket=n=4,16"}).code, 0) << "a dim that nothing binds is open";
  const Ended text = run(path("a.so"), {"inspect"});
  EXPECT_TRUE(has(text.out, "plans of their own for\n  n=4\n  n=16\n"));
  const nlohmann::json json = run(path("a.so"), {"inspect", "--json"}).json();
  EXPECT_EQ(json["buckets"], (nlohmann::json{"n=4", "n=16"}));
  const nlohmann::json bucket = json["manifest"]["targets"][0]["buckets"][1];
  EXPECT_EQ(bucket["sizes"]["n"], 16);
  EXPECT_TRUE(has(run(path("a.so"), {"bench", "--dim", "n=16", "--runs=3"}).out, ", plan for n=16, clock"));
  EXPECT_TRUE(has(run(path("a.so"), {"bench", "--dim", "n=17", "--runs=3"}).out, ", plan for all sizes, clock"));
  EXPECT_TRUE(has(run(path("a.so"), {"profile", "--dim", "n=4", "--runs=3"}).out, "runs, plan for n=4\n"));
  const nlohmann::json profile = run(path("a.so"), {"profile", "--dim", "n=4", "--runs=3", "--json"}).json();
  EXPECT_EQ(profile["plan"], "n=4");
  EXPECT_EQ(profile["nodes"].size(), 1u) << "no steps of other plans";
}

TEST_F(Buckets, AreInSourcesToo) {
  const Ended e = cameo({"build", model_, "--dim=n=1..8", "--bucket=n=4", "--emit=sources"});
  EXPECT_EQ(e.code, 0) << e.err;
  EXPECT_TRUE(has(e.out, "const int64_t bucket0_sizes[] = {4};"));
  EXPECT_TRUE(has(cameo({"build", model_, "--dim=n=1..8", "--bucket=n=4", "--emit=plan"}).out, "bucket n=4\n"));
}

TEST_F(Buckets, SourcesOfThemBuildWithoutCameo) {
  if (run_program("g++", {"--version"}).code || run_program("make", {"--version"}).code)
    GTEST_SKIP() << "there is no g++ or no make";
  ASSERT_EQ(cameo({"build", model_, "--dim=n=1..8", "--bucket=n=4", "--golden=random:2", "-o", path("sources/")}).code,
            0);
  const Ended made = run("make", {"-s", "-j2", "-C", "sources", "CXX=g++", "CXXFLAGS=-O0", "sources.so"});
  ASSERT_EQ(made.code, 0) << made.err;
  const Ended e = run(path("sources/sources.so"), {"test"});
  EXPECT_TRUE(has(e.out, "in 3 cases passed")) << e.err;
}

TEST_F(Buckets, OfGpusAreBuiltIn) {
  EXPECT_EQ(build({"--dim=n=1..20", "--bucket=n=4", "--target=cuda:ptx,cpu:x86-64-v3"}).code, 0);
  EXPECT_EQ(plan_at(4), "n=4") << "on the processor, where there is no GPU";
}

TEST_F(Buckets, ThatCannotBeAreRefused) {
  expect_refused({"--dim=n=1..8", "--bucket=n=9"}, 2, "`--bucket n=9`: 9 is not within 1..8");
  expect_refused({"--dim=n=1..8", "--bucket=m=4"}, 2, "`--bucket m=4`: no input has a dim `m` that only a run knows");
  expect_refused({"--dim=n=4", "--bucket=n=4"}, 2, "--dim n=1..512 gives a dim a range");
  expect_refused({"--bucket=4"}, 2, "`4` is not NAME=N,N..");
  expect_refused({"--bucket=n="}, 2, "`` is no size");
  expect_refused({"--bucket=n=4,x"}, 2, "`x` is no size");
  expect_refused({"--bucket=n=4,"}, 2, "`` is no size");
  expect_refused({"--bucket==4"}, 2, "a dim's name is missing");
  expect_refused({"--bucket=n=4,n=5"}, 2, "it names a dim twice");
  expect_refused({"--bucket=n=1,2,3,4,5,6,7,8,m=1,2,3,4,5"}, 2, "32 plans of single sizes at most");
  Words many;
  for (int i = 1; i < 34; ++i) many.push_back("--bucket=n=" + std::to_string(i));
  expect_refused(many, 2, "more than 32 plans of single sizes");
}

TEST_F(Buckets, AtWhichANodeHasNoMeaningAreRefused) {
  using namespace onnx_text;
  GraphText g;
  g.inputs = {value("x", 1, {1, 1, "n"})};
  g.outputs = {value("y", 1, {1, 1, "m"})};
  g.initializers = {tensor<float>("w", 1, {1, 1, 3}, {1, 1, 1})};
  g.nodes = {node("Conv", {"x", "w"}, {"y"}, {}, "", "/conv")};
  const std::string conv = write("conv.onnx", model(g));
  EXPECT_EQ(cameo({"build", conv, "-o", "b.so", "--dim=n=1..9", "--bucket=n=4"}).code, 0);
  const Ended e = cameo({"build", conv, "-o", "a.so", "--dim=n=1..9", "--bucket=n=2"});
  EXPECT_EQ(e.code, 3);
  EXPECT_TRUE(has(e.err, "`/conv`"));
  EXPECT_TRUE(has(e.err, "at the sizes of `--bucket n=2`"));
  EXPECT_FALSE(fs::exists(path("a.so")));
}

TEST_F(Buckets, ThatAreNamedTwiceAreOne) {
  ASSERT_EQ(build({"--dim=n=1..8", "--bucket=n=4,4", "--bucket=n=4"}).code, 0);
  EXPECT_EQ(run(path("a.so"), {"inspect", "--json"}).json()["buckets"].size(), 1u);
}

}  // namespace
}  // namespace cameo
