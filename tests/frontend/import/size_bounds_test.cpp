// How far sizes without an end may go: as far as what the model computes of them leaves indices of 64 bits. And where
// ranges begin and end: where the model has a meaning.
#include <gtest/gtest.h>

#include "tests/frontend/import/onnx_writer.h"

namespace cameo {
namespace {
using namespace onnx_text;

constexpr int kFloat = 1;
constexpr Interval kOpenEnd{1, kOpen};

/// The bound of the sizes of the first axis of a model whose dims are open.
int64_t bound_of(const std::vector<Bytes>& nodes, const std::vector<Bytes>& inputs, std::vector<std::string> dims,
                 const std::vector<Bytes>& initializers = {}) {
  ImportOptions options;
  for (std::string& dim : dims) options.ranges[std::move(dim)] = kOpenEnd;
  Result r = import(model(GraphText{nodes, inputs, {value("y")}, initializers}, {opset("", 23)}), options);
  EXPECT_EQ(r.codes(), "") << r.text();
  const Expr extent = r.model.graph.type(r.model.graph.inputs()[0]).shape[0].extent();
  EXPECT_TRUE(is_open(extent));
  return static_cast<int64_t>(range_of(extent).high);
}

TEST(SizeBounds, ASoundMayBeLong) {
  EXPECT_GE(bound_of({node("Relu", {"x"}, {"y"})}, {value("x", kFloat, {-1, -1})}, {"x[0]", "x[1]"}), 1 << 28);
}
TEST(SizeBounds, ManySizesTakeNothingFromEachOther) {
  EXPECT_GE(bound_of({node("Relu", {"a"}, {"y"}), node("Relu", {"b"}, {"z"}), node("Relu", {"c"}, {"u"})},
                     {value("a", kFloat, {-1, -1}), value("b", kFloat, {-1, -1}), value("c", kFloat, {-1, -1})},
                     {"a[0]", "a[1]", "b[0]", "b[1]", "c[0]", "c[1]"}),
            1 << 28);
}
TEST(SizeBounds, AllPairsOfPixelsAreFewer) {  // 2^(5 * 11) of them fit
  const std::vector<Bytes> nodes{node("Reshape", {"x", "columns"}, {"c"}), node("Reshape", {"x", "rows"}, {"r"}),
                                 node("Mul", {"c", "r"}, {"y"})};
  EXPECT_EQ(bound_of(nodes, {value("x", kFloat, {-1, -1, -1})}, {"x[0]", "x[1]", "x[2]"},
                     {tensor<int64_t>("columns", 7, {3}, {0, -1, 1}), tensor<int64_t>("rows", 7, {3}, {0, 1, -1})}),
            1 << 11);
}
TEST(SizeBounds, WhatACompositeComputesCounts) {  // scores of 16 heads
  const Bytes y =
      node("Attention", {"x", "x", "x"}, {"y"}, {attr("q_num_heads", int64_t{16}), attr("kv_num_heads", int64_t{16})});
  EXPECT_EQ(bound_of({y}, {value("x", kFloat, {-1, -1, 64})}, {"x[0]", "x[1]"}), 1 << 18);
}

TEST(SizeBounds, AnImageIsNoSmallerThanAWindow) {
  const Bytes weights = tensor<float>("w", kFloat, {1, 1, 7}, {1, 1, 1, 1, 1, 1, 1});
  const auto range_in = [&](Interval range) {
    Result r = import(model(GraphText{{node("Conv", {"x", "w"}, {"a"}, {attr("strides", std::vector<int64_t>{2})}),
                                       node("Conv", {"a", "w"}, {"y"})},
                                      {value("x", kFloat, {1, 1, -1})},
                                      {value("y")},
                                      {weights}}),
                      {.ranges = {{"x[2]", range}}});
    EXPECT_EQ(r.codes(), "") << r.text();
    return range_of(r.model.graph.type(r.model.graph.inputs()[0]).shape[2].extent());
  };
  EXPECT_EQ(range_in(kOpenEnd).low, 19);
  EXPECT_EQ(range_in({30, kOpen}).low, 30);
  EXPECT_EQ(range_in({1, 64}), (Interval{1, 64}));  // as the flag says, of which a run hears from the node
}

TEST(SizeBounds, ThereAreNoMoreTokensThanPositions) {
  const Bytes positions = tensor<float>("p", kFloat, {5}, {1, 2, 3, 4, 5}),
              first = tensor<int64_t>("first", 7, {1}, {0});
  const std::vector<Bytes> nodes{node("Shape", {"x"}, {"tokens"}), node("Slice", {"p", "first", "tokens"}, {"q"}),
                                 node("Add", {"x", "q"}, {"y"})};
  const Bytes m = model(GraphText{nodes, {value("x", kFloat, {-1})}, {value("y")}, {positions, first}});
  Result r = import(m, {.ranges = {{"x[0]", kOpenEnd}}});
  EXPECT_EQ(r.codes(), "") << r.text();
  const Expr extent = r.model.graph.type(r.model.graph.inputs()[0]).shape[0].extent();
  EXPECT_EQ(range_of(extent), (Interval{1, 5}));
  EXPECT_TRUE(is_open(extent));
}

}  // namespace
}  // namespace cameo
