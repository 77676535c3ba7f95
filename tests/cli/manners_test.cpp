// Usage: help, typing errors, JSON, exit codes, and clean ends.
#include "tests/cli/program.h"

namespace cameo {
namespace {

using Manners = CliTest;

TEST_F(Manners, CalledBareItSaysWhatItTakes) {
  const Ended e = cameo({});
  EXPECT_EQ(e.code, 2);
  for (const char* verb : {"check", "build", "run", "test", "bench", "inspect", "explain", "doctor", "version"})
    EXPECT_TRUE(has(e.out, verb));
}

TEST_F(Manners, EveryVerbHasHelpWithAnExample) {
  for (const char* verb :
       {"check", "build", "run", "test", "bench", "profile", "inspect", "explain", "doctor", "version", "completion"}) {
    const Ended e = cameo({verb, "--help"});
    EXPECT_EQ(e.code, 0) << verb;
    EXPECT_TRUE(has(e.out, std::string("cameo ") + verb));
    EXPECT_EQ(e.err, "");
  }
}

TEST_F(Manners, TypingErrorsGetTheNearestName) {
  EXPECT_TRUE(has(cameo({"biuld", digits_}).err, "did you mean `build`?"));
  EXPECT_TRUE(has(cameo({"build", "--dmi", "x=1", digits_}).err, "did you mean `--dim`?"));
  EXPECT_TRUE(has(cameo({"build", digits_, "--target=cpu:x86-64-v5"}).err, "did you mean `x86-64-v2`?"));
  EXPECT_TRUE(has(cameo({"build", digits_, "--emit=plann"}).err, "did you mean `plan`?"));
  EXPECT_TRUE(has(cameo({"build", digits_, "--skip=fold_constant"}).err, "did you mean `fold_constants`?"));
  EXPECT_TRUE(has(cameo({"explain", "E0502X"}).err, "E0101"));
  EXPECT_TRUE(has(cameo({"explain", digits_, "/relu3"}).err, "did you mean `/relu"));
}

TEST_F(Manners, UsageErrorsEndWithTwoAndLeaveNothing) {
  const std::vector<Words> wrong = {{"build"},
                                    {"build", digits_, "extra"},
                                    {"build", digits_, "--dim", "x"},
                                    {"build", digits_, "--dim", "x=many"},
                                    {"build", digits_, "--dim", "x=1"},
                                    {"build", digits_, "--shape", "image=1xx8"},
                                    {"build", digits_, "--shape", "picture=1x1x8x8"},
                                    {"build", digits_, "--const", "picture=1"},
                                    {"build", digits_, "--outputs", "nothing"},
                                    {"build", digits_, "--name", "1st"},
                                    {"build", digits_, "--golden=random:0"},
                                    {"build", digits_, "--no-program", "-o", "program"},
                                    {"build", digits_, "--emit=plan", "-o", "x.so"},
                                    {"build", digits_, "-j", "0"},
                                    {"run", digits_, "--seconds", "1"},
                                    {"test", digits_, "--tolerance", "-1"},
                                    {"explain", digits_, "/nothing"}};
  for (const Words& words : wrong) {
    const Ended e = cameo(words);
    EXPECT_EQ(e.code, 2) << testing::PrintToString(words) << e.err;
    EXPECT_TRUE(has(e.err, "error"));
    EXPECT_EQ(e.out, "");
  }
  EXPECT_EQ(files(), Words{});
}

TEST_F(Manners, JsonIsOneDocumentWithASchemaAlsoWhenItFails) {
  const std::vector<std::pair<Words, int>> calls = {{{"check", digits_}, 0},
                                                    {{"inspect", digits_}, 0},
                                                    {{"explain", digits_}, 0},
                                                    {{"explain", digits_, "/conv1"}, 0},
                                                    {{"explain", "E0501"}, 0},
                                                    {{"doctor"}, 0},
                                                    {{"version"}, 0},
                                                    {{"check", "missing.onnx"}, 3},
                                                    {{"build", "missing.onnx"}, 3},
                                                    {{"test", "missing.onnx"}, 3},
                                                    {{"run", "missing.onnx"}, 3},
                                                    {{"biuld"}, 2},
                                                    {{"build", digits_, "-o", "a.so"}, 0},
                                                    {{"build", digits_, "--emit=plan"}, 0}};
  for (auto [words, code] : calls) {
    words.push_back("--json");
    const Ended e = cameo(words);
    const auto j = e.json();
    ASSERT_TRUE(j.is_object()) << testing::PrintToString(words) << e.out << e.err;
    EXPECT_TRUE(j["schema"].get<std::string>().starts_with("cameo.")) << e.out;
    EXPECT_EQ(j["version"], 1);
    EXPECT_EQ(j["exit_code"], code);
    EXPECT_EQ(e.code, code) << e.err;
    EXPECT_EQ(j["diagnostics"].empty(), code == 0);
  }
}

TEST_F(Manners, NothingButDiagnosticsStandsOnStderrOfNoTerminal) {
  const Ended e = cameo({"build", digits_, "-o", "a.so"});
  EXPECT_EQ(e.code, 0);
  EXPECT_EQ(e.err, "");
  EXPECT_TRUE(has(e.out, "a.so: "));
  EXPECT_TRUE(has(e.out, "--target=cpu:x86-64-"));
  EXPECT_EQ(cameo({"build", digits_, "-o", "a.so", "-q"}).out, "");
}

TEST_F(Manners, ModelsThatAreNoneEndWithThree) {
  EXPECT_EQ(cameo({"build", "missing.onnx"}).code, 3);
  EXPECT_EQ(cameo({"build", folder_.string()}).code, 3);
  EXPECT_EQ(cameo({"build", write("empty.onnx", "")}).code, 3);
  EXPECT_EQ(cameo({"build", write("text.onnx", "version https://git-lfs.github.com/spec/v1\n")}).code, 3);
  const Ended e = cameo({"check", "missing.onnx"});
  EXPECT_TRUE(has(e.err, "error[E0101]: "));
  EXPECT_TRUE(has(e.err, "missing.onnx"));
}

TEST_F(Manners, OutputsThatCannotBeWrittenSaySoBeforeAnythingIsBuilt) {
  const Ended e = cameo({"build", digits_, "-o", "no/folder/x.so"});
  EXPECT_EQ(e.code, 2);
  EXPECT_TRUE(has(e.err, "the folder `no/folder` does not exist"));
  fs::create_directory(folder_ / "folder.so");
  write("folder.so/keep", "");
  EXPECT_EQ(cameo({"build", digits_, "-o", "folder.so"}).code, 2);
  const std::string model = write("model", read(digits_));
  EXPECT_TRUE(has(cameo({"build", model, "-o", model}).err, "would overwrite the model"));
}

TEST_F(Manners, AFullDiskIsAClearEnd) {
  const Ended e = cameo({"build", digits_, "-o", "/dev/full"});
  EXPECT_EQ(e.code, 2) << e.err;
  EXPECT_TRUE(has(e.err, "No space left on device"));
}

// The signal may also come before the program took over, or when the output already stands: then it stands whole.
TEST_F(Manners, CtrlCLeavesNothingOrAllOfIt) {
  const std::vector<Words> builds = {
      {"build", digits_, "-o", "a.so", "-j1", "--target=cpu:x86-64-v2,x86-64-v3,x86-64-v4"},
      {"build", digits_, "-o", "sources/"}};
  for (const Words& build : builds) {
    ASSERT_EQ(cameo(build).code, 0);
    const auto whole = contents();
    for (int ms : {5, 60, 150}) {
      for (const std::string& name : files()) fs::remove_all(folder_ / name);
      RunOptions options;
      options.signal = SIGINT;
      options.signal_ms = ms;
      const Ended e = cameo(build, options);
      EXPECT_TRUE(e.code == 130 || e.code == 0 || e.signal == SIGINT) << e.code << " " << e.signal << e.err;
      EXPECT_EQ(e.err, "");
      const auto left = contents();
      EXPECT_TRUE(left == whole || (left.empty() && e.code != 0)) << ms << " ms: " << testing::PrintToString(files());
    }
    for (const std::string& name : files()) fs::remove_all(folder_ / name);
  }
}

TEST_F(Manners, CompletionIsBash) {
  const Ended e = cameo({"completion"});
  write("completion", e.out);
  EXPECT_EQ(run("bash", {"-c", ". ./completion && complete -p cameo"}).code, 0);
}

TEST_F(Manners, HostileModelsEndWithinSecondsAndWithAKnownCode) {
  const fs::path hostile = fs::path(CAMEO_SHARED) / "hostile";
  if (!fs::is_directory(hostile)) GTEST_SKIP() << "no " << hostile;
  for (const auto& entry : fs::directory_iterator(hostile)) {
    RunOptions options;
    options.limit_seconds = 20;
    const Ended e = cameo({"check", entry.path().string()}, options);
    EXPECT_EQ(e.signal, 0) << entry.path();
    EXPECT_TRUE(e.code == 0 || e.code == 2 || e.code == 3) << entry.path() << " " << e.code << e.err;
    EXPECT_TRUE(e.code == 0 || has(e.err, "error[E"));
  }
}

}  // namespace
}  // namespace cameo
