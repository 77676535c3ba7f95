// Sizes that only a run knows: what the inputs may have, what follows for outputs, memory, taps and golden cases.
#include <string>
#include <thread>

#include "tests/runtime/harness.h"
#include "tests/runtime/sized_programs.h"

namespace {

using namespace programs;
using Floats = std::vector<float>;
using Dims = std::vector<int64_t>;
using Bits = std::vector<unsigned char>;

/// Inputs and expected outputs of one run.
struct Values {
  Dims x_dims, bias_dims, flat_dims;
  Floats x, bias, y, flat, columns;
  Bits mask;

  Values(int64_t batch, int64_t n) : x_dims{batch, n}, bias_dims{n}, flat_dims{batch * n} {
    for (int64_t i = 0; i < n; ++i) bias.push_back(static_cast<float>(i % 7)), columns.push_back(static_cast<float>(i));
    for (int64_t i = 0; i < batch * n; ++i) {
      x.push_back(static_cast<float>(i % 11));
      y.push_back(2 * x.back() + bias[static_cast<size_t>(i % n)]);
      mask.push_back(i % 3 != 0);
      flat.push_back(mask.back() ? y.back() : 0);
    }
  }
  std::vector<cameo_value> inputs() { return {value(x, x_dims), value(bias, bias_dims), value(mask, flat_dims)}; }
};

Floats floats(const cameo_value& value) {
  const float* data = static_cast<const float*>(value.tensor.data);
  int64_t count = 1;
  for (int32_t d = 0; d < value.tensor.ndim; ++d) count *= value.tensor.shape[d];
  return data ? Floats(data, data + count) : Floats();
}
Dims dims(const cameo_value& value) { return {value.tensor.shape, value.tensor.shape + value.tensor.ndim}; }

/// Outputs that the context owns.
template <class S>
void expect_run(S& s, int64_t batch, int64_t n) {
  Values v(batch, n);
  std::vector<cameo_value> out = {owned(), owned(), owned(), owned()};
  ASSERT_EQ(s.run(v.inputs(), out), CAMEO_OK) << s.error.message;
  EXPECT_EQ(dims(out[0]), (Dims{batch, n}));
  EXPECT_EQ(dims(out[1]), (Dims{batch * n}));
  EXPECT_EQ(dims(out[2]), (Dims{n}));
  EXPECT_EQ(out[3].tensor.ndim, 0);
  EXPECT_EQ(floats(out[0]), v.y);
  EXPECT_EQ(floats(out[1]), v.flat);
  EXPECT_EQ(floats(out[2]), v.columns);
  EXPECT_EQ(*static_cast<int64_t*>(out[3].tensor.data), batch);
}

template <class T>
struct Both : testing::Test {
  Session<T::value> s;
};
template <const Program& kProgram>
struct Of {
  static constexpr const Program& value = kProgram;
};
using Programs = testing::Types<Of<kSized<false>>, Of<kSized<true>>>;
TYPED_TEST_SUITE(Both, Programs);

TYPED_TEST(Both, RunsHaveTheSizesOfTheirInputs) {
  for (const auto& [batch, n] : {std::pair{2, 3}, {4, 5}, {1, 1}, {3, 2}, {4, 5}}) expect_run(this->s, batch, n);
}

TYPED_TEST(Both, SizesStayUntilARunHasOthers) {
  for (auto [batch, n] : {std::pair<int64_t, int64_t>{2, 3}, {2, 3}, {3, 2}, {3, 2}, {2, 3}, {2, 0}, {2, 0}, {2, 3}})
    expect_run(this->s, batch, n);
  Values wrong(2, 3);
  wrong.bias_dims = {2};
  std::vector<cameo_value> out = {owned(), owned(), owned(), owned()};
  for (int i = 0; i < 2; ++i) EXPECT_EQ(this->s.run(wrong.inputs(), out), CAMEO_INVALID_ARGUMENT);
  for (int i = 0; i < 2; ++i) expect_run(this->s, 2, 3);
}

TYPED_TEST(Both, ASizeMayBeZero) {
  for (int64_t batch : {1, 2, 4}) expect_run(this->s, batch, 0);
}

TYPED_TEST(Both, AnyNumberOfThreadsGivesTheSame) {
  for (int threads : {1, 2, 3, 7}) {
    Session<TypeParam::value> s(threads);
    for (int round = 0; round < 100; ++round) expect_run(s, 1 + round % 4, round % 6);
  }
}

TYPED_TEST(Both, ContextsHaveSizesOfTheirOwn) {
  cameo_context* second = nullptr;
  ASSERT_EQ(this->s.api.context_create(this->s.model, &second, &this->s.error), CAMEO_OK);
  std::thread other([&] {
    for (int i = 0; i < 200; ++i) {
      Values v(1 + i % 4, 5);
      std::vector<cameo_value> in = v.inputs(), out = {owned(), none(), none(), none()};
      ASSERT_EQ(this->s.api.run(second, in.data(), 3, out.data(), 4, nullptr, nullptr), CAMEO_OK);
      EXPECT_EQ(floats(out[0]), v.y);
    }
  });
  for (int i = 0; i < 200; ++i) expect_run(this->s, 4 - i % 4, 2);
  other.join();
  this->s.api.context_release(second);
}

TYPED_TEST(Both, GoldenCasesHaveTheirOwn) {
  int checks = 0;
  const auto report = [](void* user, const cameo_check*) { ++*static_cast<int*>(user); };
  EXPECT_EQ(this->s.api.selftest(nullptr, report, &checks, &this->s.error), CAMEO_OK) << this->s.error.message;
  EXPECT_EQ(checks, 4);
}

TYPED_TEST(Both, TapsSeeThem) {
  struct Seen {
    Dims dims;
    Floats data;
  } seen;
  const auto callback = [](void* user, const cameo_tap* tap) {
    cameo_value v = owned();
    v.tensor = *tap->tensor;
    *static_cast<Seen*>(user) = {dims(v), floats(v)};
  };
  ASSERT_EQ(this->s.api.tap(this->s.context, callback, &seen, &this->s.error), CAMEO_OK) << this->s.error.message;
  for (int64_t batch : {1, 4, 2}) {
    expect_run(this->s, batch, 3);
    EXPECT_EQ(seen.dims, (Dims{batch, 3}));
    EXPECT_EQ(seen.data, Values(batch, 3).y);
  }
}

TYPED_TEST(Both, SurvivesAnyFailedAllocation) {
  for (int budget = 0;; ++budget) {
    Counts counts;
    counts.budget = budget;
    const cameo_options options = counting(counts);
    Values v(3, 4);
    std::vector<cameo_value> in = v.inputs(), out = {owned(), owned(), owned(), owned()};
    cameo_model* model = nullptr;
    cameo_context* context = nullptr;
    Error error;
    const cameo_api& api = this->s.api;
    cameo_status status = api.model_create(&options, &model, &error);
    if (!status) status = api.context_create(model, &context, &error);
    if (!status) status = api.run(context, in.data(), 3, out.data(), 4, nullptr, &error);
    EXPECT_TRUE(!status || status == CAMEO_OUT_OF_MEMORY) << error.message;
    if (status == CAMEO_OUT_OF_MEMORY && context) {
      counts.budget = 1 << 30;
      EXPECT_EQ(api.run(context, in.data(), 3, out.data(), 4, nullptr, &error), CAMEO_OK) << error.message;
      EXPECT_EQ(floats(out[1]), v.flat);
    }
    api.context_release(context);
    api.model_release(model);
    EXPECT_TRUE(counts.live.empty()) << "after " << budget << " allocations";
    if (!status) return;
  }
}

struct Bounded : testing::Test {
  Session<kSized<false>> s;
  Values v{2, 3};
  std::vector<cameo_value> in = v.inputs(), out = {owned(), owned(), owned(), owned()};

  void expect_refused(const std::string& message) {
    EXPECT_EQ(s.run(in, out), CAMEO_INVALID_ARGUMENT);
    EXPECT_EQ(s.error.message, message);
    EXPECT_EQ(s.api.prepare(s.context, in.data(), 3, &s.error), CAMEO_INVALID_ARGUMENT);
    EXPECT_EQ(s.error.message, message);
  }
};

TEST_F(Bounded, DescribesItsDims) {
  cameo_io io = {};
  io.struct_size = sizeof io;
  ASSERT_EQ(s.api.io_get(0, 0, &io), CAMEO_OK);
  EXPECT_EQ(Dims(io.dims, io.dims + 2), (Dims{-1, -1}));
  EXPECT_EQ(Dims(io.dim_min, io.dim_min + 2), (Dims{1, 0}));
  EXPECT_EQ(Dims(io.dim_max, io.dim_max + 2), (Dims{4, 5}));
  EXPECT_STREQ(io.dim_names[1], "n");
  ASSERT_EQ(s.api.io_get(1, 1, &io), CAMEO_OK);
  EXPECT_EQ(io.dim_max[0], 20);
  EXPECT_STREQ(io.dim_names[0], "batch*n");
}

TEST_F(Bounded, RefusesASizeOutOfBounds) {
  v.x_dims = {40, 3};
  expect_refused("input 0 `x` has 40 in dim 0 (batch), which the model was built for 1 to 4");
  EXPECT_EQ(s.error.arg, 0);
  v.x_dims = {0, 3};
  expect_refused("input 0 `x` has 0 in dim 0 (batch), which the model was built for 1 to 4");
  v.x_dims = {2, 6};
  expect_refused("input 0 `x` has 6 in dim 1 (n), which the model was built for 0 to 5");
  v.x_dims = {-1, 3};
  EXPECT_EQ(s.run(in, out), CAMEO_INVALID_ARGUMENT);
}

TEST_F(Bounded, RefusesInputsThatDisagree) {
  v.bias_dims = {2};
  expect_refused("input 1 `bias` has 2 in dim 0 (n), but input 0 `x` has 3 in dim 1; they must be equal");
  EXPECT_EQ(s.error.arg, 1);
}

TEST_F(Bounded, RefusesADimThatIsNotWhatTheOthersMake) {
  v.flat_dims = {5};
  expect_refused("input 2 `mask` has 5 in dim 0 (batch*n), which must be 6 at the sizes of the other dims");
  EXPECT_EQ(s.error.arg, 2);
}

TEST_F(Bounded, RefusesOtherRanksKindsAndTypes) {
  in[1] = value(v.bias, v.x_dims);
  expect_refused("input 1 `bias` has rank 2, the model declares f32[n=0..5]");
  in[1] = none();
  expect_refused("input 1 `bias` has kind 0, expected a tensor (1)");
  in = v.inputs();
  in[0].tensor.shape = nullptr;
  expect_refused("input 0 `x`: shape is null");
  in = v.inputs();
  in[0].tensor.dtype = {2, 64, 1};
  expect_refused("input 0 `x` has element type f64 (code 2, 64 bits, 1 lanes), the model declares f32");
  in.pop_back();
  EXPECT_EQ(s.run(in, out), CAMEO_INVALID_ARGUMENT);
  EXPECT_STREQ(s.error.message, "2 inputs given, the model has 3");
}

TEST_F(Bounded, AGivenOutputHasTheSizesOfTheRun) {
  Floats y(6), flat(6);
  out = {value(y, v.x_dims), value(flat, v.flat_dims), none(), none()};
  ASSERT_EQ(s.run(in, out), CAMEO_OK) << s.error.message;
  EXPECT_EQ(y, v.y);
  EXPECT_EQ(flat, v.flat);
  Dims other = {3, 3}, seven = {7};
  out[0] = value(y, other);
  EXPECT_EQ(s.run(in, out), CAMEO_INVALID_ARGUMENT);
  EXPECT_STREQ(s.error.message, "output 0 `y` has 3 in dim 0, which is 2 in this run");
  EXPECT_EQ(s.error.arg, 0);
  out[0] = none();
  out[1] = value(flat, seven);
  EXPECT_EQ(s.run(in, out), CAMEO_INVALID_ARGUMENT);
  EXPECT_STREQ(s.error.message, "output 1 `flat` has 7 in dim 0, which is 6 in this run");
}

TEST_F(Bounded, OverlapIsThatOfTheRun) {
  Floats both(32);
  in[0].tensor.data = both.data();
  out[0] = value(both, v.x_dims);
  out[0].tensor.data = both.data() + 5;
  EXPECT_EQ(s.run(in, out), CAMEO_INVALID_ARGUMENT);
  EXPECT_STREQ(s.error.message, "output 0 `y` overlaps input 0 `x`; give it a copy, or bind a state");
  out[0].tensor.data = both.data() + 6;
  EXPECT_EQ(s.run(in, out), CAMEO_OK) << s.error.message;
}

TEST_F(Bounded, NothingIsAllocatedInARun) {
  Counts counts;
  {
    Session<kSized<false>> counted(counting(counts));
    const int before = counts.allocations;
    for (int64_t batch : {1, 4}) expect_run(counted, batch, 5);
    EXPECT_EQ(counts.allocations, before);
    size_t bytes = 0;
    ASSERT_EQ(s.api.workspace_size(counted.model, nullptr, 0, &bytes, nullptr, &s.error), CAMEO_OK);
    size_t largest = 0;
    for (const auto& [memory, size] : counts.live) largest = std::max(largest, size);
    EXPECT_EQ(bytes, largest) << "the context's one block";
  }
  EXPECT_TRUE(counts.live.empty());
}

TEST_F(Bounded, StridedInputsAreStagedAtTheirBound) {
  Counts counts;
  Session<kSized<false>> counted(counting(counts));
  Floats transposed = {0, 3, 1, 4, 2, 5};
  Dims strides = {1, 2};
  in[0] = value(transposed, v.x_dims);
  in[0].tensor.strides = strides.data();
  EXPECT_EQ(counted.run(in, out), CAMEO_FAILED_PRECONDITION);
  ASSERT_EQ(s.api.prepare(counted.context, in.data(), 3, &s.error), CAMEO_OK) << s.error.message;
  const int before = counts.allocations;
  ASSERT_EQ(counted.run(in, out), CAMEO_OK) << counted.error.message;
  EXPECT_EQ(floats(out[0]), v.y);
  Values larger(4, 5);
  in = larger.inputs();
  Dims reversed = {5, -1};
  in[0].tensor.data = larger.x.data() + 4;
  in[0].tensor.strides = reversed.data();
  ASSERT_EQ(counted.run(in, out), CAMEO_OK) << counted.error.message;
  EXPECT_EQ(floats(out[0])[0], 2 * larger.x[4] + larger.bias[0]);
  EXPECT_EQ(counts.allocations, before);
}

/// What output_types says with room for the sizes.
template <class S>
cameo_status types(S& s, const std::vector<cameo_value>& in, std::vector<Dims>& sizes, std::vector<cameo_io>& ios,
                   int32_t room = 2) {
  sizes.assign(4, Dims(2, -7));
  ios.assign(4, cameo_io{});
  for (size_t i = 0; i < 4; ++i) {
    ios[i].struct_size = sizeof(cameo_io);
    ios[i].run_dims = sizes[i].data();
    ios[i].run_dim_count = room;
  }
  return s.api.output_types(s.model, in.empty() ? nullptr : in.data(), static_cast<int32_t>(in.size()), ios.data(), 4,
                            &s.error);
}

TEST_F(Bounded, TypesOfOutputsAreThoseOfTheInputsThatAreGiven) {
  std::vector<Dims> sizes;
  std::vector<cameo_io> ios;
  ASSERT_EQ(types(s, in, sizes, ios), CAMEO_OK) << s.error.message;
  EXPECT_EQ(ios[0].dims, sizes[0].data());
  EXPECT_EQ(ios[0].dim_min, sizes[0].data());
  EXPECT_EQ(ios[0].dim_max, sizes[0].data());
  EXPECT_EQ(sizes[0], (Dims{2, 3}));
  EXPECT_EQ(sizes[1], (Dims{6, -7}));
  EXPECT_EQ(sizes[3], (Dims{-7, -7})) << "has no dims";
  EXPECT_EQ(types(s, in, sizes, ios, 1), CAMEO_INVALID_ARGUMENT);
  EXPECT_STREQ(s.error.message, "output 0 `y` has 2 dims, run_dims has room for 1");
  ASSERT_EQ(types(s, {}, sizes, ios), CAMEO_OK);
  EXPECT_EQ(ios[0].dims[0], -1);
  EXPECT_EQ(ios[0].dim_max[0], 4);
  EXPECT_EQ(ios[0].run_dims, sizes[0].data());
  v.bias_dims = {4};
  EXPECT_EQ(types(s, in, sizes, ios), CAMEO_INVALID_ARGUMENT);
  EXPECT_EQ(std::string(s.error.message).substr(0, 14), "input 1 `bias`");
  EXPECT_EQ(s.api.output_types(s.model, in.data(), 2, ios.data(), 4, &s.error), CAMEO_INVALID_ARGUMENT);
}

TEST_F(Bounded, TypesForAnOlderCallerStayTheDeclaredOnes) {
  struct Old {
    char bytes[offsetof(cameo_io, run_dims)];
  };
  std::vector<Old> old(6);  // four, and room for the last one to be read as a newer one
  cameo_io* first = reinterpret_cast<cameo_io*>(old.data());
  first->struct_size = sizeof(Old);
  ASSERT_EQ(s.api.output_types(s.model, in.data(), 3, first, 4, &s.error), CAMEO_OK) << s.error.message;
  EXPECT_EQ(first->dims[0], -1);
  EXPECT_STREQ(reinterpret_cast<cameo_io*>(&old[3])->name, "rows");
}

struct Open : testing::Test {
  Counts counts;
  Session<kSized<true>> s{counting(counts)};
  Values v{2, 300};
  std::vector<cameo_value> in = v.inputs(), out = {owned(), owned(), owned(), owned()};
};

TEST_F(Open, MemoryGrowsWithTheLargestRun) {
  const int before = counts.allocations;
  expect_run(s, 2, 300);
  const int first = counts.allocations;
  EXPECT_EQ(first - before, 4) << "three outputs and the block";
  expect_run(s, 4, 100);
  expect_run(s, 1, 20);
  expect_run(s, 2, 300);
  EXPECT_EQ(counts.allocations, first);
  const size_t pieces = counts.live.size();
  expect_run(s, 4, 300);
  EXPECT_EQ(counts.allocations, first + 3) << "all but the columns";
  EXPECT_EQ(counts.live.size(), pieces) << "the smaller ones are gone";
}

TEST_F(Open, PrepareTakesItBeforehand) {
  ASSERT_EQ(s.api.prepare(s.context, in.data(), 3, &s.error), CAMEO_OK) << s.error.message;
  const int before = counts.allocations;
  expect_run(s, 2, 300);
  EXPECT_EQ(counts.allocations, before);
  EXPECT_EQ(s.api.prepare(s.context, nullptr, 0, &s.error), CAMEO_INVALID_ARGUMENT) << "it depends on the inputs";
  EXPECT_STREQ(s.error.message, "0 inputs given, the model has 3");
}

TEST_F(Open, WhatWasHandedOutMayBeGivenAgain) {
  ASSERT_EQ(s.run(in, out), CAMEO_OK);
  Values larger(4, 300);
  ASSERT_EQ(s.run(larger.inputs(), out), CAMEO_OK) << s.error.message;
  EXPECT_EQ(floats(out[0]), larger.y);
  EXPECT_EQ(floats(out[1]), larger.flat);
}

TEST_F(Open, OutputsOfTheCallerTakeNone) {
  const int before = counts.allocations;
  Floats y(600), flat(600), columns(300);
  out = {value(y, v.x_dims), value(flat, v.flat_dims), value(columns, v.bias_dims), owned()};
  ASSERT_EQ(s.run(in, out), CAMEO_OK) << s.error.message;
  EXPECT_EQ(counts.allocations - before, 1) << "the block";
  EXPECT_EQ(flat, v.flat);
}

TEST_F(Open, WorkspaceDependsOnTheInputs) {
  size_t bytes = 0, more = 0, alignment = 0;
  EXPECT_EQ(s.api.workspace_size(s.model, nullptr, 0, &bytes, &alignment, &s.error), CAMEO_INVALID_ARGUMENT);
  EXPECT_STREQ(s.error.message,
               "workspace_size: the model has sizes without an upper bound; give the inputs of a run in `in`");
  ASSERT_EQ(s.api.workspace_size(s.model, in.data(), 3, &bytes, &alignment, &s.error), CAMEO_OK) << s.error.message;
  EXPECT_EQ(alignment, 64u);
  Values larger(4, 300);
  std::vector<cameo_value> inputs = larger.inputs();
  ASSERT_EQ(s.api.workspace_size(s.model, inputs.data(), 3, &more, nullptr, &s.error), CAMEO_OK);
  const auto rounded = [](size_t n) { return (n + 63) / 64 * 64; };
  EXPECT_EQ(more - bytes, 3 * (rounded(4800) - rounded(2400))) << "y, flat and the block";
}

TEST_F(Open, StagingGrows) {
  Floats strided(1200 * 2);
  Dims strides = {2 * 300, 2};
  in[0] = value(strided, v.x_dims);
  in[0].tensor.strides = strides.data();
  EXPECT_EQ(s.run(in, out), CAMEO_FAILED_PRECONDITION);
  ASSERT_EQ(s.api.prepare(s.context, in.data(), 3, &s.error), CAMEO_OK);
  const int before = counts.allocations;
  EXPECT_EQ(s.run(in, out), CAMEO_OK);
  EXPECT_EQ(counts.allocations, before);
  Values larger(4, 300);
  in = larger.inputs();
  in[0] = value(strided, larger.x_dims);
  in[0].tensor.strides = strides.data();
  EXPECT_EQ(s.run(in, out), CAMEO_OK) << s.error.message;
}

TEST_F(Open, RefusesWhatNoTensorMayHave) {
  EXPECT_EQ(s.api.prepare(s.context, in.data(), 3, &s.error), CAMEO_OK);
  v.x_dims = {4, int64_t{1} << 39};
  v.bias_dims = {int64_t{1} << 39};
  EXPECT_EQ(s.run(in, out), CAMEO_INVALID_ARGUMENT);
  EXPECT_STREQ(s.error.message, "input 0 `x` would be larger than any tensor at these sizes");
  v.x_dims = {4, INT64_MAX};
  EXPECT_EQ(s.run(in, out), CAMEO_INVALID_ARGUMENT);
  EXPECT_STREQ(s.error.message,
               "input 0 `x` has 9223372036854775807 in dim 1 (n), which the model was built for 0 to 1099511627776");
  expect_run(s, 2, 3);
}

}  // namespace
