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

TEST_F(GpuOnly, InspectSaysWhetherItRunsHere) {
  EXPECT_NE(call({"inspect"}).out.find("targets\n  cuda: host\n"), std::string::npos) << call({"inspect"}).out;
  EXPECT_NE(call({"inspect", "--json"}).out.find("{\"name\":\"cuda\",\"architectures\":[\"host\"],\"runs_here\":true}"),
            std::string::npos);
  mock.version = 11080;
  EXPECT_NE(call({"inspect"}).out.find(std::string("  cuda: host, does not run here: ") + kOld), std::string::npos);
  EXPECT_NE(call({"inspect", "--json"}).out.find("\"runs_here\":false}"), std::string::npos);
}

TEST_F(Both, RefusesDevicesThatThereCannotBe) {
  for (const char* device : {"gpu", "cuda:", "cuda:x", "cuda:-1", "cpu:1", "auto:0", "cuda:1:2", ""})
    EXPECT_EQ(call({"run", "-i", kInput, "--device", device}).code, 2) << device;
}

}  // namespace
}  // namespace rt::program
