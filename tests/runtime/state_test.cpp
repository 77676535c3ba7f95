// States whose sizes only runs know: how they begin, grow, end at their bounds, and begin anew.
#include "tests/runtime/growing_program.h"
#include "tests/runtime/harness.h"

namespace {

using namespace programs;
using Floats = std::vector<float>;
using Dims = std::vector<int64_t>;

template <class T>
struct Growing : testing::Test {
  Counts counts;
  Session<T::value> s{counting(counts)};
  std::vector<cameo_value> out = {owned(), owned()};

  void SetUp() override { ASSERT_EQ(s.api.bind_state(s.context, 0, 0, &s.error), CAMEO_OK) << s.error.message; }

  /// One step with x[b] = value + 100 b and a mask of ones for `present` elements.
  cameo_status step(cameo_value past, float number, size_t present, int64_t batch = 1) {
    Floats x, mask(present, 1);
    for (int64_t b = 0; b < batch; ++b) x.push_back(number + 100 * static_cast<float>(b));
    Dims x_dims = {batch, 1}, mask_dims = {static_cast<int64_t>(present)};
    return s.run({past, value(x, x_dims), value(mask, mask_dims)}, out);
  }
  void expect(cameo_value past, float number, const Floats& present, int64_t batch = 1) {
    const size_t columns = present.size() / static_cast<size_t>(batch);
    ASSERT_EQ(step(past, number, columns, batch), CAMEO_OK) << s.error.message;
    const cameo_tensor& tensor = out[0].tensor;
    EXPECT_EQ(Dims(tensor.shape, tensor.shape + 2), (Dims{batch, static_cast<int64_t>(columns)}));
    const float* data = static_cast<const float*>(tensor.data);
    EXPECT_EQ(Floats(data, data + present.size()), present);
    float total = 0;
    for (size_t i = 0; i < columns; ++i) total += present[i];
    EXPECT_EQ(*static_cast<const float*>(out[1].tensor.data), total);
  }
};
template <const Program& kProgram>
struct Of {
  static constexpr const Program& value = kProgram;
};
using Programs =
    testing::Types<Of<kGrowing<false>>, Of<kGrowing<true>>, Of<kGrowing<false, true>>, Of<kGrowing<true, true>>>;
TYPED_TEST_SUITE(Growing, Programs);

TYPED_TEST(Growing, EveryRunReadsWhatTheOneBeforeLeft) {
  this->expect(none(), 1, {1});
  this->expect(none(), 2, {1, 2});
  this->expect(none(), 3, {1, 2, 3});
  this->expect(none(), 4, {1, 2, 3, 4});
}

TYPED_TEST(Growing, MayBeginWithATensorAndGoOnFromOne) {
  Floats past = {7, 8};
  Dims dims = {1, 2};
  this->expect(value(past, dims), 1, {7, 8, 1});
  this->expect(none(), 2, {7, 8, 1, 2});
  this->expect(value(past, dims), 3, {7, 8, 3});
  this->expect(none(), 4, {7, 8, 3, 4});
}

TYPED_TEST(Growing, ResetBeginsAnew) {
  this->expect(none(), 1, {1});
  this->expect(none(), 2, {1, 2});
  ASSERT_EQ(this->s.api.reset_state(this->s.context, &this->s.error), CAMEO_OK);
  this->expect(none(), 3, {3});
  this->expect(none(), 4, {3, 4});
  EXPECT_EQ(this->s.api.reset_state(nullptr, &this->s.error), CAMEO_INVALID_ARGUMENT);
}

TYPED_TEST(Growing, BeginsWithTheSizesOfTheOtherInputs) {
  this->expect(none(), 1, {1, 101, 201}, 3);
  this->expect(none(), 2, {1, 2, 101, 102, 201, 202}, 3);
  EXPECT_EQ(this->step(none(), 3, 3, 2), CAMEO_INVALID_ARGUMENT);
  EXPECT_STREQ(this->s.error.message,
               "input 1 `x` has 2 in dim 0 (batch), but input 0 `past` has 3 in dim 0; they must be equal");
  ASSERT_EQ(this->s.api.reset_state(this->s.context, &this->s.error), CAMEO_OK);
  this->expect(none(), 4, {4, 104}, 2);
}

TYPED_TEST(Growing, ARunThatFailsLeavesTheState) {
  this->expect(none(), 1, {1});
  EXPECT_EQ(this->step(none(), 2, 4), CAMEO_INVALID_ARGUMENT) << "a mask of another size";
  this->expect(none(), 3, {1, 3});
}

TYPED_TEST(Growing, WhatWasHandedOutMayBeGivenAgain) {
  for (const Floats& present : {Floats{5}, {5, 5}, {5, 5, 5}}) {
    this->expect(none(), 5, present);
    EXPECT_NE(this->out[0].tensor.data, nullptr);
  }
}

TYPED_TEST(Growing, ACopyMayBeTheCallers) {
  Floats first(1), second(2), total(1);
  Dims one = {1, 1}, two = {1, 2}, totals = {1};
  this->out = {value(first, one), value(total, totals)};
  ASSERT_EQ(this->step(none(), 4, 1), CAMEO_OK) << this->s.error.message;
  this->out[0] = value(second, two);
  ASSERT_EQ(this->step(none(), 6, 2), CAMEO_OK) << this->s.error.message;
  EXPECT_EQ(second, (Floats{4, 6}));
  EXPECT_EQ(total[0], 10);
}

TYPED_TEST(Growing, SurvivesAnyFailedAllocation) {
  bool failed = true;
  for (int budget = 0; failed; ++budget) {
    Counts counts;
    Session<TypeParam::value> s{counting(counts)};
    counts.budget = budget;
    Floats x = {1}, mask = {1};
    Dims x_dims = {1, 1}, mask_dims = {1};
    std::vector<cameo_value> out = {owned(), owned()}, in = {none(), value(x, x_dims), value(mask, mask_dims)};
    cameo_status status = s.api.bind_state(s.context, 0, 0, &s.error);
    const bool bound = !status;
    if (bound) status = s.run(in, out);
    failed = status == CAMEO_OUT_OF_MEMORY;
    EXPECT_TRUE(!status || failed) << s.error.message;
    counts.budget = 1 << 30;
    if (failed && !bound) status = s.api.bind_state(s.context, 0, 0, &s.error);
    if (failed) status = s.run(in, out);
    EXPECT_EQ(status, CAMEO_OK) << s.error.message;
    EXPECT_EQ(out[0].tensor.shape[1], 1);
  }
}

using GrowingBounded = Growing<Of<kGrowing<false>>>;
using GrowingOpen = Growing<Of<kGrowing<true>>>;
using BoundedInPlace = Growing<Of<kGrowing<false, true>>>;
using OpenInPlace = Growing<Of<kGrowing<true, true>>>;

/// Where the state stands behind a run whose `present` the context does not hand out.
template <class T>
const void* place_of(T& test, size_t length) {
  test.out[0] = none();
  EXPECT_EQ(test.step(none(), 1, length), CAMEO_OK) << test.s.error.message;
  return test.s.context->bindings[0].blocks[0].memory;
}

TEST_F(BoundedInPlace, StaysWhereItIs) {
  expect(none(), 1, {1});
  const void* place = place_of(*this, 2);
  for (size_t length = 3; length <= 6; ++length) EXPECT_EQ(place_of(*this, length), place);
  EXPECT_EQ(step(none(), 7, 7), CAMEO_INVALID_ARGUMENT);
  Floats past = {7, 8};
  Dims dims = {1, 2};
  out[0] = owned();
  expect(value(past, dims), 1, {7, 8, 1});
  expect(none(), 2, {7, 8, 1, 2});
}

TEST_F(BoundedInPlace, RowsStayApart) {
  expect(none(), 1, {1, 101, 201}, 3);
  expect(none(), 2, {1, 2, 101, 102, 201, 202}, 3);
  expect(none(), 3, {1, 2, 3, 101, 102, 103, 201, 202, 203}, 3);
}

TEST_F(OpenInPlace, MovesWhenItIsFull) {
  const int before = counts.allocations;
  Floats present;
  const void* place = nullptr;
  int moves = 0;
  for (int number = 0; number < 1000; ++number) {
    present.push_back(static_cast<float>(number % 10));
    expect(none(), present.back(), present);
    const void* now = s.context->bindings[0].blocks[0].memory;
    moves += now != place;
    place = now;
  }
  EXPECT_LT(moves, 40);
  EXPECT_LT(counts.allocations - before, 60);
}

TEST_F(OpenInPlace, MayBePreparedInBetween) {
  expect(none(), 1, {1, 101}, 2);
  expect(none(), 2, {1, 2, 101, 102}, 2);
  Floats x = {1, 1}, mask = {1, 1, 1};
  Dims x_dims = {2, 1}, three = {3};
  const std::vector<cameo_value> in = {none(), value(x, x_dims), value(mask, three)};
  EXPECT_EQ(s.api.prepare(s.context, in.data(), 3, &s.error), CAMEO_OK) << s.error.message;
  expect(none(), 3, {1, 2, 3, 101, 102, 103}, 2);
  expect(none(), 4, {1, 2, 3, 4, 101, 102, 103, 104}, 2);
}

TEST_F(GrowingBounded, EndsAtTheBoundOfTheInput) {
  const int before = counts.allocations;
  Floats present;
  for (float number : {1.f, 2.f, 3.f, 4.f, 5.f, 6.f}) {
    present.push_back(number);
    expect(none(), number, present);
  }
  EXPECT_EQ(counts.allocations, before) << "bind_state took the largest";
  for (int round = 0; round < 2; ++round) {
    EXPECT_EQ(step(none(), 7, 7), CAMEO_INVALID_ARGUMENT);
    EXPECT_STREQ(s.error.message, "input 0 `past` has 6 in dim 1 (past), which the model was built for 0 to 5");
  }
  Floats past = {1};
  Dims dims = {1, 1};
  expect(value(past, dims), 2, {1, 2});
  expect(none(), 3, {1, 2, 3});
}

TEST_F(GrowingBounded, PrepareKnowsTheState) {
  Floats x = {1}, mask = {1, 1};
  Dims x_dims = {1, 1}, two = {2};
  expect(none(), 1, {1});
  const std::vector<cameo_value> in = {none(), value(x, x_dims), value(mask, two)};
  EXPECT_EQ(s.api.prepare(s.context, in.data(), 3, &s.error), CAMEO_OK) << s.error.message;
  expect(none(), 2, {1, 2});
}

TEST_F(GrowingOpen, MemoryGrowsSeldom) {
  const int before = counts.allocations;
  Floats present;
  for (int number = 0; number < 1000; ++number) {
    present.push_back(static_cast<float>(number % 10));
    expect(none(), present.back(), present);
  }
  EXPECT_LT(counts.allocations - before, 50);
}

TEST(GrowingTypes, OfOtherSizesIsRefusedByItsRun) {
  Session<kGrowing<false>> s;
  EXPECT_EQ(s.api.bind_state(s.context, 1, 0, &s.error), CAMEO_INVALID_ARGUMENT);
  EXPECT_STREQ(s.error.message, "output `total` is f32[batch=1..3], but input `past` is f32[batch=1..3,past=0..5]");
  ASSERT_EQ(s.api.bind_state(s.context, 0, 1, &s.error), CAMEO_OK) << s.error.message;
  Floats past = {1}, mask = {1, 1};
  Dims dims = {1, 1}, two = {2};
  std::vector<cameo_value> in = {value(past, dims), none(), value(mask, two)}, out = {owned(), owned()};
  ASSERT_EQ(s.run(in, out), CAMEO_OK) << s.error.message;
  in[1] = none();
  EXPECT_EQ(s.run(in, out), CAMEO_INVALID_ARGUMENT);
  EXPECT_STREQ(s.error.message, "input 1 `x` is f32[1,2], the model declares f32[batch=1..3,1]: dim 1 differs");
}

}  // namespace
