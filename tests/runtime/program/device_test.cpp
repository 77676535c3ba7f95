// The artifact as a program where it holds code for a GPU: which device it takes, what it says, how it exits.
#include "tests/runtime/cuda/fixture.h"
#include "tests/runtime/program/fixture.h"

namespace rt::program {
namespace {

using cameo::test::load_mock;
using cameo::test::Mock;

template <const Program& kProgram>
struct OnDevice : ProgramTest<kProgram> {
  Mock& mock = load_mock();
  OnDevice() { mock = Mock(); }
  ~OnDevice() override { EXPECT_EQ(mock.live, 0) << "things of the driver that were not released"; }
};
using Both = OnDevice<programs::kBothLinear>;
using GpuOnly = OnDevice<programs::kGpuLinear>;
using Graphs = OnDevice<programs::kGraphChain>;

const char kInput[] = "x=[[1,2,3],[-1,0,1]]";
const char kResult[] =
    "y  f32[2,4]  min 0  mean 2.625  max 10.5\n  [10.5, 4, 4, 0, 2.5, 0, 0, 0]\nsum:0  i64[]\n  [21]\n";
const char kOld[] = "NVIDIA's driver supports CUDA 11.8 and this library needs 12.0; install a newer driver\n";

TEST_F(Both, TakesAGpuBeforeTheCpu) {
  EXPECT_EQ(call({"run", "-i", kInput}).out, kResult);
  EXPECT_EQ(mock.launches, 2);
  EXPECT_EQ(call({"run", "-i", kInput, "--device=cuda:0"}).out, kResult);
  EXPECT_EQ(call({"run", "-i", kInput, "--device", "cuda"}).out, kResult);
  EXPECT_EQ(mock.launches, 6);
  EXPECT_EQ(call({"run", "-i", kInput, "--device", "cpu"}).out, kResult);
  EXPECT_EQ(mock.launches, 6);
  EXPECT_EQ(call({"test", "--device", "cuda"}).code, 0);
  EXPECT_EQ(call({"bench", "--runs=3", "--warmup=0", "--seconds=0"}).code, 0);
  EXPECT_EQ(call({"profile", "--runs=3", "--warmup=0", "--seconds=0"}).code, 0);
  EXPECT_EQ(mock.launches, 6 + 2 + 2 * 4 * 2);
}

TEST_F(Both, FallsBackToTheCpuAndSaysWhyInOneLine) {
  mock.version = 11080;
  for (const std::vector<std::string>& choice : {std::vector<std::string>{}, {"--device", "auto"}}) {
    std::vector<std::string> arguments = {"run", "-i", kInput};
    arguments.insert(arguments.end(), choice.begin(), choice.end());
    const Result r = call(arguments);
    EXPECT_EQ(r.code, 0);
    EXPECT_EQ(r.out, kResult);
    EXPECT_EQ(r.err, std::string("note: it runs on the CPU: ") + kOld);
  }
  const Result r = call({"run", "-i", kInput, "--device", "cuda"});
  EXPECT_EQ(r.code, 8);
  EXPECT_EQ(r.err, std::string("error: ") + kOld);
}

TEST_F(GpuOnly, ExitsWith8WhereThereIsNoGpu) {
  mock.version = 11080;
  const Result r = call({"run", "-i", kInput});
  EXPECT_EQ(r.code, 8);
  EXPECT_EQ(r.err, std::string("error: ") + kOld);
  mock = Mock();
  EXPECT_EQ(call({"run", "-i", kInput, "--device=cuda:7"}).err,
            "error: there is no GPU 7; this machine has 1, counted from 0\n");
  EXPECT_EQ(call({"run", "-i", kInput, "--device=cpu"}).code, 8);
}

TEST_F(GpuOnly, InspectSaysWhichGpusItRunsOn) {
  mock.devices = 2;
  EXPECT_TRUE(has(call({"inspect"}).out,
                  "targets\n  cuda: host; mode default; arena 96 bytes\n    GPU 0 (cameo emulator) takes its code for "
                  "host\n    GPU 1 (cameo emulator) takes its code for host\n"))
      << call({"inspect"}).out;
  EXPECT_TRUE(has(call({"inspect", "--json"}).out,
                  R"("gpus":[{"number":0,"name":"cameo emulator","code":"host"},{"number":1,"name":"cameo emulator",)"
                  R"("code":"host"}],"runs_here":true})"))
      << call({"inspect", "--json"}).out;
  std::snprintf(mock.name, sizeof mock.name, "NVIDIA H200");
  EXPECT_TRUE(has(call({"inspect"}).out, "    does not run here: GPU 1 (NVIDIA H200) has compute capability 8.9, and"));
  EXPECT_TRUE(has(call({"inspect", "--json"}).out, R"("name":"NVIDIA H200","why_not":"GPU 0 (NVIDIA H200) has)"));
  mock = Mock();
  mock.version = 11080;
  EXPECT_TRUE(has(call({"inspect"}).out, std::string("    does not run here: ") + kOld));
  EXPECT_TRUE(has(call({"inspect", "--json"}).out, R"("gpus":[],"runs_here":false})"));
}

TEST_F(Both, InspectNamesProcessorsFirst) {
  EXPECT_TRUE(has(call({"inspect"}).out, "targets\n  baseline\n  cuda: host; mode default;")) << call({"inspect"}).out;
}

TEST_F(Graphs, InspectSaysWhatIsLaunchedAsGraphs) {
  EXPECT_TRUE(has(call({"inspect"}).out, "  cuda: host; mode reduce-overhead, 3 steps in 1 graph and 1 others; arena"))
      << call({"inspect"}).out;
  EXPECT_TRUE(has(call({"inspect", "--json"}).out, R"("mode":"reduce-overhead","graphs":1,"steps_in_graphs":3)"));
  EXPECT_EQ(call({"run", "-i", kInput}).out, kResult);
  EXPECT_EQ(mock.graph_launches, 1);
  EXPECT_EQ(call({"bench", "--runs=3", "--warmup=0", "--seconds=0"}).code, 0);
}

TEST_F(Both, AFailureOfTheGpuIsNoBugAndNamesTheWayAround) {
  std::snprintf(mock.fail, sizeof mock.fail, "cuStreamSynchronize");
  mock.fail_at = 2;
  const Result r = call({"run", "-i", kInput});
  EXPECT_EQ(r.code, 8);
  EXPECT_EQ(r.err, "error: NVIDIA's driver failed: cuStreamSynchronize: injected (999); `--device cpu` does without\n");
}

TEST_F(GpuOnly, AFailureOfTheGpuIsNoBug) {
  std::snprintf(mock.fail, sizeof mock.fail, "cuLaunchKernel");
  const Result r = call({"run", "-i", kInput});
  EXPECT_EQ(r.code, 8);
  EXPECT_EQ(r.err, "error: NVIDIA's driver failed: cuLaunchKernel: injected (999)\n");
}

TEST_F(Both, RefusesDevicesThatThereCannotBe) {
  for (const char* device : {"gpu", "cuda:", "cuda:x", "cuda:-1", "cpu:1", "auto:0", "cuda:1:2", ""})
    EXPECT_EQ(call({"run", "-i", kInput, "--device", device}).code, 2) << device;
}

}  // namespace
}  // namespace rt::program
