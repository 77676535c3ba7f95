// Sizes that only a run knows, on a GPU that the mock driver plays: kernels get them by value, grids, graphs and memory
// without a bound follow, and elements that decide them are read wherever they are.
#include <string>

#include "tests/runtime/cuda/fixture.h"
#include "tests/runtime/sized_programs.h"

namespace {

using namespace programs;
using cameo::test::load_mock;
using cameo::test::Mock;
using Floats = std::vector<float>;
using Dims = std::vector<int64_t>;

const std::initializer_list<GpuKernel> kSizedGpu = {{"columns", 1}, {"scale", 5}, {"mask", 4}};
template <bool kIsOpen>
Program gpu_sized(Images images, rt::Mode mode = rt::Mode::Default) {
  return with_gpu(kSized<kIsOpen>, sizeof "k000\0/values\0/Gemm", kSizedSchedule<kIsOpen>, kSizedGpu, images, mode);
}
const Program kGpuBounded = gpu_sized<false>(Images::Gpu), kGraphBounded = gpu_sized<false>(Images::Gpu, kGraphs),
              kGpuOpen = gpu_sized<true>(Images::Gpu), kGraphOpen = gpu_sized<true>(Images::Gpu, kGraphs);

struct CudaSizes : testing::Test {
  Mock& mock = load_mock();
  CudaSizes() { mock = Mock(); }
  ~CudaSizes() override { EXPECT_EQ(mock.live, 0) << "things of the driver that were not released"; }

  template <class S>
  void expect_run(S& s, int64_t batch, int64_t n) {
    Dims x_dims = {batch, n}, bias_dims = {n}, flat_dims = {batch * n}, scalar;
    Floats x(static_cast<size_t>(batch * n)), bias(static_cast<size_t>(n), 0.5f), y(x.size()), flat(x.size(), -1.f);
    std::vector<unsigned char> mask(x.size());
    std::vector<int64_t> rows = {-1};
    for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i), mask[i] = i % 2 == 0;
    std::vector<cameo_value> out = {owned(), value(flat, flat_dims), owned(), value(rows, scalar)};
    ASSERT_EQ(s.run({value(x, x_dims), value(bias, bias_dims), value(mask, flat_dims)}, out), CAMEO_OK)
        << s.error.message;
    EXPECT_EQ(Dims(out[0].tensor.shape, out[0].tensor.shape + 2), x_dims);
    EXPECT_EQ(out[2].tensor.shape[0], n);
    for (size_t i = 0; i < x.size(); ++i) {
      EXPECT_EQ(static_cast<float*>(out[0].tensor.data)[i], 2 * x[i] + 0.5f);
      EXPECT_EQ(flat[i], mask[i] ? 2 * x[i] + 0.5f : 0);
    }
    for (int64_t i = 0; i < n; ++i) EXPECT_EQ(static_cast<float*>(out[2].tensor.data)[i], static_cast<float>(i));
    EXPECT_EQ(rows[0], batch);
  }
};

TEST_F(CudaSizes, RunsHaveTheSizesOfTheirInputs) {
  Session<kGpuBounded> s;
  for (const auto& [batch, n] : {std::pair{2, 3}, {4, 5}, {1, 1}, {3, 0}, {3, 2}}) expect_run(s, batch, n);
  EXPECT_EQ(mock.launches, 5 * 3 - 1) << "no columns, no launch";
}

TEST_F(CudaSizes, GraphsGetThoseOfEachRun) {
  Session<kGraphBounded> s;
  for (const auto& [batch, n] : {std::pair{1, 3}, {4, 5}, {3, 0}, {2, 3}, {2, 3}}) expect_run(s, batch, n);
  EXPECT_EQ(mock.graph_launches, 5) << "columns and scale; the copy to an output and what is behind it are no graph's";
  EXPECT_EQ(mock.launches, 5);
}

TEST_F(CudaSizes, AGraphOfTheSameSizesIsNotSetAgain) {
  Session<kGraphBounded> s;
  const auto calls_of_run = [&](int64_t batch) {
    const int32_t before = mock.calls;
    expect_run(s, batch, 3);
    return mock.calls - before;
  };
  calls_of_run(2);
  const int32_t again = calls_of_run(2);
  EXPECT_EQ(calls_of_run(4), again + 4) << "two kernels, each switched and set";
  EXPECT_EQ(calls_of_run(4), again);
}

TEST_F(CudaSizes, TheDevicesMemoryIsTakenAtTheBound) {
  Session<kGpuBounded> s;
  const size_t before = mock.used;
  expect_run(s, 4, 5);
  EXPECT_EQ(mock.used, before);
}

TEST_F(CudaSizes, TapsSeeThem) {
  Session<kGpuBounded> s;
  Dims seen;
  const auto callback = [](void* user, const cameo_tap* tap) {
    *static_cast<Dims*>(user) = {tap->tensor->shape, tap->tensor->shape + tap->tensor->ndim};
  };
  ASSERT_EQ(s.api.tap(s.context, callback, &seen, &s.error), CAMEO_OK) << s.error.message;
  expect_run(s, 4, 3);
  EXPECT_EQ(seen, (Dims{4, 3}));
  expect_run(s, 1, 5);
  EXPECT_EQ(seen, (Dims{1, 5}));
}

TEST_F(CudaSizes, SelftestComparesOnTheDevice) {
  constexpr cameo_api api = rt::make_api<kGpuBounded>();
  Error error;
  EXPECT_EQ(api.selftest(nullptr, nullptr, nullptr, &error), CAMEO_OK) << error.message;
}

TEST_F(CudaSizes, WithoutABoundMemoryGrows) {
  Session<kGpuOpen> s;
  const size_t before = mock.used;
  for (const auto& [batch, n] : {std::pair{1, 1}, {2, 70}, {4, 150}, {3, 0}}) expect_run(s, batch, n);
  const size_t grown = mock.used;
  EXPECT_GT(grown, before + 4 * 150 * (4 + 4 + 4 + 1));
  for (const auto& [batch, n] : {std::pair{4, 150}, {2, 70}}) expect_run(s, batch, n);
  EXPECT_EQ(mock.used, grown);
}

TEST_F(CudaSizes, WithoutABoundGraphsFollowTheMemory) {
  Session<kGraphOpen> s;
  for (const auto& [batch, n] : {std::pair{1, 1}, {2, 70}, {4, 150}, {3, 0}, {4, 150}}) expect_run(s, batch, n);
  EXPECT_EQ(mock.graph_launches, 5);
}

TEST_F(CudaSizes, WithoutABoundARunSaysWhatItCannotHave) {
  mock.memory = 1 << 20;
  Session<kGpuOpen> s;
  Floats x(1 << 20), bias(1 << 18);
  std::vector<unsigned char> mask(1 << 20);
  Dims x_dims = {4, 1 << 18}, bias_dims = {1 << 18}, flat_dims = {1 << 20};
  std::vector<cameo_value> out = {owned(), owned(), owned(), owned()};
  EXPECT_EQ(s.run({value(x, x_dims), value(bias, bias_dims), value(mask, flat_dims)}, out), CAMEO_OUT_OF_MEMORY);
  EXPECT_NE(std::string(s.error.message).find("cannot allocate 4194304 bytes on GPU 0"), std::string::npos)
      << s.error.message;
  expect_run(s, 2, 3);
}

TEST_F(CudaSizes, WorkspaceCountsWhatARunTakesOfTheDevice) {
  Session<kGpuOpen> s;
  const auto bytes_at = [&](int64_t n) {
    Dims x_dims = {4, n}, bias_dims = {n}, flat_dims = {4 * n};
    Floats x(static_cast<size_t>(4 * n)), bias(static_cast<size_t>(n));
    std::vector<unsigned char> mask(x.size());
    const std::vector<cameo_value> in = {value(x, x_dims), value(bias, bias_dims), value(mask, flat_dims)};
    size_t bytes = 0, alignment = 0;
    EXPECT_EQ(s.api.workspace_size(s.model, in.data(), 3, &bytes, &alignment, &s.error), CAMEO_OK) << s.error.message;
    return bytes;
  };
  const size_t n = 1024;
  EXPECT_EQ(bytes_at(n) - bytes_at(0), 4 * n * 4 + n * 4 + 4 * n + 4 * n * 4 * 3 + n * 4)
      << "x, bias, mask; y, flat and the values between the steps; columns";
}

struct CudaElements : CudaSizes {
  Session<kGpuDecided> s;
  Dims two{2}, scalar;
  std::vector<int64_t> shape{2, 3};
  std::vector<int32_t> number{-7};
  std::vector<unsigned char> flag{1};

  std::vector<cameo_value> in() { return {value(shape, two), value(number, scalar), value(flag, scalar)}; }
  void expect(const std::vector<cameo_value>& from, const Dims& dims, const cameo_run_options* options = nullptr) {
    std::vector<cameo_value> out = {owned()};
    ASSERT_EQ(s.api.run(s.context, from.data(), 3, out.data(), 1, options, &s.error), CAMEO_OK) << s.error.message;
    EXPECT_EQ(Dims(out[0].tensor.shape, out[0].tensor.shape + 2), dims);
    for (int64_t i = 0; i < dims[0] * dims[1]; ++i) ASSERT_EQ(static_cast<float*>(out[0].tensor.data)[i], -7);
  }
};

TEST_F(CudaElements, OfTheHostDecideEachRun) {
  for (const Dims& each : {Dims{2, 3}, {1, 50}, {0, 4}, {300, 7}}) {
    shape = each;
    expect(in(), each);
  }
}

TEST_F(CudaElements, OfTheDeviceAreCopied) {
  DeviceMemory memory(16);
  std::vector<cameo_value> there = in();
  there[0] = on_gpu(there[0], memory.get());
  for (const Dims& each : {Dims{2, 3}, {5, 4}}) {
    memory.write(each.data(), 16);
    expect(there, each);
  }
  cameo_run_options options = {};
  options.struct_size = sizeof options;
  options.stream = memory.stream();
  expect(there, {5, 4}, &options);
  size_t bytes = 0;
  EXPECT_EQ(s.api.workspace_size(s.model, there.data(), 3, &bytes, nullptr, &s.error), CAMEO_OK) << s.error.message;
}

TEST_F(CudaElements, ThatDoNotFitNameTheNode) {
  shape = {2, -1};
  std::vector<cameo_value> out = {owned()};
  EXPECT_EQ(s.run(in(), out), CAMEO_INVALID_ARGUMENT);
  EXPECT_STREQ(s.error.message, "node `/Fill` does not fit these sizes");
  EXPECT_EQ(mock.launches, 0);
}

}  // namespace
