// Sizes that only a run knows, on a GPU that the mock driver plays: kernels get them by value, and grids follow.
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
  return with_gpu(kSized<kIsOpen>, sizeof "k000\0/values", kSizedSchedule<kIsOpen>, kSizedGpu, images, mode);
}
const Program kGpuBounded = gpu_sized<false>(Images::Gpu), kGraphBounded = gpu_sized<false>(Images::Gpu, kGraphs),
              kGpuOpen = gpu_sized<true>(Images::Gpu), kBothOpen = gpu_sized<true>(Images::Both);

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

TEST_F(CudaSizes, NoGraphHoldsThem) {
  Session<kGraphBounded> s;
  for (int64_t batch : {1, 4, 2}) expect_run(s, batch, 3);
  EXPECT_EQ(mock.launches, 3 * 3);
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

TEST_F(CudaSizes, ASizeWithoutABoundStaysOnTheCpu) {
  constexpr cameo_api gpu = rt::make_api<kGpuOpen>();
  Error error;
  cameo_model* model = nullptr;
  EXPECT_EQ(gpu.model_create(nullptr, &model, &error), CAMEO_UNIMPLEMENTED);
  EXPECT_STREQ(error.message,
               "on a GPU sizes need an upper bound, and `n` has none; build with one, as in `--dim n=0..64`");
  Session<kBothOpen> s;
  expect_run(s, 2, 70);
  EXPECT_EQ(mock.launches, 0);
}

}  // namespace
