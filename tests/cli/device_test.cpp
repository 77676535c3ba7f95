// Artifacts for a GPU, end to end: compiled, loaded as a program, run by the mock driver; without a driver; and with a
// failure of each of the driver's functions.
#include "runtime/cuda/driver.h"
#include "tests/cli/program.h"

namespace cameo {
namespace {

class Device : public CliTest {
 protected:
  Ended on_mock(const std::string& program, const Words& arguments, Words variables = {}) {
    variables.push_back("LD_LIBRARY_PATH=" CAMEO_BINARY_DIR "/mock");
    return run_program(path(program), arguments, {.folder = folder_, .variables = variables});
  }
};

TEST_F(Device, AnArtifactRunsOnTheGpuAndNeedsOne) {
  ASSERT_EQ(cameo({"build", digits_, "-o", "gpu.so", "--target=cuda:host", "--golden=" + golden_}).code, 0);
  for (const Words& arguments : {Words{"test", golden_}, Words{"test"}, Words{"test", "--device=cuda:0"}}) {
    const Ended e = on_mock("gpu.so", arguments);
    EXPECT_EQ(e.code, 0) << e.out << e.err;
    EXPECT_EQ(e.err, "");
  }
  const Ended profile = on_mock("gpu.so", {"profile", "--json", "--runs=1", "--seconds=0"});
  ASSERT_TRUE(profile.json().is_object()) << profile.out << profile.err;
  EXPECT_GT(profile.json()["total_ns"], 0);
  const Ended none = run(path("gpu.so"), {"test", golden_});
  if (none.code == 0) GTEST_SKIP() << "this machine has a GPU that the rest would run on";
  EXPECT_EQ(none.code, 8);
  EXPECT_TRUE(none.err.starts_with("error: ") && none.err.find('\n') + 1 == none.err.size()) << none.err;
}

TEST_F(Device, WithBothTargetsTheArtifactChooses) {
  ASSERT_EQ(cameo({"build", digits_, "-o", "both.so", "--target=cuda:host", "--target=cpu"}).code, 0);
  const Words test = {"test", golden_}, on_cpu = {"test", golden_, "--device=cpu"};
  EXPECT_EQ(on_mock("both.so", test).err, "");
  EXPECT_EQ(on_mock("both.so", on_cpu, {"CAMEO_MOCK_FAIL=*"}).code, 0) << "the CPU asks no driver";
  const Ended e = on_mock("both.so", test, {"CAMEO_MOCK_VERSION=11080"});
  EXPECT_EQ(e.code, 0);
  EXPECT_TRUE(e.err.starts_with("note: it runs on the CPU: NVIDIA's driver supports CUDA 11.8")) << e.err;
}

TEST_F(Device, ReduceOverheadIsTheArtifactsOwn) {
  const Words build = {"build", digits_, "--target=cuda:host,cpu", "--mode=reduce-overhead", "-o", "a.so"};
  EXPECT_EQ(cameo(build).code, 0);
  const std::string first = read("a.so");
  EXPECT_EQ(cameo(build).code, 0);
  EXPECT_TRUE(read("a.so") == first) << "the same bytes";
  const Ended inspect = on_mock("a.so", {"inspect", "--json"});
  const auto target = inspect.json()["targets"].at(1);
  EXPECT_TRUE(target["mode"] == "reduce-overhead" && target["graphs"] == 1) << inspect.out;
  EXPECT_EQ(inspect.json()["manifest"]["targets"][0]["mode"], "reduce-overhead");
  const Ended e = on_mock("a.so", {"test", golden_, "--device=cuda"});
  EXPECT_EQ(e.code, 0) << e.out << e.err;
  EXPECT_EQ(e.err, "");
  const auto refusal = [&](const std::string& mode) {
    const Ended refused = cameo({"build", digits_, "-o", "c.so", "--target=cuda:host", "--mode=" + mode});
    EXPECT_EQ(refused.code, 2);
    return refused.err;
  };
  EXPECT_TRUE(has(refusal("reduce-overhaed"), "there is no `--mode=reduce-overhaed`"));
  EXPECT_TRUE(has(refusal("max-autotune"), "measures one target, a processor's"));
  const Ended cpu = cameo({"build", digits_, "-o", "c.so", "--mode=reduce-overhead"});
  EXPECT_EQ(cpu.code, 2);
  EXPECT_TRUE(has(cpu.err, "no target is one")) << cpu.err;
}

TEST_F(Device, BucketsRunOnTheGpu) {
  const std::string model = write("small.onnx", small_model());
  for (const std::string more : {"--mode=default", "--mode=reduce-overhead", "--on-host=shift"}) {
    ASSERT_EQ(cameo({"build", model, "-o", "gpu.so", "--target=cuda:host", "--dim=n=1..40", "--bucket=n=4,33",
                     "--golden=random:3", more})
                  .code,
              0);
    const Ended e = on_mock("gpu.so", {"test"});
    EXPECT_EQ(e.code, 0) << more << e.out << e.err;
    EXPECT_TRUE(has(e.out, "in 5 cases passed"));
    for (const auto& [n, plan] : {std::pair<std::string, std::string>{"33", "n=33"}, {"34", ""}})
      EXPECT_EQ(on_mock("gpu.so", {"bench", "--dim", "n=" + n, "--runs=2", "--json"}).json()["cases"][0]["plan"], plan);
  }
}

TEST_F(Device, SizesWithoutABoundRunOnTheGpu) {
  const std::string model = write("small.onnx", small_model());
  for (const std::string more : {"--mode=default", "--mode=reduce-overhead", "--on-host=shift"}) {
    ASSERT_EQ(
        cameo({"build", model, "-o", "gpu.so", "--target=cuda:host", "--dim=n=1..", "--golden=random:3", more}).code,
        0);
    const Ended e = on_mock("gpu.so", {"test"});
    EXPECT_EQ(e.code, 0) << more << e.out << e.err;
    EXPECT_TRUE(has(e.out, "in 3 cases passed"));
  }
}

TEST_F(Device, NodesRunOnTheProcessorWhereAsked) {
  for (const std::string mode : {"default", "reduce-overhead"}) {
    ASSERT_EQ(
        cameo({"build", digits_, "-o", "gpu.so", "--target=cuda:host", "--on-host=/conv2,/fc", "--mode=" + mode}).code,
        0);
    const Ended e = on_mock("gpu.so", {"test", golden_});
    EXPECT_EQ(e.code, 0) << e.out << e.err;
  }
  const Ended unknown = cameo({"build", digits_, "-o", "no.so", "--target=cuda:host", "--on-host=nothing"});
  EXPECT_NE(unknown.code, 0);
  EXPECT_TRUE(has(unknown.err, "E0502") && has(unknown.err, "`--on-host nothing` names no node")) << unknown.err;
  const Ended no_gpu = cameo({"build", digits_, "-o", "no.so", "--target=cpu", "--on-host=/fc"});
  EXPECT_EQ(no_gpu.code, 2);
  EXPECT_TRUE(has(no_gpu.err, "`--on-host` is for GPUs")) << no_gpu.err;
}

TEST_F(Device, AFailureOfAnyFunctionOfTheDriverIsAnExitCode) {
  ASSERT_EQ(cameo({"build", digits_, "-o", "gpu.so", "--target=cuda:host", "--mode=reduce-overhead"}).code, 0);
  int failed = 0;
#define CAMEO_ENTRY(entry, ...) #entry,
  for (const std::string entry : {CAMEO_CUDA_ENTRIES(CAMEO_ENTRY) "cuGetProcAddress"}) {
#undef CAMEO_ENTRY
    const Ended e = on_mock("gpu.so", {"test", golden_}, {"CAMEO_MOCK_FAIL=" + entry});
    EXPECT_EQ(e.signal, 0) << entry;
    EXPECT_TRUE(e.code == 0 || e.code == 8) << entry << " " << e.code << e.err;
    EXPECT_EQ(e.code != 0, e.err.starts_with("error: ")) << entry << e.err;
    failed += e.code != 0;
  }
  EXPECT_GE(failed, 20);
}

TEST_F(Device, CubinsWithoutTheirToolAreRefusedBeforeTheWork) {
  if (fs::exists("/usr/local/cuda/bin/ptxas")) GTEST_SKIP() << "ptxas is where it is always found";
  const Ended e = cameo({"build", digits_, "-o", "gpu.so", "--target=cuda:sm_80"}, {.variables = {"PATH=nowhere"}});
  EXPECT_NE(e.code, 0);
  EXPECT_TRUE(has(e.err, "E0603") && has(e.err, "needs ptxas")) << e.err;
  EXPECT_EQ(files(), Words{});
}

}  // namespace
}  // namespace cameo
