// Hand-written programs on a GPU, which the mock driver plays: what runs compute, where their values may stand, how
// they fail.
#include <string>
#include <thread>

#include "tests/runtime/cuda/fixture.h"

namespace {

using namespace programs;
using cameo::test::load_mock;
using cameo::test::Mock;
using Floats = std::vector<float>;
using Dims = std::vector<int64_t>;

/// A fresh mock, and nothing of it in use afterwards.
struct Cuda : testing::Test {
  Mock& mock = load_mock();
  Floats x = {1, 2, 3, -1, 0, 1};
  Dims x_dims = {2, 3}, y_dims = {2, 4}, scalar, one = {1}, two = {2}, four = {4}, eight = {8};

  Cuda() { mock = Mock(); }
  ~Cuda() override { EXPECT_EQ(mock.live, 0) << "things of the driver that were not released"; }
};

const Floats kY = {10.5f, 4, 4, 0, 2.5f, 0, 0, 0};

TEST_F(Cuda, RunsTheRowsOfItsImage) {
  Session<kGpuLinear> s;
  Floats y(8);
  std::vector<int64_t> sum(1);
  std::vector<cameo_value> out = {value(y, y_dims), value(sum, scalar)};
  for (int run = 0; run < 3; ++run) {
    ASSERT_EQ(s.run({value(x, x_dims)}, out), CAMEO_OK) << s.error.message;
    EXPECT_EQ(y, kY);
    EXPECT_EQ(sum[0], 21);
    y.assign(8, -1.f);
  }
  EXPECT_EQ(mock.launches, 6);
  EXPECT_EQ(mock.copies, 3 * 3) << "up, the row that copies, down";
}

TEST_F(Cuda, OutputsOfTheContextStandOnTheHostOrWhereTheyWereAskedFor) {
  Session<kGpuLinear> s;
  cameo_value there = owned();
  there.tensor.device = {CAMEO_CUDA, 0};
  std::vector<cameo_value> out = {owned(), there};
  ASSERT_EQ(s.run({value(x, x_dims)}, out), CAMEO_OK) << s.error.message;
  const float* y = static_cast<const float*>(out[0].tensor.data);
  EXPECT_EQ(Floats(y, y + 8), kY);
  EXPECT_EQ(out[0].tensor.device.device_type, CAMEO_CPU);
  EXPECT_EQ(out[1].tensor.device.device_type, CAMEO_CUDA);
  ASSERT_EQ(s.run({value(x, x_dims)}, out), CAMEO_OK) << "what was filled in can be given again: " << s.error.message;
  EXPECT_EQ(Floats(y, y + 8), kY);
}

TEST_F(Cuda, TakesStridedInputsOfTheHost) {
  Session<kGpuLinear> s;
  Floats transposed = {1, -1, 2, 0, 3, 1}, y(8);
  Dims strides = {1, 2};
  cameo_value in = value(transposed, x_dims);
  in.tensor.strides = strides.data();
  std::vector<cameo_value> out = {value(y, y_dims), none()};
  ASSERT_EQ(s.run({in}, out), CAMEO_OK) << s.error.message;
  EXPECT_EQ(y, kY);
}

TEST_F(Cuda, UsesTheDevicesMemoryInPlace) {
  Session<kGpuLinear> s;
  DeviceMemory from(24), to(32);
  from.write(x.data(), 24);
  Floats y(8);
  cameo_run_options options = {sizeof options, 0, 0, to.stream()};
  std::vector<cameo_value> in = {on_gpu(value(x, x_dims), from.get())};
  std::vector<cameo_value> out = {on_gpu(value(y, y_dims), to.get()), none()};
  ASSERT_EQ(s.api.run(s.context, in.data(), 1, out.data(), 2, &options, &s.error), CAMEO_OK) << s.error.message;
  EXPECT_EQ(mock.copies, 2) << "the row that copies; faults";
  to.read(y.data(), 32);
  EXPECT_EQ(y, kY);
  in[0].tensor.device.device_id = 1;
  EXPECT_EQ(s.run(in, out), CAMEO_INVALID_ARGUMENT);
  EXPECT_STREQ(s.error.message,
               "input 0 `x` is on device 1 of type 2, expected the CPU (type 1) or device 0 of type 2");
  in[0].tensor.device.device_id = 0;
  in[0].tensor.byte_offset = 4;
  EXPECT_EQ(s.run(in, out), CAMEO_INVALID_ARGUMENT);
  EXPECT_STREQ(s.error.message, "input 0 `x`: data on a GPU is not aligned to 16 bytes, as its kernels need it");
}

TEST_F(Cuda, AHostPointerThatIsSaidToBeTheDevicesFails) {
  Session<kGpuLinear> s;
  std::vector<cameo_value> out = {none(), none()};
  EXPECT_EQ(s.run({on_gpu(value(x, x_dims), x.data())}, out), CAMEO_INTERNAL);
  EXPECT_STREQ(s.error.message,
               "NVIDIA's driver failed: cuStreamSynchronize: a kernel's parameter does not point into the device's "
               "memory (719)");
}

TEST_F(Cuda, ContextsShareTheWeights) {
  Session<kGpuLinear> s;
  const size_t before = mock.used;
  cameo_context* second = nullptr;
  ASSERT_EQ(s.api.context_create(s.model, &second, &s.error), CAMEO_OK);
  size_t bytes = 0, alignment = 0;
  ASSERT_EQ(s.api.workspace_size(s.model, nullptr, 0, &bytes, &alignment, &s.error), CAMEO_OK);
  EXPECT_LT(mock.used - before, bytes);
  EXPECT_GE(mock.used - before, kLinearSchedule.arena_bytes + 24 + 32 + 8);
  std::thread other([&] {
    for (int i = 0; i < 20; ++i) {
      Floats y(8);
      cameo_value in = value(x, x_dims), out[2] = {value(y, y_dims), none()};
      EXPECT_EQ(s.api.run(second, &in, 1, out, 2, nullptr, nullptr), CAMEO_OK);
      EXPECT_EQ(y, kY);
    }
  });
  for (int i = 0; i < 20; ++i) {
    Floats y(8);
    std::vector<cameo_value> out = {value(y, y_dims), none()};
    EXPECT_EQ(s.run({value(x, x_dims)}, out), CAMEO_OK);
    EXPECT_EQ(y, kY);
  }
  other.join();
  s.api.context_release(second);
}

struct LoopResult {
  Floats y, scan;
  int64_t last;
};
LoopResult run_loop(int64_t n, float limit) {
  Session<kGpuLoop> s;
  std::vector<int64_t> trips = {n}, last = {-1};
  Floats x = {1, 2, 3, 4}, bound = {limit}, y(4), scan(8, -1.f);
  Dims scalar, four = {4}, eight = {8};
  DeviceMemory stack(32);  // what is not written keeps what the caller had there
  stack.write(scan.data(), 32);
  std::vector<cameo_value> out = {value(y, four), on_gpu(value(scan, eight), stack.get()), value(last, scalar)};
  EXPECT_EQ(s.run({value(trips, scalar), value(x, four), value(bound, scalar)}, out), CAMEO_OK) << s.error.message;
  stack.read(scan.data(), 32);
  return {y, scan, last[0]};
}

TEST_F(Cuda, LoopsReadTheirTripsAndConditionsFromTheDevice) {
  const LoopResult r = run_loop(3, 1e9f);
  EXPECT_EQ(r.y, (Floats{29, 37, 45, 53}));
  EXPECT_EQ(r.scan, (Floats{5, 13, 29, -1, -1, -1, -1, -1}));
  EXPECT_EQ(r.last, 2);
  EXPECT_EQ(run_loop(2, 1e9f).y, (Floats{13, 17, 21, 25}));
  EXPECT_EQ(run_loop(8, 30.f).y, (Floats{5, 7, 9, 11}));
  EXPECT_EQ(run_loop(0, 1e9f).y, (Floats{1, 2, 3, 4}));
}

TEST_F(Cuda, FaultsNameTheNodeAndEndWithTheirRun) {
  Session<kGpuPick> s;
  Floats y(2);
  const auto run = [&](std::vector<int64_t> index, unsigned char flag) {
    std::vector<unsigned char> flags = {flag};
    std::vector<cameo_value> out = {value(y, two)};
    return s.run({value(index, two), value(flags, scalar)}, out);
  };
  for (int round = 0; round < 2; ++round) {
    EXPECT_EQ(run({0, 7}, 1), CAMEO_OUT_OF_RANGE);
    EXPECT_STREQ(s.error.message, "node `gather\\x0a\\x1b[31m`: index 7 is outside a dim of 5");
    EXPECT_EQ(s.error.node, 0);
    EXPECT_EQ(run({4, -5}, 0), CAMEO_OK) << s.error.message;
    EXPECT_EQ(y, (Floats{14, 10}));
    EXPECT_EQ(run({4, -5}, 1), CAMEO_OK);
    EXPECT_EQ(y, (Floats{15, 11}));
  }
}

TEST_F(Cuda, AStateStaysOnTheDevice) {
  Session<kGpuStep> s;
  Floats past = {10}, present = {0};
  ASSERT_EQ(s.api.bind_state(s.context, 0, 0, &s.error), CAMEO_OK) << s.error.message;
  const auto step = [&](cameo_value in) {
    std::vector<cameo_value> out = {value(present, one)};
    EXPECT_EQ(s.run({in}, out), CAMEO_OK) << s.error.message;
    return present[0];
  };
  EXPECT_EQ(step(none()), 1) << "zeros at first";
  EXPECT_EQ(step(none()), 2);
  EXPECT_EQ(step(value(past, one)), 11);
  EXPECT_EQ(step(none()), 12);
  DeviceMemory there(4);
  std::vector<cameo_value> out = {on_gpu(value(present, one), there.get())};
  EXPECT_EQ(s.run({none()}, out), CAMEO_OK);
  there.read(present.data(), 4);
  EXPECT_EQ(present[0], 13);
  EXPECT_EQ(step(none()), 14);
}

TEST_F(Cuda, AStepOnTheHostWorksInMemoryOfItsOwn) {
  Session<kGpuMixed> s;
  Floats past = {4}, present(1);
  const auto run = [&] {
    std::vector<cameo_value> out = {value(present, one)};
    return s.run({value(past, one)}, out);
  };
  ASSERT_EQ(run(), CAMEO_OK) << s.error.message;
  EXPECT_EQ(present[0], -4);
  EXPECT_EQ(mock.launches, 2);
  past[0] = -1;
  EXPECT_EQ(run(), CAMEO_OUT_OF_RANGE);
  EXPECT_STREQ(
      s.error.message,
      "node `?`: tensors of a list do not fit, 0 is an extent, a rank or a sum of them where 0 is wanted, or is "
      "the most");
  past[0] = 6;
  ASSERT_EQ(run(), CAMEO_OK) << s.error.message;
  EXPECT_EQ(present[0], -6);
}

TEST_F(Cuda, TapsAndTimesEveryRow) {
  Session<kGpuLinear> s;
  struct Seen {
    Floats data;
    int calls = 0;
  } seen;
  auto callback = [](void* user, const cameo_tap* tap) {
    const float* data = static_cast<const float*>(tap->tensor->data);
    static_cast<Seen*>(user)->data = Floats(data, data + 8);
    ++static_cast<Seen*>(user)->calls;
  };
  std::vector<uint64_t> ns(2, 0);
  ASSERT_EQ(s.api.profile(s.context, ns.data(), 2, &s.error), CAMEO_OK);
  ASSERT_EQ(s.api.tap(s.context, callback, &seen, &s.error), CAMEO_OK) << s.error.message;
  std::vector<cameo_value> out = {none(), none()};
  ASSERT_EQ(s.run({value(x, x_dims)}, out), CAMEO_OK) << s.error.message;
  EXPECT_EQ(seen.calls, 1);
  EXPECT_EQ(seen.data, (Floats{10.5f, 4, 2.5f, 0, 4, 0, 0, 0}));
  EXPECT_NEAR(static_cast<double>(ns[0]), 4000, 1) << "two rows of a launch and an event: the mock's microseconds";
  EXPECT_NEAR(static_cast<double>(ns[1]), 2000, 1);
}

TEST_F(Cuda, ABarrierThatNotAllThreadsReachFailsTheRun) {
  Session<kGpuStray> s;
  Floats past = {1};
  std::vector<cameo_value> out = {none()};
  EXPECT_EQ(s.run({value(past, one)}, out), CAMEO_INTERNAL);
  EXPECT_NE(std::string(s.error.message).find("others wait at a barrier"), std::string::npos) << s.error.message;
}

TEST_F(Cuda, SelftestComparesOnTheDevice) {
  constexpr cameo_api api = rt::make_api<kGpuLinear>();
  Error error;
  EXPECT_EQ(api.selftest(nullptr, nullptr, nullptr, &error), CAMEO_OK) << error.message;
  EXPECT_EQ(mock.launches, 2);
}

// ---- runs that do not wait
// -------------------------------------------------------------------------------------------

struct Async : Cuda {
  Floats past = {4}, other = {7};
  cameo_run_options options = {sizeof options, 0, CAMEO_RUN_ASYNC, nullptr};

  template <class S>
  cameo_status run(S& s, cameo_value in, cameo_value out) {
    return s.api.run(s.context, &in, 1, &out, 1, &options, &s.error);
  }
};

TEST_F(Async, ARunIsQueuedOnTheStreamOfTheCaller) {
  Session<kGpuStep> s;
  DeviceMemory from(4), to(4);
  from.write(past.data(), 4);
  to.write(other.data(), 4);
  options.stream = to.stream();
  const cameo_value in = on_gpu(value(past, one), from.get()), out = on_gpu(value(past, one), to.get());
  const int32_t before = mock.calls;
  ASSERT_EQ(run(s, in, out), CAMEO_OK) << s.error.message;
  EXPECT_EQ(mock.calls - before, 5) << "push, a kernel, faults, an event, pop";
  Floats seen(1);
  from.read(seen.data(), 4);
  EXPECT_EQ(seen[0], 4) << "another stream";
  to.read(seen.data(), 4);
  EXPECT_EQ(seen[0], 5);
  EXPECT_EQ(s.api.synchronize(s.context, &s.error), CAMEO_OK);
  EXPECT_EQ(s.api.synchronize(s.context, &s.error), CAMEO_OK) << "nothing to wait for";
}

TEST_F(Async, TheNextRunWaitsForIt) {
  Session<kGpuStep> s;
  DeviceMemory first(4), second(4);
  Floats input(1), seen(1);
  for (DeviceMemory* to : {&first, &second}) {
    input[0] += 10;  // on the host: the second one takes the first one's place
    ASSERT_EQ(run(s, value(input, one), on_gpu(value(past, one), to->get())), CAMEO_OK) << s.error.message;
  }
  EXPECT_EQ(s.api.synchronize(s.context, &s.error), CAMEO_OK);
  first.read(seen.data(), 4);
  EXPECT_EQ(seen[0], 11);
  second.read(seen.data(), 4);
  EXPECT_EQ(seen[0], 21);
}

TEST_F(Async, WhatFailedIsAnsweredByTheNextCall) {
  Session<kGpuPick> branch;
  Session<kGraphPick> graph;
  DeviceMemory to(8);
  const auto start = [&](auto& s, std::vector<int64_t> index) {
    std::vector<unsigned char> flag = {0};
    cameo_value in[] = {value(index, two), value(flag, scalar)}, out = on_gpu(value(x, two), to.get());
    return s.api.run(s.context, in, 2, &out, 1, &options, &s.error);
  };
  EXPECT_EQ(start(branch, {0, 7}), CAMEO_OUT_OF_RANGE) << "a branch waits";
  for (int round = 0; round < 2; ++round) {
    EXPECT_EQ(start(graph, {0, 7}), CAMEO_OK) << graph.error.message;
    EXPECT_EQ(graph.api.synchronize(graph.context, &graph.error), CAMEO_OUT_OF_RANGE);
    EXPECT_STREQ(graph.error.message, "node `gather\\x0a\\x1b[31m`: index 7 is outside a dim of 5");
    EXPECT_EQ(start(graph, {0, 9}), CAMEO_OK);
    EXPECT_EQ(start(graph, {0, 1}), CAMEO_OUT_OF_RANGE) << "of the run before";
    EXPECT_EQ(start(graph, {0, 1}), CAMEO_OK);
    EXPECT_EQ(graph.api.synchronize(graph.context, &graph.error), CAMEO_OK);
  }
}

TEST_F(Async, OutputsOfTheHostAreRefused) {
  Session<kGpuStep> s;
  EXPECT_EQ(run(s, value(past, one), value(other, one)), CAMEO_INVALID_ARGUMENT);
  EXPECT_STREQ(s.error.message, "output 0 is the CPU's; a run that does not wait writes to the GPU's memory alone");
  EXPECT_EQ(run(s, value(past, one), owned()), CAMEO_INVALID_ARGUMENT);
  EXPECT_EQ(run(s, value(past, one), none()), CAMEO_OK);
  options.flags = 6;
  EXPECT_EQ(run(s, value(past, one), none()), CAMEO_INVALID_ARGUMENT);
  EXPECT_STREQ(s.error.message, "run flags 0x6 are not defined");
}

TEST_F(Async, ReleasingItsContextWaitsForIt) {
  DeviceMemory to(4), stream(4);
  {
    Session<kGpuStep> s;
    options.stream = stream.stream();
    ASSERT_EQ(run(s, value(past, one), on_gpu(value(past, one), to.get())), CAMEO_OK);
  }
  Floats seen(1);
  to.read(seen.data(), 4);
  EXPECT_EQ(seen[0], 5);
}

TEST_F(Async, OnTheCpuARunHasEnded) {
  Session<kLinear> s;
  Floats y(8);
  std::vector<cameo_value> in = {value(x, x_dims)}, out = {value(y, y_dims), none()};
  EXPECT_EQ(s.api.run(s.context, in.data(), 1, out.data(), 2, &options, &s.error), CAMEO_OK);
  EXPECT_EQ(y, kY);
  EXPECT_EQ(s.api.synchronize(s.context, &s.error), CAMEO_OK);
}

}  // namespace
