// `--custom FILE.cpp`: the two operators that ship, through every road and verb; a file's mistakes, with the compiler's
// words; and RequantShift in a published network.
#include <algorithm>
#include <fstream>

#include "tests/cli/program.h"
#include "tests/frontend/import/onnx_writer.h"

namespace cameo {
namespace {

const std::string kFolder = CAMEO_SOURCE_DIR "/models/custom/";
std::string model_of(const std::string& name) { return kFolder + name + ".onnx"; }
std::string file_of(const std::string& name) { return "--custom=" + kFolder + name + ".cpp"; }
std::string golden_of(const std::string& name) { return kFolder + name + "_golden"; }
const Words kNames = {"requant_shift", "window_stats"};

class Custom : public CliTest {
 protected:
  Ended built(const std::string& name, Words flags) {
    flags.insert(flags.begin(), {"build", model_of(name), file_of(name)});
    return cameo(flags);
  }
  /// What `check` says of the model of `name` with this file instead.
  Ended checked(const std::string& name, const std::string& text) {
    return cameo({"check", model_of(name), "--custom", write("mine.cpp", text)});
  }
};

TEST_F(Custom, GoldenDataPassAtOpenAndBoundSizes) {
  const std::map<std::string, Words> bound = {{"requant_shift", {"--dim", "n=2"}},
                                              {"window_stats", {"--dim", "rows=6", "--dim", "length=4..64"}}};
  for (const std::string& name : kNames)
    for (const Words& flags : {Words{}, bound.at(name)}) {
      Words test = {"test", model_of(name), golden_of(name), file_of(name)};
      test.insert(test.end(), flags.begin(), flags.end());
      const Ended e = cameo(test);
      EXPECT_EQ(e.code, 0) << e.out << e.err;
      EXPECT_TRUE(has(e.out, "in 1 cases passed"));
    }
}

TEST_F(Custom, EveryInstructionSetComputesTheSame) {
  for (const std::string& name : kNames) {
    ASSERT_EQ(built(name, {"-o", "a.so", "--golden=" + golden_of(name), "--target=cpu:x86-64-v2,x86-64-v3"}).code, 0);
    const Ended e = run(path("a.so"), {"test"});
    EXPECT_EQ(e.code, 0) << e.out << e.err;
  }
}

TEST_F(Custom, ThreadsChangeNothing) {
  ASSERT_EQ(built("window_stats", {"-o", "a.so", "--dim", "rows=700", "--dim", "length=900"}).code, 0);
  for (const char* threads : {"1", "2", "3"}) {
    const std::string to = std::string("mean=@") + threads + ".npy";
    const Ended e = run(path("a.so"), {"run", "-i", "x=rand", "-o", to, "--threads", threads});
    ASSERT_EQ(e.code, 0) << e.err;
  }
  EXPECT_TRUE(read("1.npy") == read("2.npy") && read("1.npy") == read("3.npy"));
}

TEST_F(Custom, GpuArtifactsRunElementsThereAndFunctionsOnTheHost) {
  for (const std::string& name : kNames) {
    ASSERT_EQ(built(name, {"-o", "gpu.so", "--target=cuda:host", "--golden=" + golden_of(name)}).code, 0);
    const Ended e = run_program(path("gpu.so"), {"test", "--device=cuda:0"},
                                {.folder = folder_, .variables = {"LD_LIBRARY_PATH=" CAMEO_BINARY_DIR "/mock"}});
    EXPECT_EQ(e.code, 0) << e.out << e.err;
    const Ended ptx = built(name, {"--target=cuda:ptx", "--emit=ptx"});
    EXPECT_EQ(has(ptx.out, "requantshift"), name == "requant_shift");
    EXPECT_FALSE(has(ptx.out, "windowstats"));
  }
}

TEST_F(Custom, AnElementIsFusedWithItsNeighbours) {
  const Ended plan = built("requant_shift", {"--emit=plan", "--dim", "n=2"});
  EXPECT_TRUE(has(plan.out, "k000_mul_requantshift_relu")) << plan.out;
  EXPECT_FALSE(has(plan.out, "k001_")) << plan.out;
}

TEST_F(Custom, VerbsShowItAsAnyOther) {
  for (const char* verb : {"check", "inspect", "explain"}) {
    const Ended e = cameo({verb, model_of("window_stats"), file_of("window_stats")});
    EXPECT_EQ(e.code, 0) << e.err;
    EXPECT_EQ(has(e.out, "WindowStats"), std::string(verb) != "check") << e.out;
  }
  const Ended node = cameo({"explain", model_of("window_stats"), "weighted", file_of("window_stats")});
  EXPECT_TRUE(has(node.out, "windowstats")) << node.out << node.err;
  for (const char* verb : {"profile", "bench"}) {
    const Ended e = cameo({verb, model_of("window_stats"), file_of("window_stats"), "--dim", "rows=4", "--dim",
                           "length=9", "--seconds=0", "--runs=1"});
    EXPECT_EQ(e.code, 0) << e.err;
    EXPECT_EQ(has(e.out, "weighted"), std::string(verb) == "profile") << e.out;
  }
}

TEST_F(Custom, SourcesHaveTheFile) {
  for (const char* tool : {"g++", "make"})
    if (!is_there(tool)) GTEST_SKIP() << "no " << tool;
  const std::string golden = "--golden=" + golden_of("window_stats");
  ASSERT_EQ(built("window_stats", {"-o", "sources/", "--name=stats", golden, "--target=cpu:x86-64-v2,x86-64-v3"}).code,
            0);
  std::ifstream in(kFolder + "window_stats.cpp", std::ios::binary);
  EXPECT_EQ(read("sources/custom/window_stats.cpp"), std::string(std::istreambuf_iterator<char>(in), {}));
  const Ended make = run("make", {"-C", "sources", "-j2", "-s"});
  ASSERT_EQ(make.code, 0) << make.err;
  EXPECT_EQ(make.err, "");
  EXPECT_EQ(run(path("sources/stats.so"), {"test"}).code, 0);
}

TEST_F(Custom, ArtifactsAreTheSameBytesAndShowNothingOfIt) {
  ASSERT_EQ(built("window_stats", {"-o", "a.so", "--target=cpu:x86-64-v3"}).code, 0);
  const std::string first = read("a.so");
  ASSERT_EQ(built("window_stats", {"-o", "a.so", "--target=cpu:x86-64-v3"}).code, 0);
  EXPECT_TRUE(read("a.so") == first);
  if (!is_there("nm")) GTEST_SKIP() << "no nm";
  const Ended nm = run("nm", {"-D", "--defined-only", "a.so"});
  EXPECT_TRUE(has(nm.out, "a_api"));
  EXPECT_EQ(std::ranges::count(nm.out, '\n'), 2) << nm.out;
}

TEST_F(Custom, TheCacheKnowsAFileByItsBytes) {
  std::ifstream in(kFolder + "window_stats.cpp", std::ios::binary);
  std::string text(std::istreambuf_iterator<char>(in), {});
  const auto first_mean = [&] {
    return cameo({"run", model_of("window_stats"), "--custom", write("stats.cpp", text), "-i", "x=ones", "--dim",
                  "rows=1", "--dim", "length=4", "-o", "plain=-"})
        .out;
  };
  const std::string one = first_mean();
  const size_t at = text.find("sum / static_cast<float>(window)");
  ASSERT_NE(at, text.npos);
  text.replace(at, 3, "7  ");
  const std::string other = first_mean();
  EXPECT_FALSE(one.empty());
  EXPECT_NE(one, other);
}

// ---- what is wrong --------------------------------------------------------------------------------------------------
TEST_F(Custom, WithoutItTheOperatorIsUnknown) {
  const Ended e = cameo({"check", model_of("requant_shift")});
  EXPECT_EQ(e.code, 3);
  EXPECT_TRUE(has(e.err, "error[E0401]: operator `RequantShift` is not supported")) << e.err;
}

TEST_F(Custom, ShowsTheWordsOfTheCompiler) {
  const Ended e = checked("requant_shift", "#include <cameo/op.h>\n\nint two = one;\n");
  EXPECT_EQ(e.code, 2);
  EXPECT_TRUE(has(e.err, "error[E0701]")) << e.err;
  EXPECT_TRUE(has(e.err, "mine.cpp:3:11: error: use of undeclared identifier 'one'")) << e.err;
  EXPECT_FALSE(has(e.err, "/cameo/source")) << e.err;
  const Ended branch = checked("requant_shift",
                               "#include <cameo/op.h>\nusing namespace cameo::op;\n"
                               "static Scalar f(const Element& e) { return e.in(0) > 0 ? e.in(0) : e.in(1); }\n"
                               "CAMEO_OPERATORS({.name = \"RequantShift\", .inputs = {{\"x\"}}, .element = f})\n");
  EXPECT_TRUE(has(branch.err, "'Scalar' is not contextually convertible to 'bool'")) << branch.err;
  const Ended calls = checked("requant_shift",
                              "extern \"C\" void nowhere();\nvoid f() { nowhere(); }\n"
                              "extern \"C\" __attribute__((visibility(\"default\"))) void "
                              "cameo_operators() { f(); }\n");
  EXPECT_TRUE(has(calls.err, "error[E0701]") && has(calls.err, "nowhere")) << calls.err;
  EXPECT_TRUE(has(checked("requant_shift", std::string("int a;\0", 7)).err, "is no C++ text"));
}

TEST_F(Custom, AFileWithoutATableOrTwiceIsRefused) {
  const Ended none = checked("requant_shift", "#include <cameo/op.h>\n");
  EXPECT_EQ(none.code, 2);
  EXPECT_TRUE(has(none.err, "error[E0702]")) << none.err;
  const Ended twice =
      cameo({"check", model_of("requant_shift"), file_of("requant_shift"), file_of("requant_shift"), "--json"});
  EXPECT_EQ(twice.code, 2);
  EXPECT_EQ(twice.json()["exit_code"], 2) << twice.out;
  EXPECT_TRUE(has(twice.out, "E0702")) << twice.out;
  EXPECT_EQ(cameo({"check", model_of("requant_shift"), "--custom", "nowhere.cpp"}).code, 3);
}

TEST_F(Custom, TwoFilesOfOneNameGoTogether) {
  fs::create_directory(folder_ / "other");
  fs::copy(kFolder + "window_stats.cpp", folder_ / "stats.cpp");
  fs::copy(kFolder + "requant_shift.cpp", folder_ / "other/stats.cpp");
  const Ended e = cameo({"test", model_of("window_stats"), golden_of("window_stats"), "--custom",
                         path("other/stats.cpp"), "--custom", path("stats.cpp")});
  EXPECT_EQ(e.code, 0) << e.out << e.err;
}

TEST_F(Custom, ANodeThatTheRuleRefusesIsNamed) {
  const Ended e = cameo({"check", model_of("window_stats"), file_of("window_stats"), "--dim", "length=3"});
  EXPECT_EQ(e.code, 3);
  EXPECT_TRUE(has(e.err, "error[E0703]: `WindowStats` has windows that are longer than a row")) << e.err;
  EXPECT_TRUE(has(e.err, "`weighted` (WindowStats)")) << e.err;
  ASSERT_EQ(built("window_stats", {"-o", "a.so", "--dim", "length=1..64"}).code, 0);
  EXPECT_EQ(run(path("a.so"), {"run", "-i", "x=2x3xf32=[[1,2,3],[4,5,6]]"}).code, 7) << "sizes that only a run knows";
}

TEST_F(Custom, AFunctionThatCrashesIsASentence) {
  const Ended e = checked("requant_shift",
                          "#include <cameo/op.h>\nusing namespace cameo::op;\nstatic int* volatile nothing;\n"
                          "static Scalar f(const Element& e) { return e.in(0) + *nothing; }\n"
                          "CAMEO_OPERATORS({.name = \"RequantShift\", .inputs = {{\"x\"}, {\"m\"}, {\"a\"}},\n"
                          "  .attributes = {{\"div\", Kind::tensor}, {\"n_levels_out\", Kind::tensor},\n"
                          "                 {\"signed\", Kind::tensor}}, .element = f})\n");
  EXPECT_EQ(e.code, 3);
  EXPECT_TRUE(has(e.err, "error[E0704]") && has(e.err, "`element` ended with a signal")) << e.err;
  EXPECT_TRUE(has(e.err, "`requant` (RequantShift)")) << e.err;
}

TEST_F(Custom, ARunThatFailsEndsWithAStatus) {
  const std::string file = write("failing.cpp",
                                 "#include <cameo/op.h>\nusing namespace cameo::op;\n"
                                 "static void s(Shape& s) { s.output(0, f32, s.dims(0)); }\n"
                                 "static void r(const Run& r) { r.fail(\"never works\"); }\n"
                                 "CAMEO_OPERATORS({.name = \"RequantShift\", .inputs = {{\"x\"}, {\"m\"}, {\"a\"}},\n"
                                 "  .attributes = {{\"div\", Kind::tensor}, {\"n_levels_out\", Kind::tensor},\n"
                                 "                 {\"signed\", Kind::tensor}}, .shape = s, .run = r})\n");
  const Ended e = cameo({"run", model_of("requant_shift"), "--custom", file, "-i", "x=zeros", "--dim", "n=1"});
  EXPECT_EQ(e.code, 7) << e.out << e.err;
  EXPECT_TRUE(has(e.err, "node `requant`: never works")) << e.err;
}

TEST_F(Custom, OfPartsThatFailTheFirstOneSaysWhy) {
  const std::string file = write("failing.cpp",
                                 "#include <cameo/op.h>\nusing namespace cameo::op;\n"
                                 "static void s(Shape& s) {\n  s.output(0, f32, s.dims(0));\n  s.scratch(4096);\n}\n"
                                 "static void r(const Run& r) {\n"
                                 "  for (int i = 0; i < 4096; ++i) static_cast<char*>(r.scratch)[i] = '!';\n"
                                 "  char sentence[] = \"never works ?\";\n"
                                 "  sentence[12] = r.begin == 0 ? 'A' : 'B';\n  r.fail(sentence);\n}\n"
                                 "CAMEO_OPERATORS({.name = \"RequantShift\", .inputs = {{\"x\"}, {\"m\"}, {\"a\"}},\n"
                                 "  .attributes = {{\"div\", Kind::tensor}, {\"n_levels_out\", Kind::tensor},\n"
                                 "                 {\"signed\", Kind::tensor}}, .shape = s, .run = r, .split = 0,\n"
                                 "  .work = 1e6})\n");
  ASSERT_EQ(cameo({"build", model_of("requant_shift"), "--custom", file, "-o", "a.so", "--dim", "n=64"}).code, 0);
  for (const char* threads : {"1", "2", "3"}) {
    const Ended e = run(path("a.so"), {"run", "-i", "x=zeros", "--threads", threads});
    EXPECT_EQ(e.code, 7) << e.out << e.err;
    EXPECT_TRUE(has(e.err, "node `requant`: never works A\n")) << e.err;
  }
}

TEST_F(Custom, AttributesOfEachKindReachAnArtifact) {
  const std::string file = write(
      "attributes.cpp",
      "#include <cameo/op.h>\nusing namespace cameo::op;\n"
      "static void s(Shape& s) { s.output(0, f32, s.dims(0)); }\n"
      "static void r(const Run& r) {\n"
      "  const double all = r.number(\"div\") + r.tensor(\"n_levels_out\").as<float>()[0] + r.number(\"bias\") +\n"
      "                     r.text(\"word\")[1] + static_cast<double>(r.integer(\"count\"));\n"
      "  for (int64_t i = 0; i < r.out(0).size(); ++i) r.out(0).as<float>()[i] = static_cast<float>(all);\n}\n"
      "CAMEO_OPERATORS({.name = \"RequantShift\", .inputs = {{\"x\"}, {\"m\"}, {\"a\"}},\n"
      "  .attributes = {{\"div\", Kind::tensor}, {\"n_levels_out\", Kind::tensor}, {\"signed\", Kind::tensor},\n"
      "                 {\"bias\", -0.5}, {\"word\", \"ab\"}, {\"count\", -3}}, .shape = s, .run = r})\n");
  const Ended e =
      cameo({"run", model_of("requant_shift"), "--custom", file, "-i", "x=zeros", "--dim", "n=1", "-o", "y=stats"});
  EXPECT_EQ(e.code, 0) << e.out << e.err;
  EXPECT_TRUE(has(e.out, "606.5")) << e.out << "256 + 256 - 0.5 + 98 - 3";
}

TEST_F(Custom, NarrowTypesHaveAByteAnElement) {
  using namespace onnx_text;
  constexpr int kInt4 = 22;
  const Bytes m = model(GraphText{{node("Negated", {"x"}, {"n"}, {}, "mine"), node("Raised", {"n"}, {"y"}, {}, "mine")},
                                  {value("x", kInt4, {3})},
                                  {value("y")}},
                        {opset("", 21), opset("mine", 1)});
  const std::string file = write(
      "narrow.cpp",
      "#include <cameo/op.h>\nusing namespace cameo::op;\n"
      "static Scalar negated(const Element& e) { return cast(-cast(e.in(0), i32), i4); }\n"
      "static void s(Shape& s) { s.output(0, i4, s.dims(0)); }\n"
      "static void raised(const Run& r) {\n"
      "  for (int64_t i = 0; i < r.in(0).size(); ++i)\n"
      "    r.out(0).as<int8_t>()[i] = static_cast<int8_t>(r.in(0).as<int8_t>()[i] + 1);\n}\n"
      "CAMEO_OPERATORS({.name = \"Negated\", .domain = \"mine\", .inputs = {{\"x\", narrow}}, .element = negated},\n"
      "                {.name = \"Raised\", .domain = \"mine\", .inputs = {{\"x\", narrow}}, .shape = s, .run = "
      "raised})\n");
  const Ended e = cameo({"run", write("narrow.onnx", m), "--custom", file, "-i", "x=[1,-3,7]", "-o", "y=text"});
  EXPECT_EQ(e.code, 0) << e.out << e.err;
  EXPECT_TRUE(has(e.out, "0 4 -6")) << e.out;
}

TEST_F(Custom, ItsNameMayHoldAnyBytes) {
  using namespace onnx_text;
  const Bytes m =
      model(GraphText{{node("My-Op\n#", {"x"}, {"y"}, {}, "mine")}, {value("x", 1, {3})}, {value("y", 1, {3})}},
            {opset("", 21), opset("mine", 1)});
  const std::string file = write("any.cpp",
                                 "#include <cameo/op.h>\nusing namespace cameo::op;\n"
                                 "static Scalar twice(const Element& e) { return e.in(0) + e.in(0); }\n"
                                 "CAMEO_OPERATORS({.name = \"My-Op\\n#\", .domain = \"mine\", .inputs = {{\"x\"}}, "
                                 ".element = twice})\n");
  ASSERT_EQ(cameo({"build", write("any.onnx", m), "--custom", file, "-o", "a.so"}).code, 0);
  EXPECT_TRUE(has(run(path("a.so"), {"run", "-i", "[1,2,3]", "-o", "text"}).out, "2 4 6"));
}

TEST_F(Custom, ArtifactsAreBuiltAlready) {
  ASSERT_EQ(built("requant_shift", {"-o", "a.so", "--dim", "n=1"}).code, 0);
  EXPECT_EQ(cameo({"run", path("a.so"), file_of("requant_shift"), "-i", "x=zeros"}).code, 2);
}

// ---- a published network --------------------------------------------------------------------------------------------
TEST_F(Custom, RequantShiftComputesAPublishedNetwork) {
  const std::string model = CAMEO_SHARED "/models/mlperftiny_kws.onnx";
  if (!fs::exists(model)) GTEST_SKIP() << "no " << model;
  ASSERT_EQ(cameo({"build", model, file_of("requant_shift"), "-o", "kws.so", "--golden=random:3"}).code, 0);
  const Ended random = run(path("kws.so"), {"test"});
  EXPECT_EQ(random.code, 0) << random.out << random.err;
  const std::string golden = CAMEO_SHARED "/models/golden/mlperftiny_kws";
  if (!fs::exists(golden)) GTEST_SKIP() << "no golden data of its publisher in " << golden;
  const Ended e = cameo({"test", model, golden, file_of("requant_shift")});
  EXPECT_EQ(e.code, 0) << e.out << e.err;
}

}  // namespace
}  // namespace cameo
