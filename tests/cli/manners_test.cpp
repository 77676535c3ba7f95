// Usage: help, typing errors, JSON, exit codes, and clean ends.
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>

#include "cli/interrupt.h"
#include "tests/cli/program.h"
#include "tests/frontend/import/onnx_writer.h"

namespace cameo {
namespace {

using Manners = CliTest;

TEST_F(Manners, CalledBareItSaysWhatItTakes) {
  const Ended e = cameo({});
  EXPECT_EQ(e.code, 2);
  for (const char* verb :
       {"check", "build", "run", "test", "bench", "inspect", "explain", "cache", "doctor", "version"})
    EXPECT_TRUE(has(e.out, verb));
}

TEST_F(Manners, EveryVerbHasHelpWithAnExample) {
  for (const char* verb : {"check", "build", "run", "test", "bench", "profile", "inspect", "explain", "cache", "doctor",
                           "version", "completion"}) {
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
  const Ended far = cameo({"run", digits_, "--runs", "3"});  // a flag of `bench`
  EXPECT_FALSE(has(far.err, "did you mean")) << "nothing is near";
  EXPECT_TRUE(has(far.err, "`cameo run` has no flag `--runs`; there are `"));
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
                                                    {{"cache"}, 0},
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

/// One call of each verb that ends well, as short as it can be.
std::vector<Words> verbs_of_cameo(const std::string& model) {
  return {{"check", model},
          {"build", model, "-o", "b.so", "--target=cpu:x86-64-v2"},
          {"build", model, "--emit=plan"},
          {"build", model, "--emit=sources"},
          {"run", model, "-i", "ones"},
          {"test", model},
          {"bench", model, "--runs", "1", "--seconds", "0"},
          {"profile", model, "--runs", "1"},
          {"inspect", model},
          {"explain", model},
          {"explain", "E0501"},
          {"doctor"},
          {"version"},
          {"completion"},
          {"--help"},
          {"build", "--help"},
          {"run", "--help"}};
}
const std::vector<Words> kVerbsOfArtifact = {{},
                                             {"run", "-i", "ones"},
                                             {"test"},
                                             {"bench", "--runs", "1", "--seconds", "0"},
                                             {"profile", "--runs", "1"},
                                             {"inspect"},
                                             {"licenses"},
                                             {"help"},
                                             {"run", "--help"}};

void expect_document(const Ended& e, int code, const Words& words) {
  const auto j = e.json();
  ASSERT_TRUE(j.is_object()) << testing::PrintToString(words) << "\n" << e.out << e.err;
  EXPECT_TRUE(j.value("schema", "").starts_with("cameo.")) << e.out;
  EXPECT_EQ(j.value("version", 0), 1) << e.out;
  EXPECT_EQ(j.value("exit_code", -1), e.code) << e.out;
  EXPECT_EQ(e.code, code) << testing::PrintToString(words) << e.out << e.err;
  ASSERT_TRUE(j.contains("diagnostics")) << e.out;
  EXPECT_EQ(j["diagnostics"].empty(), code == 0) << e.out;
}

TEST_F(Manners, EveryVerbGivesOneDocumentHoweverItEnds) {
  for (Words words : verbs_of_cameo(digits_)) {
    words.push_back("--json");
    expect_document(cameo(words), 0, words);
    if (std::ranges::find(words, "--help") != words.end()) continue;  // which is answered whatever else is wrong
    words.push_back("--nonsense");
    expect_document(cameo(words), 2, words);
  }
  for (const char* verb : {"check", "build", "run", "test", "bench", "profile", "inspect", "explain"}) {
    const Words words = {verb, "missing.onnx", "--json"};
    expect_document(cameo(words), 3, words);
  }
  for (const Words& words :
       {Words{"--json"}, Words{"biuld", "--json"}, Words{"build", "--json"},
        Words{"build", digits_, "-o", "x.dll", "--json"}, Words{"run", digits_, "-i", "nobody=1", "--json"}})
    expect_document(cameo(words), 2, words);
}

TEST_F(Manners, EveryVerbOfAnArtifactGivesOneDocumentHoweverItEnds) {
  ASSERT_EQ(cameo({"build", digits_, "-o", "a.so", "--golden=random:1"}).code, 0);
  for (Words words : kVerbsOfArtifact) {
    words.push_back("--json");
    expect_document(run(path("a.so"), words), 0, words);
    words.push_back("--nonsense");
    expect_document(run(path("a.so"), words), 2, words);
  }
  const std::pair<Words, int> calls[] = {{{"run", "-i", "@missing.npy"}, 7},
                                         {{"run", "-i", "[1,2]"}, 7},
                                         {{"run", "-i", "ones", "-o", "text"}, 2},
                                         {{"run", "-i", "ones", "-o", "stats"}, 2},
                                         {{"run", "-i", "ones", "-o", "@no/such/folder.npy"}, 2},
                                         {{"run", "-i", "nobody=1"}, 2},
                                         {{"test", "missing"}, 7},
                                         {{"test", golden_, "--tolerance", "0"}, 5},
                                         {{"bench", "--runs", "none"}, 2},
                                         {{"rnu"}, 2}};
  for (auto [words, code] : calls) {
    words.push_back("--json");
    expect_document(run(path("a.so"), words), code, words);
  }
  write("warned.onnx", small_model());
  expect_document(cameo({"run", "warned.onnx", "-i", "x=[[1,2,3]]", "--json"}), 0, {"run"});
}

TEST_F(Manners, AFullDiskEndsEveryVerbWithTwo) {
  ASSERT_EQ(cameo({"build", digits_, "-o", "a.so", "--golden=random:1"}).code, 0);
  const auto into_full = [&](const std::string& program, Words words, bool json) {
    if (json) words.push_back("--json");
    words.insert(words.begin(), {"-c", "exec \"$0\" \"$@\" >/dev/full", program});
    RunOptions options;
    options.folder = folder_;
    options.variables.push_back("XDG_CACHE_HOME=" + (folder_ / "cache").string());
    const Ended e = run_program("sh", words, options);
    EXPECT_EQ(e.code, 2) << testing::PrintToString(words) << e.err;
    EXPECT_TRUE(has(e.err, "cannot write to stdout: No space left on device")) << testing::PrintToString(words);
  };
  for (bool json : {false, true}) {
    for (const Words& words : verbs_of_cameo(digits_)) into_full(CAMEO_PROGRAM, words, json);
    for (const Words& words : kVerbsOfArtifact) into_full(path("a.so"), words, json);
  }
}

TEST_F(Manners, WhatACallerClosedIsNotPrintedInto) {
  const Ended e = run("sh", {"-c", std::string("exec " CAMEO_PROGRAM " build ") + digits_ + " -o a.so >&-"});
  EXPECT_EQ(e.code, 2) << e.err;
  EXPECT_EQ(run(path("a.so"), {"inspect"}).code, 0);
}

TEST_F(Manners, AnUnknownFlagShowsThoseOfItsVerb) {
  const std::pair<const char*, const char*> kOwn[] = {
      {"check", "--dim"},    {"build", "--golden"},    {"run", "--taps"},    {"test", "--per-node"},
      {"bench", "--warmup"}, {"profile", "--seconds"}, {"inspect", "--dim"}, {"explain", "--dim"}};
  for (const auto& [verb, flag] : kOwn) {
    const Ended e = cameo({verb, digits_, "--qqqqqqqqqqqq=1"});
    EXPECT_EQ(e.code, 2);
    EXPECT_TRUE(has(e.err, std::string("`cameo ") + verb + "` has no flag `--qqqqqqqqqqqq`"));
    EXPECT_TRUE(has(e.err, std::string("`") + flag + "`"));
    EXPECT_TRUE(has(e.err, std::string("cameo ") + verb + " --help"));
  }
  EXPECT_FALSE(has(cameo({"run", digits_, "--qqqqqqqqqqqq"}).err, "--golden"));
}

TEST_F(Manners, LinesToPasteKeepTheFlagsThatWereGiven) {
  using namespace onnx_text;
  GraphText g;
  g.inputs = {value("x", 1, {"batch", "a b"})};
  g.outputs = {value("y", 1, {"batch", "a b"})};
  g.nodes = {node("Relu", {"x"}, {"y"})};
  const std::string file = write("two.onnx", model(g));
  EXPECT_TRUE(has(cameo({"build", "--name=n", file, "--dim", "batch=1", "-o", "a.so", "--target=x86-64-v3"}).err,
                  "cameo build --name=n " + file + " --dim 'a b=1' --dim batch=1 -o a.so --target=x86-64-v3\n"));
  EXPECT_TRUE(has(cameo({"explain", file, "y", "--dim", "batch=1"}).err,
                  "cameo explain " + file + " --dim 'a b=1' y --dim batch=1"));
  EXPECT_TRUE(has(cameo({"check", file, "--dim=batch=1"}).err, "cameo build " + file + " --dim 'a b=1' --dim=batch=1"));
  EXPECT_TRUE(
      has(cameo({"inspect", file, "--dim=batch=1"}).err, "cameo inspect " + file + " --dim 'a b=1' --dim=batch=1"));
  EXPECT_TRUE(has(cameo({"bench", file, "--runs", "3", "--dim=batch=1"}).err,
                  "cameo bench " + file + " --dim 'a b=1' --runs 3 --dim=batch=1"));
}

TEST_F(Manners, AModelComesThroughAPipe) {
  const std::string cameo_on = std::string(CAMEO_PROGRAM " ");
  const auto shell = [&](const std::string& line) {
    RunOptions options;
    options.folder = folder_;
    options.variables.push_back("XDG_CACHE_HOME=" + (folder_ / "cache").string());
    return run_program("bash", {"-c", line}, options);
  };
  EXPECT_EQ(shell("cat " + digits_ + " | " + cameo_on + "build - -o a.so").code, 0);
  EXPECT_EQ(run(path("a.so"), {"test", golden_}).code, 0);
  EXPECT_EQ(shell(cameo_on + "build /dev/stdin -o b.so <" + digits_).code, 0);
  EXPECT_EQ(shell("cat " + digits_ + " | " + cameo_on + "build -").code, 0);
  EXPECT_TRUE(fs::exists(path("model.so")));
  for (const char* verb : {"check", "inspect", "explain", "run -i ones"})
    EXPECT_EQ(shell(cameo_on + verb + " <(cat " + digits_ + ")").code, 0) << verb;
  EXPECT_EQ(shell(cameo_on + "test - " + golden_ + " <" + digits_).code, 0);
  const Ended empty = shell(cameo_on + "check - </dev/null");
  EXPECT_EQ(empty.code, 3) << empty.err;
  EXPECT_EQ(shell("mkfifo fifo; cat " + digits_ + " >fifo & " + cameo_on + "check fifo").code, 0);
  EXPECT_EQ(shell("echo text | " + cameo_on + "check -").code, 3);
  EXPECT_EQ(cameo({"check", "/dev/zero"}).code, 3);
}

TEST_F(Manners, ADashIsAnArrayInAPipe) {
  const Ended e = cameo({"run", digits_, "-i", "ones", "-o", "-"});
  EXPECT_EQ(e.code, 0) << e.err;
  EXPECT_TRUE(e.out.starts_with("\x93NUMPY")) << e.out;
  EXPECT_EQ(e.out.size() % 64, 10 * sizeof(float));
  EXPECT_TRUE(has(cameo({"run", digits_, "-i", "ones", "-o", "text"}).out, "# probabilities f32[1,10]\n"));
}

TEST_F(Manners, AnArtifactOnStdoutIsAlone) {
  const auto shell = [&](const std::string& line) {
    return run("bash", {"-c", CAMEO_PROGRAM " build " + digits_ + " --emit=so -o " + line});
  };
  const Ended piped = shell("/dev/stdout | cat >piped.so");
  EXPECT_TRUE(has(piped.err, "/dev/stdout: --target=")) << piped.err;
  EXPECT_EQ(shell("/dev/stdout >into.so").code, 0);
  for (const char* name : {"piped.so", "into.so"}) {
    fs::permissions(folder_ / name, fs::perms::owner_all);
    EXPECT_EQ(run(path(name), {"test", golden_}).code, 0) << name;
    EXPECT_FALSE(has(read(name), "runs on any processor")) << name;
  }
  EXPECT_TRUE(has(shell("/dev/stdout --json | cat").err, "`-o /dev/stdout` is where the document of `--json` goes"));
  EXPECT_EQ(shell("/dev/stdout --precision=bf16 | cat >narrow.so").code, 0);
}

TEST_F(Manners, OutputsThatAreNoFilesHaveNoSizeAndNothingBesideThem) {
  fs::create_symlink("/dev/null", folder_ / "null");
  fs::create_symlink("/dev/stdout", folder_ / "out");
  const Ended null = cameo({"build", digits_, "--emit=so", "-o", "null"});
  EXPECT_EQ(null.code, 0) << null.err;
  EXPECT_TRUE(has(null.out, "null: --target="));
  EXPECT_TRUE(cameo({"build", digits_, "--emit=so", "-o", "null", "--json"}).json()["bytes"].is_null());
  const std::pair<Words, const char*> wrong[] = {
      {{"--emit=object", "-o", "out"}, "`-o out` is no file, and an object has a header beside it"},
      {{"--emit=object", "-o", "null"}, "is no file, and an object has a header beside it"},
      {{"--emit=so", "-o", "null", "--weights=file"}, "is no file, and has no place for weights beside it"},
      {{"-o", "null", "--mode=max-autotune"}, "`-o null` is no file that a lock could lie beside"},
      {{"-o", "-"}, "-o /dev/stdout"}};
  for (const auto& [flags, why] : wrong) {
    Words words = {"build", digits_};
    words.insert(words.end(), flags.begin(), flags.end());
    const Ended e = cameo(words);
    EXPECT_EQ(e.code, 2) << testing::PrintToString(flags) << e.err;
    EXPECT_TRUE(has(e.err, why));
    EXPECT_TRUE(e.out.empty());
  }
  EXPECT_EQ(files(), (Words{"null", "out"}));
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

TEST_F(Manners, FlagsThatWouldDoNothingAreRefused) {
  ASSERT_EQ(cameo({"build", digits_, "-o", "a.so"}).code, 0);
  const std::pair<Words, const char*> wrong[] = {
      {{"build", digits_, "--tolerance=0.1"}, "`--tolerance` is of golden cases, and there are none"},
      {{"build", digits_, "--reference"}, "`--reference` is of golden cases, and there are none"},
      {{"build", digits_, "--golden=random:1", "--emit=plan"}, "`--golden` is for artifacts, and `--emit=plan` prints"},
      {{"build", digits_, "--golden=random:1", "--emit=sources"}, "`--golden` is for artifacts"},
      {{"build", digits_, "--weights=file:w", "--emit=choices"}, "`--weights=file` is for artifacts"},
      {{"build", digits_, "--no-program", "-o", "src/"}, "`--no-program` changes no sources"},
      {{"inspect", "a.so", "--mode=size"}, "`a.so` is built already, and `--mode` is for models"},
      {{"inspect", "a.so", "--dim=n=1"}, "`--dim` is for models"},
      {{"bench", "a.so", "--mode=size"}, "`--mode` is for models"},
      {{"run", "a.so", "-i", "ones", "--tune-lock=x"}, "`--tune-lock` is for models"},
      {{"run", "a.so", "-i", "ones", "--on-host=x"}, "`--on-host` is for models"},
      {{"run", "a.so", "-i", "ones", "-j2"}, "`-j` is for models"},
      {{"test", "a.so", golden_, "--input=x"}, "`--input` is for models"}};
  for (const auto& [words, why] : wrong) {
    const Ended e = cameo(words);
    EXPECT_EQ(e.code, 2) << testing::PrintToString(words) << e.err;
    EXPECT_TRUE(has(e.err, why));
  }
  EXPECT_EQ(files(), Words{"a.so"});
}

TEST_F(Manners, APathThatCannotBeReachedIsNoBug) {
  fs::create_symlink("loop", folder_ / "loop");
  const std::vector<Words> all = {{"test", digits_, "loop"},
                                  {"run", digits_, "-i", "@loop"},
                                  {"build", digits_, "-o", "a.so", "--golden=loop"},
                                  {"build", digits_, "-o", "a.so", "--mode=max-autotune", "--tune-lock=loop"},
                                  {"build", digits_, "-o", "loop"},
                                  {"build", digits_, "-o", "loop/"}};
  for (Words words : all) {
    words.push_back("--json");
    const Ended e = cameo(words);
    expect_document(e, 2, words);
    EXPECT_TRUE(has(e.err, ": Too many levels of symbolic links") && has(e.err, "`loop"))
        << testing::PrintToString(words);
  }
  EXPECT_EQ(files(), Words{"loop"});
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

TEST_F(Manners, CtrlCIsOneDocumentToo) {
  const std::vector<Words> all = {{"build", digits_, "-o", "a.so", "-j1", "--target=cpu:x86-64-v2,x86-64-v3"},
                                  {"check", digits_},
                                  {"explain", digits_},
                                  {"test", digits_, "--threads", "1"}};
  int documents = 0;
  for (Words words : all) {
    words.push_back("--json");
    for (int ms : {5, 10, 20, 40, 80, 160})
      for (int signal : {SIGINT, SIGTERM}) {
        RunOptions options;
        options.signal = signal;
        options.signal_ms = ms;
        const Ended e = cameo(words, options);
        if (e.signal == signal) continue;  // it came before the program took over
        expect_document(e, e.code == 0 ? 0 : 130, words);
        documents += e.code == 130;
      }
  }
  EXPECT_GT(documents, 0);
}

/// What this process says, which ends by `raise(SIGINT)` after its helper was interrupted.
void interrupt_helper_and_self() {
  watch_interrupts();
  set_last_words("last words\n");
  const pid_t helper = fork_to_help();
  while (helper == 0) ::pause();
  ::kill(helper, SIGINT);
  int status = 0;
  ::waitpid(helper, &status, 0);
  if (WIFEXITED(status) && WEXITSTATUS(status) == kInterrupted) std::raise(SIGINT);
  ::_exit(1);
}

TEST_F(Manners, AHelperThatIsInterruptedSaysNothing) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    ::dup2(ends[1], STDOUT_FILENO);
    interrupt_helper_and_self();
  }
  ::close(ends[1]);
  char said[100] = {};
  EXPECT_EQ(::read(ends[0], said, sizeof said - 1), 11);
  EXPECT_STREQ(said, "last words\n");
  EXPECT_EQ(::read(ends[0], said, sizeof said - 1), 0);
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(WEXITSTATUS(status), kInterrupted);
  ::close(ends[0]);
}

TEST_F(Manners, CtrlCIsOneDocumentOfAnArtifactToo) {
  ASSERT_EQ(cameo({"build", digits_, "-o", "a.so"}).code, 0);
  ASSERT_EQ(::mkfifo(path("silent.npy").c_str(), 0600), 0);
  const std::vector<Words> all = {{"run", "-i", "@" + path("silent.npy"), "--json"},  // waits for its input
                                  {"bench", "-i", "rand", "--seconds", "100", "--json"}};
  for (const Words& words : all) {
    int documents = 0;
    for (int signal : {SIGINT, SIGTERM}) {
      RunOptions options;
      options.signal = signal;
      options.signal_ms = 500;
      const Ended e = run_program(path("a.so"), words, options);
      if (e.signal == signal) continue;  // it came before the program took over
      expect_document(e, 130, words);
      ++documents;
    }
    EXPECT_GT(documents, 0);
  }
}

TEST_F(Manners, AnArtifactWithoutMemoryStillGivesItsDocument) {
  using namespace onnx_text;
  GraphText g;
  g.inputs = {value("x", 1, {1000, 1000, 100})};
  g.outputs = {value("y")};
  g.nodes = {node("ReduceMax", {"x"}, {"y"})};
  ASSERT_EQ(cameo({"build", write("large.onnx", model(g)), "-o", "large.so"}).code, 0);
  const std::string limited = "ulimit -v 200000; exec ./large.so \"$@\"";
  for (const Words& words : {Words{"run", "-i", "ones", "--json"}, {"bench", "--runs", "1", "--json"}}) {
    Words all{"-c", limited, "sh"};
    all.insert(all.end(), words.begin(), words.end());
    const Ended e = run("sh", all);
    expect_document(e, 9, words);
    EXPECT_TRUE(has(e.err, "out of memory"));
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
