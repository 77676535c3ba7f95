// Sizes that elements of inputs are: of which types, where they stand in memory, and what is refused.
#include <string>

#include "tests/runtime/decided_program.h"
#include "tests/runtime/harness.h"

namespace {

using namespace programs;
using Dims = std::vector<int64_t>;

cameo_value of_type(uint32_t dtype, void* data, Dims& dims) {
  cameo_value v = owned();
  v.tensor = {data, {CAMEO_CPU, 0}, static_cast<int32_t>(dims.size()), rt::to_dlpack(dtype), dims.data(), nullptr, 0};
  return v;
}

struct Elements : testing::Test {
  Session<kDecided> s;
  Dims shape{2, 3}, two{2}, scalar;
  int32_t number = -7;
  bool flag = true;
  std::vector<cameo_value> in = {of_type(rt::kI64, shape.data(), two), of_type(rt::kI32, &number, scalar),
                                 of_type(rt::kBool, &flag, scalar)};
  std::vector<cameo_value> out = {owned()};

  void expect(const Dims& dims, float each) {
    ASSERT_EQ(s.run(in, out), CAMEO_OK) << s.error.message;
    const cameo_tensor& y = out[0].tensor;
    EXPECT_EQ(Dims(y.shape, y.shape + y.ndim), dims);
    for (int64_t i = 0; i < dims[0] * dims[1]; ++i) ASSERT_EQ(static_cast<float*>(y.data)[i], each);
    out = {owned()};
  }
  void expect_refused(const std::string& message, int32_t arg) {
    EXPECT_EQ(s.run(in, out), CAMEO_INVALID_ARGUMENT);
    EXPECT_EQ(s.error.message, message);
    EXPECT_EQ(s.error.arg, arg);
    EXPECT_EQ(s.api.prepare(s.context, in.data(), 3, &s.error), CAMEO_INVALID_ARGUMENT);
    EXPECT_EQ(s.error.message, message);
  }
};

TEST_F(Elements, EachRunHasItsOwn) {
  for (const Dims& each : {Dims{2, 3}, {1, 50}, {0, 4}, {2, 3}, {7, 1}}) {
    shape = each;
    in[0].tensor.data = shape.data();
    expect(each, -7);
  }
}

TEST_F(Elements, AreReadAsTheirTypesAre) {
  number = INT32_MIN;
  expect({2, 3}, static_cast<float>(INT32_MIN));
  flag = false;
  expect({2, 3}, 0);
}

TEST_F(Elements, StandWhereStridesAndOffsetSay) {
  Dims apart{-1, 4, -1, -1, 5}, steps{3};
  in[0].tensor.data = apart.data();
  in[0].tensor.byte_offset = 8;
  in[0].tensor.strides = steps.data();
  ASSERT_EQ(s.api.prepare(s.context, in.data(), 3, &s.error), CAMEO_OK) << s.error.message;
  expect({4, 5}, -7);
}

TEST_F(Elements, MustFitTheNodes) {
  shape[1] = -1;
  expect_refused("node `/Fill` does not fit these sizes", -1);
  EXPECT_EQ(s.error.node, 0);
  shape[1] = 3;
  expect({2, 3}, -7);
}

TEST_F(Elements, AreReadOnTheProcessor) {
  in[0].tensor.device = {CAMEO_CUDA, 0};
  EXPECT_EQ(s.run(in, out), CAMEO_INVALID_ARGUMENT);
  EXPECT_EQ(s.error.arg, 0);
  EXPECT_NE(std::string(s.error.message).find("input 0 `shape`"), std::string::npos) << s.error.message;
}

TEST_F(Elements, AreThere) {
  in[0].tensor.data = nullptr;
  expect_refused("input 0 `shape`: data is null, but it decides shapes", 0);
}

TEST_F(Elements, AreOfTheDeclaredTypeAndDims) {
  in[1] = of_type(rt::kI64, &shape[0], scalar);
  expect_refused("input 1 `value` has element type i64 (code 0, 64 bits, 1 lanes), the model declares i32", 1);
  Dims three{3};
  in[0] = of_type(rt::kI64, shape.data(), three);
  EXPECT_EQ(s.run(in, out), CAMEO_INVALID_ARGUMENT);
  EXPECT_EQ(s.error.arg, 0);
}

TEST_F(Elements, SayTheDimsOfOutputs) {
  int64_t dims[2] = {};
  cameo_io io = {};
  io.struct_size = sizeof io;
  io.run_dims = dims;
  io.run_dim_count = 2;
  ASSERT_EQ(s.api.output_types(s.model, in.data(), 3, &io, 1, &s.error), CAMEO_OK) << s.error.message;
  EXPECT_EQ(Dims(dims, dims + 2), (Dims{2, 3}));
  in[0].tensor.data = nullptr;
  EXPECT_EQ(s.api.output_types(s.model, in.data(), 3, &io, 1, &s.error), CAMEO_INVALID_ARGUMENT);
  EXPECT_STREQ(s.error.message, "input 0 `shape`: data is null, but it decides shapes");
}

}  // namespace
