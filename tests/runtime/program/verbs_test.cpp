// The artifact as a program, called in process: what it prints, what it writes, how it exits.
#include <csignal>
#include <thread>

#include "tests/runtime/program/fixture.h"

namespace programs {

// One step, in which the first run is interrupted when nothing asks any more whether it is cancelled.
int interrupted_runs = 0;
void interrupt_kernel(const Call&) {
  if (!interrupted_runs++) raise(SIGINT);
}
const Row kInterruptRows[] = {{.kind = RowKind::Kernel}, {.kind = RowKind::End}};
const rt::Kernel kInterruptKernels[] = {interrupt_kernel};
constexpr Schedule kInterruptSchedule = {.rows = kInterruptRows, .row_count = 2, .base_count = 2};
const rt::Image kInterruptImages[] = {{"baseline", 0, kInterruptKernels, &kInterruptSchedule}};
extern const Program kInterrupt;
const Program kInterrupt = {.name = "interrupt",
                            .manifest = "{}",
                            .manifest_bytes = 2,
                            .images = kInterruptImages,
                            .image_count = 1,
                            .threads = 1};

}  // namespace programs

namespace rt::program {
namespace {

using Verbs = ProgramTest<programs::kLinear>;
using Pick = ProgramTest<programs::kPick>;
using Endless = ProgramTest<programs::kEndless>;
using Loops = ProgramTest<programs::kLoop>;
using Interrupt = ProgramTest<programs::kInterrupt>;

const char kInput[] = "x=[[1,2,3],[-1,0,1]]";

TEST_F(Verbs, CalledBareItShowsALineToPaste) {
  const Result r = call({});
  EXPECT_EQ(r.code, 0);
  EXPECT_TRUE(has(r.out, "  0  x  f32[2,3]  batch = dim 0\n")) << r.out;
  EXPECT_TRUE(has(r.out, "  1  sum:0  i64[]\n"));
  EXPECT_TRUE(has(r.out, "try\n  ./m.so run -i x=rand\n"));
  EXPECT_EQ(r.err, "");
}

TEST_F(Verbs, HelpListsFlagsAndGrammar) {
  for (const auto& arguments : std::vector<std::vector<std::string>>{{"--help"}, {"help"}, {"run", "-h"}}) {
    const Result r = call(arguments);
    EXPECT_EQ(r.code, 0);
    EXPECT_TRUE(has(r.out, "--threads N")) << r.out;
    EXPECT_TRUE(has(r.out, "rand[:seed[:lo:hi]]"));
  }
  EXPECT_FALSE(has(call({"test", "--help"}).out, "--seconds"));
}

TEST_F(Verbs, UnknownWordsGetTheNearestOne) {
  EXPECT_EQ(call({"rnu"}).code, 2);
  EXPECT_EQ(call({"rnu"}).err, "error: there is no verb `rnu`; did you mean `run`?\n");
  EXPECT_EQ(call({"run", "--thread", "3"}).err, "error: `run` has no flag `--thread`; did you mean `--threads`?\n");
  EXPECT_EQ(call({"run", "--zzzzzz"}).err,
            "error: `run` has no flag `--zzzzzz`; there are `-i`, `--dim`, `-o`, `--state`, `--steps`, `--taps`, "
            "`--threads`, `--device`, "
            "`--weights`, `--json`, `--help`\n");
  EXPECT_TRUE(call({"run", "--warmup", "3"}).err.starts_with("error: `run` has no flag `--warmup`; there are `-i`, "));
  EXPECT_EQ(call({"bench", "--runs"}).err, "error: `--runs` needs a value: N\n");
  EXPECT_EQ(call({"bench", "--runs=x"}).err, "error: `x` is no value for `--runs`, which takes N\n");
  EXPECT_EQ(call({"run", "data"}).code, 2);
}

TEST_F(Verbs, RunPrintsASummary) {
  const Result r = call({"run", "-i", kInput});
  EXPECT_EQ(r.code, 0) << r.err;
  EXPECT_EQ(r.out, "y  f32[2,4]  min 0  mean 2.625  max 10.5\n  [10.5, 4, 4, 0, 2.5, 0, 0, 0]\nsum:0  i64[]\n  [21]\n");
  EXPECT_EQ(call({"run", std::string("-i") + kInput, "--threads=1"}).out, r.out);
}

TEST_F(Verbs, RunNeedsItsInputs) {
  const Result r = call({"run"});
  EXPECT_EQ(r.code, 2);
  EXPECT_TRUE(has(r.err, "error: input `x`, f32[2,3], has no value; give one like `-i 'x=rand'`")) << r.err;
}

TEST_F(Verbs, RunAsJson) {
  const Result r = call({"run", "-i", kInput, "--json"});
  EXPECT_EQ(r.code, 0);
  EXPECT_TRUE(has(r.out, "{\"schema\":\"cameo.run\",\"version\":1,\"name\":\"linear\",\"run_ns\":")) << r.out;
  EXPECT_TRUE(has(r.out, "{\"name\":\"sum:0\",\"dtype\":\"i64\",\"shape\":[],\"min\":21,\"max\":21,\"mean\":21,"));
  const Result bad = call({"run", "-i", "x=[1]", "--json"});
  EXPECT_EQ(bad.code, 7);
  EXPECT_TRUE(has(bad.out,
                  "{\"schema\":\"cameo.run\",\"version\":1,\"exit_code\":7,\"diagnostics\":[{\"severity\":\"error\","));
}

TEST_F(Verbs, RunPrintsEverythingOrTheBest) {
  EXPECT_EQ(call({"run", "-i", kInput, "-o", "text"}).out, "# y f32[2,4]\n10.5 4 4 0\n2.5 0 0 0\n# sum:0 i64[]\n21\n");
  const std::string labels = file("labels.txt", "ant\nbee\r\ncat\ndog\n");
  EXPECT_EQ(
      call({"run", "-i", kInput, "-o", "y=top2:" + labels}).out,
      "y f32[2,4], row 0 of 2\n       0  10.5  ant\n       1  4  bee\ny f32[2,4], row 1 of 2\n       0  2.5  ant\n"
      "       1  0  bee\n");
  EXPECT_EQ(call({"run", "-i", kInput, "-o", "sum:0=stats"}).out, "sum:0  i64[]\n  [21]\n");
  EXPECT_EQ(call({"run", "-i", kInput, "-o", "z=-"}).code, 2);
  EXPECT_TRUE(
      has(call({"run", "-i", kInput, "-o", "y=somewhere"}).err, "is no place for an output; places are `@file.npy`"));
}

TEST_F(Verbs, RunWritesFilesThatItCanRead) {
  ASSERT_EQ(call({"run", "-i", kInput, "-o", "y=@" + path("y.npy"), "-o", "@" + path("all.npz"), "-o",
                  "0=@" + path("y.pb"), "-o", "1=raw:" + path("sum.bin"), "-o", "y=@" + path("y.png")})
                .code,
            0);
  Array y;
  Arrays all;
  const std::string npy = read("y.npy"), npz = read("all.npz"), pb = read("y.pb");
  ASSERT_TRUE(load_npy(tool, slice_of(npy), "y.npy", &y)) << tool.message;
  EXPECT_EQ(numbers(y), (std::vector<double>{10.5, 4, 4, 0, 2.5, 0, 0, 0}));
  ASSERT_TRUE(load_npz(tool, slice_of(npz), "all.npz", &all)) << tool.message;
  ASSERT_EQ(all.count, 2u);
  EXPECT_EQ(string_of(all.items[1].name), "sum:0");
  ASSERT_TRUE(load_pb(tool, slice_of(pb), "y.pb", &y)) << tool.message;
  EXPECT_EQ(string_of(y.name), "y");
  EXPECT_EQ(read("sum.bin"), std::string("\x15\0\0\0\0\0\0\0", 8));
  Picture picture;
  const std::string png = read("y.png");
  ASSERT_TRUE(load_picture(tool, slice_of(png), "y.png", 1, &picture)) << tool.message;
  EXPECT_EQ(picture.width, 4);
  EXPECT_EQ(picture.pixels[0], 11);  // 10.5, rounded
  for (const auto& entry : std::filesystem::directory_iterator(folder)) EXPECT_FALSE(has(entry.path(), "partial"));
}

TEST_F(Verbs, RunWritesThroughLinks) {
  file("real.npy", "old");
  std::filesystem::create_symlink("real.npy", path("link.npy"));
  ASSERT_EQ(call({"run", "-i", kInput, "-o", "y=@" + path("link.npy")}).code, 0);
  EXPECT_TRUE(std::filesystem::is_symlink(path("link.npy")));
  EXPECT_TRUE(has(read("real.npy"), "NUMPY"));
  for (const auto& entry : std::filesystem::directory_iterator(folder)) EXPECT_FALSE(has(entry.path(), "partial"));
}

TEST_F(Verbs, RunWritesToStdoutWhereItIsAFile) {
  if (!std::filesystem::is_symlink("/dev/stdout")) GTEST_SKIP() << "there is no link of that name";
  const auto target = std::filesystem::read_symlink("/dev/stdout");
  const Result r = call({"run", "-i", kInput, "-o", "1=raw:/dev/stdout", "-o", "1=raw:/dev/stdout"});
  EXPECT_EQ(r.code, 0) << r.err;
  const std::string sum("\x15\0\0\0\0\0\0\0", 8);
  EXPECT_EQ(r.out, sum + sum);
  if (std::filesystem::is_symlink("/dev/stdout")) return;
  ADD_FAILURE() << "/dev/stdout was replaced";
  std::filesystem::remove("/dev/stdout");
  std::filesystem::create_symlink(target, "/dev/stdout");
}

TEST_F(Verbs, RunLeavesNothingBehindWhereItCannotWrite) {
  const Result r = call({"run", "-i", kInput, "-o", "y=@" + path("none/y.npy")});
  EXPECT_EQ(r.code, 2);
  EXPECT_TRUE(has(r.err, "cannot write `" + path("none/y.npy") + "`: No such file or directory")) << r.err;
  EXPECT_TRUE(
      has(call({"run", "-i", kInput, "-o", "@" + path("y.npy")}).err, "holds one array and the model has 2 outputs"));
  EXPECT_FALSE(std::filesystem::exists(folder / "y.npy"));
}

TEST_F(Verbs, RunWritesIntermediateValues) {
  ASSERT_EQ(call({"run", "-i", kInput, "--taps", path("taps.npz")}).code, 0);
  Arrays taps;
  const std::string npz = read("taps.npz");
  ASSERT_TRUE(load_npz(tool, slice_of(npz), "taps.npz", &taps)) << tool.message;
  ASSERT_EQ(taps.count, 1u);
  EXPECT_EQ(string_of(taps.items[0].name), "/fc/Relu_output_0");
  EXPECT_EQ(numbers(taps.items[0]), (std::vector<double>{10.5, 4, 2.5, 0, 4, 0, 0, 0}));
}

struct DataSet : Verbs {
  void write(const std::string& name, int io, bool is_output, std::vector<double> values) {
    Array array = array_of((is_output ? programs::kLinearOutputs : programs::kLinearInputs)[io]);
    Text text(tool.arena);
    ASSERT_TRUE(allocate(tool, &array, "x"));
    for (size_t i = 0; i < values.size(); ++i) set_number(array.dtype, array.data, static_cast<int64_t>(i), values[i]);
    write_pb(array, &text);
    file(name, string_of(text.slice()));
  }
  void write_case(const std::string& name, double y0) {
    write(name + "/input_0.pb", 0, false, {1, 2, 3, -1, 0, 1});
    write(name + "/output_0.pb", 0, true, {y0, 4, 4, 0, 2.5, 0, 0, 0});
    write(name + "/output_1.pb", 1, true, {21});
  }
};

TEST_F(DataSet, PassesWithinAThousandth) {
  write_case("data/test_data_set_0", 10.5);
  write_case("data/test_data_set_1", 10.509);
  for (const std::string& arguments : {path("data"), path("data/test_data_set_1")}) {
    // the data's inputs are those of an embedded case, whose own tolerance would count
    const Result r = call({"test", arguments, "--tolerance", "0.001"});
    EXPECT_EQ(r.code, 0) << r.out << r.err;
    EXPECT_TRUE(
        has(r.out, "  PASS  y f32[2,4]  max error 0.009  tolerance 0.0105  the tolerance that would pass 0.000857"))
        << r.out;
    EXPECT_TRUE(has(r.out, "  PASS  sum:0 i64[]  equal\n"));
  }
  EXPECT_TRUE(has(call({"test", path("data"), "--tolerance", "0.001"}).out, "4 of 4 outputs in 2 cases passed\n"));
  EXPECT_EQ(call({"test", path("data"), "--tolerance", "1e-4"}).code, 5);
  EXPECT_EQ(call({"test", path("data"), "--tolerance", "0.000858"}).code, 0) << "what it printed must pass";
}

TEST_F(DataSet, MismatchIsExitFive) {
  write("test_data_set_0/input_0.pb", 0, false, {0, 0, 0, 0, 0, 0});  // of no embedded case
  write("test_data_set_0/output_0.pb", 0, true, {0.625, 0, 0, 0, 0.5, 0, 0, 0});
  write("test_data_set_0/output_1.pb", 1, true, {1});
  const Result r = call({"test", folder.string()});
  EXPECT_EQ(r.code, 5);
  EXPECT_TRUE(has(r.out, "  FAIL  y f32[2,4]  max error 0.125  tolerance 0.000625 ")) << r.out;
  EXPECT_TRUE(has(r.out, "1 of 8 differ, most at 0: got 0.5, expected 0.625"));
  EXPECT_EQ(r.err, "error: 1 of 2 outputs are outside their tolerance\n");
  const Result json = call({"test", folder.string(), "--json"});
  EXPECT_EQ(json.code, 5);
  EXPECT_TRUE(has(json.out, "\"checks\":2,\"failures\":1,\"wrong_data\":0,\"passed\":false,\"exit_code\":5,"))
      << json.out;
  EXPECT_TRUE(has(json.out, "\"verdict\":\"fail\"")) << json.out;
  EXPECT_TRUE(has(json.out, "{\"schema\":\"cameo.test\",\"version\":1,\"name\":\"linear\",\"cases\":[{\"name\":\""));
}

TEST_F(DataSet, AnEmbeddedCaseOfTheSameInputsSaysThatTheDataAreWrong) {
  write_case("test_data_set_0", 10.625);
  const Result r = call({"test", folder.string()});
  EXPECT_EQ(r.code, 5);
  EXPECT_TRUE(has(r.out, "  DATA  y f32[2,4]  max error 0  tolerance ")) << r.out;
  EXPECT_TRUE(has(r.out, "the golden data are wrong: 1 of 8 differ, most at 0: got 10.625, expected 10.5")) << r.out;
  EXPECT_TRUE(has(r.out, "  PASS  sum:0 i64[]  equal\n")) << r.out;
  EXPECT_TRUE(has(r.err, "error: the golden data of 1 of 2 outputs are wrong")) << r.err;
  const Result json = call({"test", folder.string(), "--json"});
  EXPECT_EQ(json.code, 5);
  EXPECT_TRUE(has(json.out, "\"checks\":2,\"failures\":0,\"wrong_data\":1,\"passed\":false")) << json.out;
  EXPECT_TRUE(has(json.out, "\"verdict\":\"wrong_data\"")) << json.out;
  write_case("test_data_set_0", 10.5 * (1 + 1e-4));
  EXPECT_EQ(call({"test", folder.string()}).code, 5) << "a ten-thousandth";
  write_case("test_data_set_0", 10.5 * (1 + 1e-6));
  EXPECT_EQ(call({"test", folder.string()}).code, 0) << "rounding";
  write("test_data_set_0/output_1.pb", 1, true, {22});
  const Result whole = call({"test", folder.string()});
  EXPECT_EQ(whole.code, 5);
  EXPECT_TRUE(
      has(whole.out, "  DATA  sum:0 i64[]  the golden data are wrong: 1 of 1 differ, most at 0: got 22, expected 21"))
      << whole.out;
}

TEST_F(DataSet, BadDataIsExitSeven) {
  const Result none = call({"test", path("none")});
  EXPECT_EQ(none.code, 7);
  EXPECT_TRUE(has(none.err, "is no folder; `test` takes folders that hold input_0.pb")) << none.err;
  file("other/readme.md", "");
  const Result other = call({"test", path("other")});
  EXPECT_EQ(other.code, 7);
  EXPECT_TRUE(has(other.err, "looked for input_0.pb there and in folders like test_data_set_0, found readme.md"))
      << other.err;
  write("half/output_0.pb", 0, true, {1});
  EXPECT_TRUE(has(call({"test", path("half")}).err, "has no input_0.pb for input `x`"));
  write("only/input_0.pb", 0, false, {1});
  EXPECT_TRUE(has(call({"test", path("only")}).err, "has no output_N.pb to compare with"));
  file("cut/input_0.pb", "\x08");
  EXPECT_EQ(call({"test", path("cut")}).code, 7);
}

TEST_F(Verbs, TestRunsTheEmbeddedCases) {
  const Result r = call({"test"});
  EXPECT_EQ(r.code, 0) << r.err;
  EXPECT_TRUE(has(r.out, "case_0\n  PASS  y f32[2,4]  max error 0 ")) << r.out;
  EXPECT_TRUE(has(call({"test", "--json"}).out, "\"cases\":[{\"name\":\"case_0\",\"outputs\":[{\"name\":\"y\""));
  EXPECT_EQ(call({"test", "--threads", "9999"}).code, 2);
}

TEST_F(Pick, TestWithoutCasesSaysHowToEmbedThem) {
  const Result r = call({"test"});
  EXPECT_EQ(r.code, 2);
  EXPECT_TRUE(has(r.err, "no golden case is embedded; build with `--golden=DIR`")) << r.err;
}

TEST_F(Pick, AFaultIsBadData) {
  const Result r = call({"run", "-i", "index=[0,9]", "-i", "flag=true"});
  EXPECT_EQ(r.code, 7);
  EXPECT_EQ(r.err, "error: node `gather\\x0a\\x1b[31m`: index 9 is outside a dim of 5\n");
}

TEST_F(Pick, TheLowestChunksFaultIsReportedForAnyNumberOfThreads) {
  for (const char* threads : {"1", "2", "3"})
    for (int i = 0; i < 50; ++i) {
      const Result r = call({"run", "-i", "index=[-77,9]", "-i", "flag=true", "--threads", threads});
      EXPECT_TRUE(has(r.err, "index -77 is outside a dim of 5")) << r.err;
    }
}

TEST_F(Verbs, WhatCannotBeWrittenIsNoSuccess) {
  for (const std::vector<std::string>& arguments :
       std::vector<std::vector<std::string>>{{"inspect"},
                                             {"inspect", "--json"},
                                             {},
                                             {"--help"},
                                             {"licenses"},
                                             {"test"},
                                             {"test", "--json"},
                                             {"run", "-i", kInput},
                                             {"run", "-i", kInput, "--json"},
                                             {"run", "-i", kInput, "-o", "y=-"},
                                             {"bench", "--runs", "1"},
                                             {"profile", "--runs", "1"}}) {
    const Result r = call(arguments, "/dev/full");
    EXPECT_EQ(r.code, 2) << (arguments.empty() ? "bare" : arguments[0]);
    EXPECT_TRUE(has(r.err, "error: cannot write to stdout: No space left on device")) << r.err;
  }
}

TEST_F(Verbs, DevicesAndPipesStayWhatTheyAre) {
  EXPECT_EQ(call({"run", "-i", kInput, "-o", "y=raw:/dev/null"}).code, 0);
  EXPECT_TRUE(std::filesystem::is_character_file("/dev/null"));
  const Result r = call({"run", "-i", kInput, "-o", "y=raw:/dev/full"});
  EXPECT_EQ(r.code, 2);
  EXPECT_EQ(r.err, "error: cannot write `/dev/full`: No space left on device\n");
  EXPECT_TRUE(std::filesystem::is_character_file("/dev/full"));
}

TEST_F(Verbs, BenchCountsAndTimes) {
  const Result r = call({"bench", "--runs", "10", "--warmup=2", "-i", kInput, "--threads", "1"});
  EXPECT_EQ(r.code, 0) << r.err;
  EXPECT_TRUE(has(r.out, "linear on baseline, 1 thread, clock CLOCK_MONOTONIC")) << r.out;
  EXPECT_TRUE(has(r.out, "  warm-up      2 runs, not counted\n  timed        10 runs\n"));
  EXPECT_TRUE(has(r.out, "  P90          -  (too few samples)\n"));
  EXPECT_TRUE(has(r.out, "  median "));
}

TEST_F(Verbs, BenchAsJson) {
  const Result r = call({"bench", "--runs=300", "--json"});
  EXPECT_EQ(r.code, 0) << r.err;
  EXPECT_EQ(r.err, "note: input `x` is filled with `rand`\n");
  EXPECT_TRUE(has(r.out, "{\"schema\":\"cameo.bench\",\"version\":1,\"cases\":[{\"name\":\"linear\"")) << r.out;
  EXPECT_TRUE(has(r.out, "\"runs\":300,\"latency_ns\":{\"min\":"));
  EXPECT_FALSE(has(r.out, "\"p50\":null"));
  EXPECT_TRUE(has(r.out, ",\"flops\":104,\"bytes\":360,\"gflop_per_s\":"))
      << "a row of a kernel and its copy, and the sum";
  EXPECT_FALSE(has(r.out, "\"p99\":null"));
  EXPECT_TRUE(has(r.out, "\"p999\":null"));
  const Result one = call({"bench", "--runs=1", "--json"});
  EXPECT_FALSE(has(one.out, "\"p50\":null")) << one.out;
  EXPECT_TRUE(has(one.out, "\"p90\":null"));
  const Result few = call({"bench", "--runs=298", "--json"});
  EXPECT_TRUE(has(few.out, "\"p99\":null")) << "298 samples do not carry P99";
}

TEST_F(Verbs, ProfileNamesOnnxNodes) {
  const Result r = call({"profile", "--runs", "5", "-i", kInput});
  EXPECT_EQ(r.code, 0) << r.err;
  EXPECT_TRUE(has(r.out, "k000_gemm_relu           /fc/Gemm, /fc/Relu\n")) << r.out;
  EXPECT_TRUE(has(call({"profile", "--runs=5", "--json"}).out, "\"kernel\":\"k001_sum\",\"names\":[\"/sum\"]}"));
}

TEST_F(Verbs, ProfileLeavesThePeakOutWhereThereIsNone) {  // code without multiply-adds
  EXPECT_FALSE(has(call({"profile", "--runs=5"}).out, "of peak"));
  const std::string json = call({"profile", "--runs=5", "--json"}).out;
  EXPECT_TRUE(has(json, "\"peak\":{\"gflop_per_s\":null,\"gb_per_s\":null},\"nodes\":[")) << json;
  EXPECT_TRUE(has(json, "\"of_peak\":null,"));
}

TEST_F(Verbs, InspectShowsTablesAndManifest) {
  const Result r = call({"inspect"});
  EXPECT_EQ(r.code, 0);
  EXPECT_TRUE(has(r.out, "  x86-64-v9, lacks here: ")) << r.out;
  EXPECT_TRUE(has(r.out, "weights        64 bytes\n"));
  const Result json = call({"inspect", "--json"});
  EXPECT_TRUE(has(json.out, "\"manifest\":{\"schema\":\"cameo.manifest\",\"version\":1,\"name\":\"linear\"},"))
      << json.out;
  EXPECT_TRUE(has(json.out, "{\"name\":\"baseline\",\"runs_here\":true}"));
  EXPECT_TRUE(has(call({"licenses"}).out, "stb_image"));
}

TEST_F(Loops, QuotesWhatAShellWouldEat) {
  EXPECT_TRUE(has(call({}).out, "  ./m.so run -i n=zeros -i x=rand -i limit=rand\n"));
  const Result r = call({"run", "-i", "n=2", "-i", "x=[1,2,3,4]", "-i", "limit=1e9", "-o", "y=text"});
  EXPECT_EQ(r.out, "# y f32[4]\n13 17 21 25\n") << r.err;
}

TEST_F(Interrupt, BetweenTwoStepsIsNotLost) {
  programs::interrupted_runs = 0;
  const Result r = call({"run", "--steps", "5"});
  EXPECT_EQ(r.code, 130);
  EXPECT_EQ(r.err, "error: cancelled\n");
  EXPECT_EQ(programs::interrupted_runs, 1);
}

TEST_F(Endless, AnInterruptEndsARun) {
  for (int signal : {SIGINT, SIGTERM}) {
    __atomic_store_n(&programs::endless_rounds, 0, __ATOMIC_RELAXED);
    std::thread killer([signal] {
      while (__atomic_load_n(&programs::endless_rounds, __ATOMIC_RELAXED) < 3) std::this_thread::yield();
      kill(getpid(), signal);
    });
    const Result r = call({"run", "--json"});
    killer.join();
    EXPECT_EQ(r.code, 130);
    EXPECT_EQ(r.err, "error: the run was cancelled\n");
    EXPECT_EQ(r.out,
              "{\"schema\":\"cameo.run\",\"version\":1,\"exit_code\":130,\"diagnostics\":[{\"severity\":\"error\","
              "\"message\":\"the run was cancelled\"}]}\n");
  }
}

}  // namespace
}  // namespace rt::program
