// What `build` writes: programs, libraries, archives, objects, sources; with golden cases and for several targets.
#include <sys/stat.h>

#include <algorithm>
#include <fstream>

#include "tests/cli/program.h"
#include "tests/frontend/import/onnx_writer.h"

namespace cameo {
namespace {

using Build = CliTest;

TEST_F(Build, ALibraryIsAProgramAndSoIsAProgram) {
  for (const char* name : {"a.so", "a"}) {
    ASSERT_EQ(cameo({"build", digits_, "-o", name}).code, 0);
    const Ended e = run(path(name), {"test", golden_});
    EXPECT_EQ(e.code, 0) << e.out << e.err;
    EXPECT_TRUE(has(e.out, "1 of 1 outputs in 1 cases passed"));
  }
}

TEST_F(Build, TwoBuildsHaveTheSameBytes) {
  ASSERT_EQ(cameo({"build", digits_, "-o", "a/x.so", "-j1"}).code, 2);
  fs::create_directory(folder_ / "a");
  fs::create_directory(folder_ / "b");
  for (const char* name : {"x.so", "x.a", "x.o", "x"}) {
    ASSERT_EQ(cameo({"build", digits_, "-o", std::string("a/") + name, "-j1", "--golden=random:1"}).code, 0);
    ASSERT_EQ(cameo({"build", digits_, "-o", std::string("b/") + name, "-j3", "--golden=random:1"},
                    {.variables = {"LC_ALL=C", "TZ=Asia/Tokyo"}})
                  .code,
              0);
    EXPECT_EQ(read(std::string("a/") + name) == read(std::string("b/") + name), true) << name;
  }
}

TEST_F(Build, ALockChoosesTheKernels) {
  const Ended rows = cameo({"build", digits_, "--target=cpu:x86-64-v3", "--emit=choices"});
  const std::string chosen = "rows=4 vectors=1 splits=1", locked_to = "rows=2 vectors=1 splits=2";
  ASSERT_TRUE(has(rows.out, chosen)) << rows.out;
  std::string other = rows.out;
  for (size_t at; (at = other.find(chosen)) != std::string::npos;) other.replace(at, chosen.size(), locked_to);
  std::ofstream(folder_ / "choices") << other;
  const Words locked = {"build", digits_, "--target=cpu:x86-64-v3", "--tune-lock=choices"};
  const auto with = [&](const Words& more) {
    Words words = locked;
    words.insert(words.end(), more.begin(), more.end());
    return cameo(words);
  };
  EXPECT_EQ(with({"--emit=choices"}).out, other);
  EXPECT_EQ(with({"-o", "locked.so"}).code, 0);
  EXPECT_EQ(run(path("locked.so"), {"test", golden_}).code, 0);
  EXPECT_TRUE(has(with({"--emit=plan"}).out, "tile 2x1"));
  EXPECT_FALSE(has(with({"-o", "locked.so"}).err, "the lock"));
  const Ended elsewhere = cameo({"build", digits_, "--target=cpu:x86-64-v2", "--tune-lock=choices", "-o", "v2.so"});
  EXPECT_TRUE(has(elsewhere.err, "the lock has no rows for x86-64-v2; those that it has are for x86-64-v3"))
      << elsewhere.err;
  std::ofstream(folder_ / "choices") << other << "x86-64-v3 0 1x2 nest lanes=1\n";
  EXPECT_TRUE(has(with({"-o", "locked.so"}).err, "note: 1 row of the lock for x86-64-v3 fits no kernel of this model"));
  std::ofstream(folder_ / "choices") << "";
  EXPECT_EQ(with({"-o", "locked.so"}).code, 0) << "no row is no mistake";
  std::ofstream(folder_ / "choices") << "x86-64-v3 no row\n";
  EXPECT_EQ(with({"-o", "locked.so"}).code, 2);
  std::filesystem::remove(folder_ / "choices");
  EXPECT_TRUE(has(with({"-o", "locked.so"}).err, "cannot read the lock"));
}

TEST_F(Build, TuningAsksFirstWhetherItsOutputCanBeWritten) {
  fs::create_directory(folder_ / "full");
  std::ofstream(folder_ / "full" / "mine") << "1";
  const Ended e = cameo({"build", digits_, "-o", "full/", "--mode=max-autotune", "--budget=1000s"});
  EXPECT_EQ(e.code, 2);
  EXPECT_TRUE(has(e.err, "is not empty and was not written by cameo")) << e.err;
  EXPECT_FALSE(fs::exists(folder_ / "full.lock"));
}

TEST_F(Build, TuningWritesALockThatBuildsTheSame) {
  const Words tuning = {"build", digits_, "-o", "tuned.so", "--mode=max-autotune", "--budget=8s"};
  const Ended e = cameo(tuning);
  ASSERT_EQ(e.code, 0) << e.err;
  EXPECT_TRUE(has(e.out, " other ways were measured in "));
  const std::string tuned = read("tuned.so"), lock = read("tuned.lock");
  EXPECT_TRUE(has(lock, "# Choices of kernels"));
  EXPECT_EQ(run(path("tuned.so"), {"test", golden_}).code, 0);
  ASSERT_EQ(cameo({"build", digits_, "-o", "tuned.so", "--tune-lock=tuned.lock"}).code, 0);
  EXPECT_TRUE(read("tuned.so") == tuned);
  std::ofstream(folder_ / "mine") << "# mine\nelsewhere 1 2x2 nest\n";
  const auto j = cameo({"build", digits_, "-o", "b.so", "--mode=max-autotune", "--budget=100ms", "--threads=1",
                        "--tune-lock=mine", "--json"})
                     .json();
  ASSERT_TRUE(j.is_object());
  EXPECT_EQ(j["tuning"]["lock"], "mine");
  EXPECT_EQ(j["tuning"]["trials"], 0) << "there was no time";
  EXPECT_TRUE(read("mine").starts_with("# mine\nelsewhere 1 2x2 nest\nx86-64-")) << read("mine");
}

TEST_F(Build, WhatIsNoProgramIsTunedToo) {
  const Ended e = cameo({"build", digits_, "-o", "z.so", "--no-program", "--mode=max-autotune", "--budget=300ms"});
  EXPECT_EQ(e.code, 0) << e.err;
  EXPECT_EQ(files(), (Words{"z.lock", "z.so"}));
}

TEST_F(Build, WhatCannotBeTunedSaysWhy) {
  using namespace onnx_text;
  const std::string small = write("small.onnx", small_model());
  const std::pair<Words, const char*> wrong[] = {
      {{digits_, "--mode=max-autotune", "--budget=60"}, "`--budget=60` is no time"},
      {{digits_, "--mode=max-autotune", "--budget=-1s"}, "is no time"},
      {{digits_, "--budget=60s"}, "`--budget` is of `--mode=max-autotune`"},
      {{digits_, "--threads=2"}, "`--threads` is of `--mode=max-autotune`"},
      {{digits_, "--mode=max-autotune", "--target=cuda:ptx"}, "measures one target"},
      {{digits_, "--mode=max-autotune", "--target=cpu:x86-64-v2,x86-64-v3"}, "measures one target"},
      {{digits_, "--mode=max-autotune", "--emit=plan"}, "builds an artifact"},
      {{digits_, "--mode=max-autotune", "--tune-lock=no/folder"}, "the folder `no` does not exist"},
      {{small, "--mode=max-autotune"}, "measures runs of one size, and `n` is any"},
      {{small, "--mode=max-autotune", "--dim=n=1..4"}, "measures runs of one size, and `n` is any"}};
  for (const auto& [words, why] : wrong) {
    Words all{"build"};
    all.insert(all.end(), words.begin(), words.end());
    const Ended e = cameo(all);
    EXPECT_EQ(e.code, 2) << testing::PrintToString(words) << e.err;
    EXPECT_TRUE(has(e.err, why));
  }
  GraphText g;
  g.inputs = {value("x", 1, {4}), value("s", 7, {2})};
  g.outputs = {value("y", 1, {"a", "b"})};
  g.nodes = {node("Reshape", {"x", "s"}, {"y"})};
  const Ended e = cameo({"build", write("reshape.onnx", model(g)), "--mode=max-autotune"});
  EXPECT_EQ(e.code, 2);
  EXPECT_TRUE(has(e.err, "measures runs of one size, and the elements of `s` decide shapes"));
  EXPECT_TRUE(has(e.err, "--const 's=[..]'"));
  EXPECT_EQ(files(), (Words{"reshape.onnx", "small.onnx"}));
  EXPECT_TRUE(has(cameo({"bench", digits_, "--mode=max-autotune"}).err, "is of `build`"));
}

TEST_F(Build, ALockHoldsKernelsOverSizesThatOnlyARunKnows) {
  using namespace onnx_text;
  GraphText g;
  g.inputs = {value("x", 1, {"a b", "k"}), value("w", 1, {"k", 24})};
  g.outputs = {value("y", 1, {"a b", 24})};
  g.nodes = {node("MatMul", {"x", "w"}, {"m"}), node("Relu", {"m"}, {"r"}), node("Softmax", {"r"}, {"y"})};
  const std::string file = write("sized.onnx", model(g));
  for (const Words& flags : {Words{"--dim=a b=1..40"}, Words{"--dim=a b=2..9", "--dim=k=64"}, Words{}}) {
    const auto with = [&](Words more) {
      Words words = {"build", file, "--target=cpu:x86-64-v3"};
      words.insert(words.end(), flags.begin(), flags.end());
      words.insert(words.end(), more.begin(), more.end());
      return cameo(words);
    };
    const std::string rows = with({"--emit=choices"}).out;
    EXPECT_GE(std::ranges::count(rows, '\n'), 2) << rows;
    std::ofstream(folder_ / "choices") << rows;
    const Ended again = with({"--emit=choices", "--tune-lock=choices"});
    EXPECT_EQ(again.out, rows);
    EXPECT_FALSE(again.err.find("fit no kernel") != again.err.npos) << again.err;
    EXPECT_TRUE(with({"--emit=sources"}).out == with({"--emit=sources", "--tune-lock=choices"}).out);
  }
  const auto rows_of = [&](const std::string& dim) {
    GraphText relu;
    relu.inputs = {value("x", 1, {dim.c_str(), 3})};
    relu.outputs = {value("y", 1, {dim.c_str(), 3})};
    relu.nodes = {node("Relu", {"x"}, {"y"})};
    return cameo({"build", write("relu.onnx", model(relu)), "--emit=choices", "--dim=" + dim + "=1..8"}).out;
  };
  EXPECT_EQ(rows_of("n"), rows_of("rows")) << "a size is its bounds, whatever it is called";
}

TEST_F(Build, ModeSizeDoesWithoutTheCodeOfWinograd) {
  using namespace onnx_text;
  constexpr int64_t kChannels = 32, kWeights = kChannels * kChannels * 9;
  std::vector<float> weights(kWeights);
  for (size_t i = 0; i < weights.size(); ++i) weights[i] = static_cast<float>(i * 7 % 31) - 15;
  GraphText g;
  g.inputs = {value("x", 1, {1, 32, 34, 34})};
  g.outputs = {value("y", 1, {1, 32, 32, 32})};
  g.initializers = {tensor<float>("w", 1, {kChannels, kChannels, 3, 3}, weights)};
  g.nodes = {node("Conv", {"x", "w"}, {"y"})};
  const std::string conv = write("conv.onnx", model(g));
  EXPECT_TRUE(has(cameo({"build", conv, "--emit=plan"}).out, " winograd [32, 32, 32]"));
  EXPECT_FALSE(has(cameo({"build", conv, "--emit=plan", "--mode=size"}).out, " winograd [32, 32, 32]"));
  ASSERT_EQ(cameo({"build", conv, "-o", "fast.so"}).code, 0);
  ASSERT_EQ(cameo({"build", conv, "-o", "small.so", "--mode=size"}).code, 0);
  const auto grown =
      static_cast<int64_t>(fs::file_size(path("fast.so"))) - static_cast<int64_t>(fs::file_size(path("small.so")));
  EXPECT_GT(grown, 0);
  EXPECT_LT(grown, 3 * 4 * kWeights / 4) << "weights stay as they are";
  const Ended e = cameo({"build", conv, "-o", "a.so", "--mode=siz"});
  EXPECT_EQ(e.code, 2);
  EXPECT_TRUE(has(e.err, "`size`")) << e.err;
}

TEST_F(Build, SeveralTargetsStandInOneArtifactWidestFirst) {
  ASSERT_EQ(cameo({"build", digits_, "-o", "a.so", "--target=cpu:x86-64-v2,x86-64-v4", "--target=x86-64-v3"}).code, 0);
  const auto j = run(path("a.so"), {"inspect", "--json"}).json();
  ASSERT_TRUE(j.is_object());
  Words names;
  for (const auto& t : j["targets"]) names.push_back(t["name"]);
  EXPECT_EQ(names, (Words{"x86-64-v4", "x86-64-v3", "x86-64-v2"}));
  EXPECT_EQ(run(path("a.so"), {"test", golden_}).code, 0);
}

TEST_F(Build, ATargetThatIsNamedTwiceIsBuiltOnce) {
  const Ended native = cameo({"build", digits_, "-o", "a.so", "--json"});
  ASSERT_EQ(native.code, 0) << native.err;
  const std::string name = native.json()["targets"][0];
  const Ended e = cameo({"build", digits_, "-o", "a.so", "--target=cpu:native,cpu:" + name, "--json"});
  EXPECT_EQ(e.code, 0) << e.err;
  EXPECT_EQ(e.json()["targets"], native.json()["targets"]);
}

TEST_F(Build, EveryTargetAloneGivesRightResults) {
  for (const char* target :
       {"x86-64-v2", "x86-64-v3", "x86-64-v4", "x86-64-v4-vnni", "x86-64-v4-bf16", "x86-64-v4-amx"}) {
    ASSERT_EQ(
        cameo({"build", digits_, "-o", "a.so", std::string("--target=cpu:") + target, "--golden=" + golden_}).code, 0);
    const Ended e = run(path("a.so"), {"test"});
    if (e.code == 8) continue;  // this processor lacks it, and that was said
    EXPECT_EQ(e.code, 0) << target << e.out << e.err;
  }
}

TEST_F(Build, OneImageServesAllGpuArchitectures) {
  ASSERT_EQ(cameo({"build", digits_, "-o", "a.so", "--target=cpu:x86-64-v2,cuda:ptx,host"}).code, 0);
  const auto j = run(path("a.so"), {"inspect", "--json"}).json();
  ASSERT_TRUE(j.is_object());
  const auto targets = j["manifest"]["targets"];
  ASSERT_EQ(targets.size(), 2u);
  EXPECT_EQ(targets[0]["name"], "cuda");
  EXPECT_EQ(targets[0].value("architectures", Words()), (Words{"ptx", "host"}));
  EXPECT_EQ(targets[1]["name"], "x86-64-v2");
  const std::string ptx = cameo({"build", digits_, "--target=cuda:ptx", "--emit=ptx"}).out;
  EXPECT_TRUE(ptx.starts_with(".version 7.0\n.target sm_80\n")) << ptx.substr(0, 100);
  EXPECT_EQ(ptx.rfind(".version"), 0u) << "the files' PTX is one module";
  EXPECT_TRUE(has(cameo({"build", digits_, "--emit=ptx"}).err, "`--emit=ptx` is for GPUs")) << "the default is the CPU";
}

TEST_F(Build, ThePlanOfAGpuIsPrinted) {
  const Ended e = cameo({"build", digits_, "--target=cuda:sm_80,cuda:sm_90a,ptx", "--emit=plan"});
  EXPECT_EQ(e.code, 0);
  EXPECT_TRUE(has(e.out, "target cuda for sm_90a, sm_80, ptx"));
  EXPECT_TRUE(has(e.out, " operands [f32, f32, f32, f32] sum [128] packed tile 1x1 by 8"));
}

TEST_F(Build, KernelsRunOnADriverThatIsEmulated) {
  ASSERT_EQ(cameo({"build", digits_, "-o", "a.so", "--target=cuda:host", "--golden=" + golden_}).code, 0);
  const Ended e = run_program(path("a.so"), {"test"},
                              {.folder = folder_, .variables = {"LD_LIBRARY_PATH=" CAMEO_BINARY_DIR "/mock"}});
  EXPECT_EQ(e.code, 0) << e.out << e.err;
}

TEST_F(Build, SourcesForGpusAreWhatNvccTakes) {
  ASSERT_EQ(cameo({"build", digits_, "-o", "src/", "--target=cuda:ptx,sm_80"}).code, 0);
  EXPECT_TRUE(has(read("src/Makefile"), "$(NVCC) $(NVCCFLAGS) -arch=sm_80 -cubin"));
  EXPECT_TRUE(has(read("src/kernels_cuda_0.cu"), "RT_KERNEL k000_"));
  const std::string nvcc = run_program("/bin/sh", {"-c", "command -v nvcc"}).out;
  if (nvcc.empty()) GTEST_SKIP() << "nvcc is not here: the sources were not compiled";
  const Ended e =
      run_program("/bin/sh", {"-c", "make -s -C src cameo_cuda_ptx.bin"}, {.folder = folder_, .variables = {}});
  ASSERT_EQ(e.code, 0) << e.out << e.err;
  EXPECT_TRUE(has(read("src/cameo_cuda_ptx.bin"), ".visible .entry k000_"));
  EXPECT_EQ(read("src/cameo_cuda_ptx.bin").back(), 0);
}

TEST_F(Build, SourcesForGpusHoldWhatRunsOnTheHost) {
  ASSERT_EQ(cameo({"build", digits_, "-o", "src/", "--target=cuda:host", "--on-host=/fc", "--name=digits"}).code, 0);
  ASSERT_EQ(run_program("/bin/sh", {"-c", "make -s -j2 -C src"}, {.folder = folder_, .variables = {}}).code, 0);
  const Ended e = run_program(path("src/digits.so"), {"test", golden_},
                              {.folder = folder_, .variables = {"LD_LIBRARY_PATH=" CAMEO_BINARY_DIR "/mock"}});
  EXPECT_EQ(e.code, 0) << e.out << e.err;
}

TEST_F(Build, CubinsWithoutAToolkitAreRefusedBeforeAnythingIsBuilt) {
  const Ended e = cameo({"build", digits_, "-o", "a.so", "--target=cuda:sm_80,ptx"},
                        {.variables = {"PATH=/nowhere", "CUDA_HOME=/nowhere"}});
  EXPECT_EQ(e.code, 4);
  EXPECT_TRUE(has(e.err, "error[E0603]: code for sm_80 needs ptxas"));
  EXPECT_TRUE(has(e.err, "build for cuda:ptx"));
  EXPECT_EQ(files(), Words());
}

TEST_F(Build, WrongGpuArchitecturesAreSaid) {
  EXPECT_TRUE(has(cameo({"build", digits_, "--target=cuda:sm_9x"}).err, "names no GPU architecture"));
  EXPECT_TRUE(has(cameo({"build", digits_, "--target=cuda:sm_75"}).err, "sm_80"));
}

TEST_F(Build, GoldenCasesAreCarriedWithTheirTolerances) {
  ASSERT_EQ(cameo({"build", digits_, "-o", "a.so", "--golden=random:2"}).code, 0);
  const Ended e = run(path("a.so"), {"test", "--json"});
  EXPECT_EQ(e.code, 0) << e.err;
  const auto j = e.json();
  ASSERT_EQ(j["cases"].size(), 2u);
  EXPECT_EQ(j["cases"][1]["name"], "random:1");
  const double tolerance = j["cases"][0]["outputs"][0]["tolerance"];
  EXPECT_GT(tolerance, 0);
  EXPECT_LT(tolerance, 1e-5);  // the rule's, far below 1e-3 of the magnitude
}

TEST_F(Build, DataOfAnEmbeddedCaseIsJudgedByTheCarriedTolerance) {
  ASSERT_EQ(cameo({"build", digits_, "-o", "a.so", "--golden=" + golden_}).code, 0);
  ASSERT_EQ(cameo({"build", digits_, "-o", "b.so"}).code, 0);
  const auto tolerance = [&](const char* name) {
    return run(path(name), {"test", golden_, "--json"}).json()["cases"][0]["outputs"][0]["tolerance"].get<double>();
  };
  EXPECT_LT(tolerance("a.so"), 1e-5);
  EXPECT_GT(tolerance("b.so"), 1e-4);
}

TEST_F(Build, AThousandGoldenCasesAreEmbedded) {
  using namespace onnx_text;
  constexpr int kCases = 1001;
  const std::string model = write("small.onnx", small_model());
  for (int i = 0; i < kCases; ++i)
    write("data/test_data_set_" + std::to_string(i) + "/input_0.pb", tensor<float>("x", 1, {1, 3}, {1, 2, float(i)}));
  const Ended e = cameo({"build", model, "-o", "a.so", "--dim=n=1", "--golden=data"});
  ASSERT_EQ(e.code, 0) << e.err;
  EXPECT_TRUE(has(run(path("a.so"), {"test"}).out, "1001 of 1001 outputs in 1001 cases passed"));
}

TEST_F(Build, GoldenCasesOfTheLastSeedsAreMade) {
  ASSERT_EQ(cameo({"build", digits_, "-o", "a.so", "--golden=random:2:18446744073709551615"}).code, 0);
  const auto cases = run(path("a.so"), {"test", "--json"}).json()["cases"];
  ASSERT_EQ(cases.size(), 2u);
  EXPECT_EQ(cases[0]["name"], "random:18446744073709551615");
  EXPECT_EQ(cases[1]["name"], "random:0");
}

TEST_F(Build, TolerancesAreNumbersThatEnd) {
  const std::string model = write("small.onnx", small_model());
  const Ended e = cameo({"build", model, "-o", "a.so", "--dim=n=1", "--golden=random:1", "--tolerance=1.7e308"});
  EXPECT_EQ(e.code, 2) << e.err;
  EXPECT_TRUE(has(e.err, "golden case `random:0` would have no finite tolerance"));
  for (const char* text : {"nan", "inf", "-1", "x", ""}) {
    const Ended wrong = cameo({"build", model, "--golden=random:1", std::string("--tolerance=") + text});
    EXPECT_EQ(wrong.code, 2) << text;
    EXPECT_TRUE(has(wrong.err, "tolerance")) << text;
  }
  EXPECT_EQ(files(), Words{"small.onnx"});
}

TEST_F(Build, GoldenValuesThatTheInterpreterContradictsAreRefused) {
  fs::copy(golden_ + "/test_data_set_0", folder_ / "wrong");
  std::string bytes = read("wrong/output_0.pb");
  bytes.back() ^= 0x40;  // the exponent of the last float
  write("wrong/output_0.pb", bytes);
  const Ended e = cameo({"build", digits_, "-o", "a.so", "--golden=wrong"});
  EXPECT_EQ(e.code, 5) << e.err;
  EXPECT_TRUE(has(e.err, "probabilities"));
  EXPECT_EQ(files(), Words{"wrong"});
}

TEST_F(Build, ArchivesAndObjectsOfTwoModelsLinkIntoOneProgram) {
  if (!is_there("cc")) GTEST_SKIP() << "no C compiler";
  ASSERT_EQ(cameo({"build", digits_, "-o", "one.a", "--name=one"}).code, 0);
  ASSERT_EQ(cameo({"build", write("small.onnx", small_model()), "--dim", "n=1", "-o", "two.o", "--name=two"}).code, 0);
  write("main.c", R"(#include "one.h"
#include "two.h"
#include <stdio.h>
int main(void) {
  const cameo_api* api = two_api(CAMEO_ABI_MAJOR);
  float x[3] = {1, 2, 3}, y[3];
  int64_t shape[2] = {1, 3};
  cameo_dtype f32 = {2, 32, 1};
  cameo_value in = {0}, out = {0};
  cameo_model* model;
  cameo_context* context;
  if (one_api(CAMEO_ABI_MAJOR)->io_count(1) != 1 || one_api(CAMEO_ABI_MAJOR) == api || two_api(99)) return 1;
  in.struct_size = out.struct_size = sizeof in;
  in.kind = out.kind = CAMEO_KIND_TENSOR;
  in.tensor.data = x, out.tensor.data = y;
  in.tensor.device.device_type = out.tensor.device.device_type = CAMEO_CPU;
  in.tensor.ndim = out.tensor.ndim = 2;
  in.tensor.dtype = out.tensor.dtype = f32;
  in.tensor.shape = out.tensor.shape = shape;
  if (api->model_create(0, &model, 0) || api->context_create(model, &context, 0)) return 2;
  if (api->run(context, &in, 1, &out, 1, 0, 0)) return 3;
  printf("%g %g %g\n", y[0], y[1], y[2]);
  api->context_release(context);
  api->model_release(model);
  return 0;
}
)");
  const Ended built =
      run("cc", {"-std=c99", "-Wall", "-Wextra", "-Werror", "-pedantic", "main.c", "one.a", "two.o", "-o", "both"});
  ASSERT_EQ(built.code, 0) << built.err;
  EXPECT_EQ(run(path("both"), {}).out, "2 0 10\n");
}

TEST_F(Build, MadeUpWeightsTravelAsASeed) {
  ASSERT_EQ(cameo({"build", digits_, "-o", "a.so"}).code, 0);
  ASSERT_EQ(cameo({"build", digits_, "-o", "b.so", "--weights=random:7"}).code, 0);
  ASSERT_EQ(cameo({"build", digits_, "-o", "c.so", "--weights=random:8"}).code, 0);
  EXPECT_LT(fs::file_size(path("b.so")) + 15000, fs::file_size(path("a.so")));
  const auto result = [&](const char* name) {
    const Ended e = run(path(name), {"run", "-i", "image=iota", "-o", "stats"});
    EXPECT_EQ(e.code, 0) << e.err;
    return e.out;
  };
  EXPECT_EQ(result("b.so"), result("b.so"));
  EXPECT_NE(result("b.so"), result("c.so"));
  EXPECT_EQ(result("b.so").find("nan"), std::string::npos);
  EXPECT_TRUE(has(run(path("b.so"), {"inspect", "--json"}).out, "\"weights\":\"random:7\""));
  EXPECT_EQ(cameo({"build", digits_, "-o", "d.so", "--weights=random"}).code, 2);
  EXPECT_EQ(cameo({"build", digits_, "-o", "d.so", "--weights=random:1", "--golden=random:1"}).code, 2);
}

TEST_F(Build, MadeUpWeightsOf16BitsHaveTheMeanOfTheRealOnes) {
  using namespace onnx_text;
  constexpr int kHalf = 10;  // TensorProto.FLOAT16
  GraphText g;
  g.inputs = {value("x", kHalf, {1, 64})};
  g.outputs = {value("y", kHalf, {1, 64})};
  g.initializers = {tensor("w", kHalf, {64, 64}, std::vector<uint16_t>(64 * 64, 0x3800))};  // 0.5, without deviation
  g.nodes = {node("MatMul", {"x", "w"}, {"y"})};
  const std::string file = write("half.onnx", model(g));
  ASSERT_EQ(cameo({"build", file, "-o", "a.so"}).code, 0);
  ASSERT_EQ(cameo({"build", file, "-o", "b.so", "--weights=random:7"}).code, 0);
  EXPECT_LT(fs::file_size(path("b.so")) + 4000, fs::file_size(path("a.so")));
  const auto result = [&](const char* name) { return run(path(name), {"run", "-i", "x=iota", "-o", "text"}).out; };
  EXPECT_EQ(result("b.so"), result("a.so"));
  EXPECT_TRUE(has(result("b.so"), "1008"));
}

TEST_F(Build, ALibraryWithoutItsProgramIsSmallerAndLoads) {
  ASSERT_EQ(cameo({"build", digits_, "-o", "a.so"}).code, 0);
  ASSERT_EQ(cameo({"build", digits_, "-o", "b.so", "--no-program"}).code, 0);
  EXPECT_LT(fs::file_size(path("b.so")) + 20000, fs::file_size(path("a.so")));
  EXPECT_TRUE(!is_there("nm") || has(run("nm", {"-D", "--defined-only", "b.so"}).out, "cameo_model_api"));
}

TEST_F(Build, ACpusArtifactCannotLoadADriver) {
  if (!is_there("nm")) GTEST_SKIP() << "there is no nm";
  ASSERT_EQ(cameo({"build", digits_, "-o", "a.so"}).code, 0);
  ASSERT_EQ(cameo({"build", digits_, "-o", "a.o"}).code, 0);
  for (const Words& arguments : {Words{"-D", "a.so"}, Words{"a.o"}}) {
    const Ended e = run("nm", arguments);
    EXPECT_TRUE(has(e.out, " U malloc") || has(e.out, " U aligned_alloc")) << e.out << e.err;
    EXPECT_FALSE(has(e.out, "dlopen"));
  }
}

TEST_F(Build, TextsOfEveryStage) {
  EXPECT_TRUE(has(cameo({"build", digits_, "--emit=graph"}).out, "Conv"));
  EXPECT_TRUE(has(cameo({"build", digits_, "--emit=optimized"}).out, "Conv"));
  const std::string plan = cameo({"build", digits_, "--emit=plan"}).out;
  EXPECT_TRUE(has(plan, "arena"));
  EXPECT_FALSE(has(plan, "    for i0 <"));
  const std::string bodies = cameo({"build", digits_, "--emit=bodies"}).out;
  EXPECT_TRUE(has(bodies, "arena") && has(bodies, "    for i0 <") && has(bodies, "    acc = ")) << bodies;
  EXPECT_TRUE(has(cameo({"build", digits_, "--emit=sources"}).out, "cameo_program"));
  EXPECT_TRUE(has(cameo({"build", digits_, "--emit=plan", "--print-after=all"}).out, "-- after fold_constants"));
  EXPECT_TRUE(has(cameo({"build", digits_, "--emit=plan", "--time"}).err, "plan"));
  EXPECT_EQ(files(), Words{});
  EXPECT_EQ(cameo({"build", digits_, "--emit=object", "-o", "x"}).code, 0);
  EXPECT_EQ(read("x").substr(1, 3), "ELF");
}

TEST_F(Build, PrintedSourcesAreAllOfThem) {
  using namespace onnx_text;
  GraphText g;
  g.inputs = {value("x", 1, {"n", 3})};
  g.outputs = {value("y", 1, {"n", 3})};
  g.nodes = {node("Softmax", {"x"}, {"y"})};
  const std::string file = write("softmax.onnx", model(g));
  ASSERT_EQ(cameo({"build", file, "--target=cuda:ptx", "-o", "src/", "--name=softmax"}).code, 0);
  const std::string printed = cameo({"build", file, "--target=cuda:ptx", "--emit=sources", "--name=softmax"}).out;
  EXPECT_TRUE(has(printed, "// ---- sizes.cpp\n" + read("src/sizes.cpp")));
  const std::string custom = CAMEO_SOURCE_DIR "/models/custom/window_stats";
  EXPECT_TRUE(has(cameo({"build", custom + ".onnx", "--custom=" + custom + ".cpp", "--emit=sources"}).out,
                  "// ---- custom/window_stats.cpp\n"));
}

TEST_F(Build, RewritesAreLoggedLimitedAndVerified) {
  const std::string model = write("small.onnx", small_model());
  const Words plan = {"build", model, "--dim", "n=2", "--emit=plan", "--verify=each", "--print-after=all"};
  EXPECT_TRUE(has(cameo(plan).out, "-- after fold_scales (unchanged)\n"));
  const Words digits = {"build", digits_, "--emit=optimized", "--verify=each", "--print-after=expand_composites"};
  EXPECT_TRUE(has(cameo(digits).out, "-- after expand_composites\n   expand_composite at node "));
  EXPECT_EQ(cameo({"build", digits_, "--emit=plan", "--rewrite-limit=0"}).code, 0);
  EXPECT_EQ(cameo({"build", digits_, "--emit=plan", "--rewrite-limit=-1"}).code, 2);
  EXPECT_TRUE(has(cameo({"build", digits_, "--verify=all"}).err, "--verify=each"));
}

TEST_F(Build, UnboundDimsStayOpenAndANoteHasTheLineThatBindsThem) {
  const std::string model = write("small.onnx", small_model());
  const Ended e = cameo({"build", model, "-o", "a.so"});
  EXPECT_EQ(e.code, 0);
  EXPECT_TRUE(has(e.err, "warning[W0008]"));
  EXPECT_TRUE(has(e.err, "cameo build " + model + " --dim n=1 -o a.so"));
  for (const char* input : {"[[1,2,3]]", "[[1,2,3],[4,5,6]]", "[[1,2,3],[4,5,6],[7,8,9],[7,8,9],[7,8,9]]"})
    EXPECT_EQ(run(path("a.so"), {"run", "-i", input}).code, 0) << input;
  EXPECT_EQ(cameo({"build", model, "-o", "a.so", "--dim", "n=4"}).code, 0);
  EXPECT_EQ(cameo({"build", model, "-o", "a.so", "--shape", "x=4x3"}).code, 0);
  EXPECT_EQ(cameo({"build", model, "-o", "a.so", "--shape", "0=4x3"}).code, 0);
  EXPECT_TRUE(has(cameo({"check", model}).err, "--dim n=1"));
}

TEST_F(Build, DimsTakeRanges) {
  const std::string model = write("small.onnx", small_model());
  ASSERT_EQ(cameo({"build", model, "-o", "a.so", "--dim", "n=1..2"}).code, 0);
  EXPECT_EQ(run(path("a.so"), {"run", "-i", "[[1,2,3]]"}).code, 0);
  EXPECT_EQ(run(path("a.so"), {"run", "-i", "[[1,2,3],[4,5,6]]"}).code, 0);
  const Ended beyond = run(path("a.so"), {"run", "-i", "[[1,2,3],[4,5,6],[7,8,9]]"});
  EXPECT_EQ(beyond.code, 7);
  EXPECT_TRUE(has(beyond.err, "1 to 2")) << beyond.err;
  for (const char* wrong : {"n=3..1", "n=-1..2", "n=..", "n=1..x", "m=1..2"})
    EXPECT_EQ(cameo({"build", model, "-o", "b.so", "--dim", wrong}).code, 2) << wrong;
}

TEST_F(Build, GoldenCasesHaveSizesOfTheirOwn) {
  const std::string model = write("small.onnx", small_model());
  for (const char* range : {"n=2..5", "n=2.."}) {
    ASSERT_EQ(cameo({"build", model, "-o", "a.so", "--dim", range, "--golden=random:3"}).code, 0);
    const Ended e = run(path("a.so"), {"test"});
    EXPECT_EQ(e.code, 0) << e.err;
    EXPECT_TRUE(has(e.out, "f32[2")) << e.out;
    EXPECT_TRUE(has(e.out, "in 3 cases passed")) << e.out;
  }
}

TEST_F(Build, InputsAreFoldedInAndOutputsCutOff) {
  const std::string model = write("small.onnx", small_model());
  ASSERT_EQ(cameo({"build", model, "-o", "a.so", "--dim=n=1", "--outputs=scaled,y"}).code, 0);
  const Ended e = run(path("a.so"), {"run", "-i", "[[1,2,3]]", "-o", "text"});
  EXPECT_TRUE(has(e.out, "scaled"));
  EXPECT_TRUE(has(e.out, "-4"));
  ASSERT_EQ(cameo({"build", model, "-o", "b.so", "--dim=n=1", "--const", "x=[[1,2,3]]"}).code, 0);
  EXPECT_TRUE(has(run(path("b.so"), {"run", "-o", "text"}).out, "10"));
}

TEST_F(Build, NamesThatTheModelLacksGetTheNearest) {
  const std::string model = write("small.onnx", small_model());
  EXPECT_TRUE(has(cameo({"build", model, "--dim=m=1"}).err, "error[E0502]"));
  EXPECT_TRUE(has(cameo({"build", model, "--dim=n=1", "--outputs=shiftd"}).err, "did you mean `shifted`?"));
  EXPECT_TRUE(has(cameo({"build", digits_, "--shape=imag=1x1x8x8"}).err, "did you mean `image`?"));
  EXPECT_TRUE(has(cameo({"build", digits_, "--const=imaje=1"}).err, "did you mean `image`?"));
}

TEST_F(Build, NamesThatEveryArtifactHasAreRefused) {
  for (const char* name : {"cameo", "cameo_get", "cameo_model", "cameo_program", "device_code", "stddef", "stdint"}) {
    const Ended e = cameo({"build", digits_, "-o", "a.so", std::string("--name=") + name});
    EXPECT_EQ(e.code, 2) << name;
    EXPECT_TRUE(has(e.err, std::string("--name=my_") + name));
  }
  ASSERT_EQ(cameo({"build", digits_, "-o", "cameo_model.o", "--target=cpu:x86-64-v2"}).code, 0);
  EXPECT_TRUE(fs::exists(path("m_cameo_model.h"))) << "a name that was made of a file's";
}

TEST_F(Build, AnyOtherIdentifierIsAName) {
  for (const std::string name : {"main", "int", "errno", "cameo_error", "_"}) {
    const Ended e = cameo({"build", digits_, "-o", "a.a", "--name=" + name, "--target=cpu:x86-64-v2"});
    ASSERT_EQ(e.code, 0) << name << e.err;
    EXPECT_TRUE(has(e.out, name + "_api"));
    if (!is_there("g++")) continue;
    write("main.c", "#include \"" + name + ".h\"\nint main(void) { return !" + name + "_api(CAMEO_ABI_MAJOR); }\n");
    const Ended linked = run("g++", {"-x", "c", "main.c", "-x", "none", "a.a", "-o", "program"});
    ASSERT_EQ(linked.code, 0) << name << linked.err;
    EXPECT_EQ(run(path("program"), {}).code, 0) << name;
  }
}

TEST_F(Build, AnyFileNameGivesAName) {
  const std::pair<std::string, std::string> kNames[] = {
      {"libdigits.so", "digits_api"},
      {"lib.so", "lib_api"},
      {"1st.so", "m_1st_api"},
      {"a-b c.so", "a_b_c_api"},
      {"\xc3\xa9t\xc3\xa9.so", "__t___api"},
      {std::string(220, 'x') + ".so", std::string(200, 'x') + "_api"}};
  for (const auto& [file, symbol] : kNames) {
    const Ended e = cameo({"build", digits_, "-o", file, "--target=cpu:x86-64-v2"});
    ASSERT_EQ(e.code, 0) << file << e.err;
    EXPECT_TRUE(has(e.out, symbol));
    EXPECT_TRUE(!is_there("nm") || has(run("nm", {"-D", "--defined-only", file}).out, " T " + symbol));
  }
}

TEST_F(Build, FormsOfOtherSystemsAreRefused) {
  for (const char* name : {"x.dll", "x.exe", "x.lib", "x.dylib", "x.obj"}) {
    const Ended e = cameo({"build", digits_, "-o", name});
    EXPECT_EQ(e.code, 2) << name;
    EXPECT_TRUE(has(e.err, "-o x | x.so | x.a | x.o | dir/"));
  }
  EXPECT_EQ(files(), Words{});
}

TEST_F(Build, WhatItExportsAndWhereItRunsIsSaid) {
  const Ended so = cameo({"build", digits_, "-o", "libdigits.so", "--target=cpu:x86-64-v3,x86-64-v2"});
  EXPECT_TRUE(has(so.out, "exports digits_api"));
  EXPECT_TRUE(has(so.out, "runs on any processor of x86-64-v2"));
  EXPECT_TRUE(has(so.out, "glibc 2.34"));
  const Ended a = cameo({"build", digits_, "-o", "libdigits.a", "--target=cpu:x86-64-v3"});
  EXPECT_TRUE(has(a.out, "digits.h declares digits_api"));
  EXPECT_TRUE(has(a.out, "AVX2"));
  const auto j = cameo({"build", digits_, "-o", "libdigits.a", "--target=cpu:x86-64-v3", "--json"}).json();
  EXPECT_EQ(j["api"], "digits_api");
  EXPECT_EQ(j["header"], "digits.h");
  EXPECT_TRUE(has(j["runs_on"], "AVX2"));
}

}  // namespace
}  // namespace cameo
