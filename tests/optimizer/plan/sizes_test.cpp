// Plans over sizes that only a run knows: one plan, bound to a size, computes what the interpreter does with that size.
#include "tests/support/sizes.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <set>
#include <sstream>

#include "optimizer/choose/family.h"
#include "optimizer/plan/bind_plan.h"
#include "optimizer/plan/run_plan.h"
#include "tests/support/graph_text.h"
#include "tests/support/road.h"
#include "tests/support/tensor_text.h"

namespace cameo::test {
namespace {

/// Sizes of inputs' axes by name: {"x", {"N", ""}} has a size N on the first axis, and keeps its second; "P+S" is a
/// sum.
using Axes = std::map<std::string, std::vector<std::string>>;

constexpr int64_t kOpenEnd = 1 << 15;

/// The graph with symbols in place of some of its inputs' dims.
Graph with_axes(const Graph& g, const Axes& axes, const DimBounds& bounds, bool open) {
  return over_sizes(g, [&](size_t input, size_t axis, int64_t extent) {
    const auto of_input = axes.find(g.input_name(static_cast<int>(input)));
    std::istringstream names(of_input == axes.end() ? "" : of_input->second[axis]);
    Dim sum(names.str().empty() ? extent : 0);
    for (std::string name; std::getline(names, name, '+');)
      sum = sum + Dim(symbol(name, {bounds.at(name).low, open ? kOpenEnd : bounds.at(name).high}, open));
    return sum;
  });
}

std::vector<Tensor> inputs_of(const Graph& g) {
  std::vector<Tensor> inputs;
  for (ValueId v : g.inputs())
    inputs.push_back(parse_tensor(fmt::format("{} = rand:{}", to_string(g.type(v)), 7 + v.index)));
  return inputs;
}

struct Sizes {
  Axes axes;
  DimBounds bounds;
  std::vector<DimBinding> tried;
};

void check(const Graph& g, const Sizes& sizes, const std::vector<std::string_view>& families) {
  std::set<std::string_view> chosen;
  for (const Target& target :
       {*find_target("x86-64-v3"), *find_target("x86-64-v4"), *find_target("x86-64-v4-amx"), gpu_target({"ptx"})}) {
    const Module m = plan_graph(g, "", target);
    for (const Kernel& k : m.plans[0].kernels) chosen.insert(k.family->name());
    for (const DimBinding& size : sizes.tried) {
      const Graph bound = bind_dims(g, size);
      const std::vector<Tensor> inputs = inputs_of(bound);
      EXPECT_EQ(differences(run_at(m, size, inputs), interpret(bound, inputs)), "")
          << to_string(bound) << to_string(m.plans[0], *m.sources, true);
    }
  }
  for (std::string_view family : families) EXPECT_TRUE(chosen.contains(family)) << family;
}

/// Plans once for all sizes within the bounds, and once for those without an upper one, and runs the plans at those
/// that are tried. `families`: that have kernels in a plan for one of the targets.
void check(const std::vector<std::string>& lines, const Sizes& sizes, const std::vector<std::string_view>& families) {
  const Graph g = parse_model(lines).graph;
  check(with_axes(g, sizes.axes, sizes.bounds, false), sizes, families);
  check(with_axes(g, sizes.axes, sizes.bounds, true), sizes, {});
}

const Sizes kBatch{{{"x", {"N", ""}}}, {{"N", {1, 32}}}, {{{"N", 1}}, {{"N", 32}}, {{"N", 7}}, {{"N", 13}}}};

TEST(Sizes, ElementwiseOverABatch) {
  check({"input x f32[2x12]", "const b f32[12] = rand:1", "a = Add(x, b)", "y = Relu(a)", "output y"}, kBatch,
        {"nest"});
}
TEST(Sizes, Perceptron) {
  check({"input x f32[2x12]", "const v f32[12x40] = rand:1", "const b f32[40] = rand:2", "a = Gemm(x, v, b)",
         "c = Relu(a)", "const w f32[40x10] = rand:3", "d = MatMul(c, w)", "y = Softmax(d)", "output y"},
        kBatch, {"contract"});
}

const Sizes kImages{{{"x", {"N", "", "H", "W"}}},
                    {{"N", {1, 3}}, {"H", {4, 40}}, {"W", {4, 40}}},
                    {{{"N", 1}, {"H", 4}, {"W", 4}},
                     {{"N", 2}, {"H", 5}, {"W", 17}},
                     {{"N", 1}, {"H", 23}, {"W", 8}},
                     {{"N", 3}, {"H", 40}, {"W", 40}}}};

TEST(Sizes, RowsByWeightsInParts) {
  const Sizes rows{{{"x", {"N", ""}}}, {{"N", {1, 512}}}, {{{"N", 1}}, {{"N", 15}}, {{"N", 100}}}};
  check({"input x f32[2x128]", "const w f32[128x160] = rand:1", "a = MatMul(x, w)", "y = Relu(a)", "output y"}, rows,
        {"bf16x3"});
}
TEST(Sizes, DepthwiseConvolutionAndPool) {
  check({"input x f32[1x5x8x8]", "const v f32[24x5x1x1] = rand:1", "a = Conv(x, v)", "const w f32[24x1x3x3] = rand:2",
         "b = Conv(a, w) group=24 pads=[1, 1, 1, 1]", "c = Relu(b)",
         "y = MaxPool(c) kernel_shape=[2, 2] strides=[2, 2]", "output y"},
        kImages, {"window", "contract"});
}
TEST(Sizes, ColumnsOfAWindow) {
  check({"input x f32[1x1x8x8]", "const w f32[1x1x3x3] = rand:2", "a = Conv(x, w) pads=[1, 1, 1, 1]", "y = Sigmoid(a)",
         "output y"},
        kImages, {"window"});
}
TEST(Sizes, TermsOfAWindow) {  // a few rows of weights by values of a cache
  const Sizes caches{
      {{"w", {"", "", "P"}}, {"v", {"", "P", ""}}}, {{"P", {1, 300}}}, {{{"P", 1}}, {{"P", 37}}, {{"P", 300}}}};
  check({"input w f32[12x1x9]", "input v f32[12x9x64]", "a = Relu(v)", "y = MatMul(w, a)", "output y"}, caches,
        {"window"});
}
TEST(Sizes, PoolOfOddSizes) {
  check({"input x f32[1x20x8x8]", "y = AveragePool(x) kernel_shape=[3, 3] strides=[2, 2] pads=[1, 1, 1, 1] ceil_mode=1",
         "output y"},
        kImages, {});
}

TEST(Sizes, ConvolutionInGroups) {
  const Sizes sounds{{{"x", {"N", "", "L"}}},
                     {{"N", {1, 3}}, {"L", {5, 90}}},
                     {{{"N", 1}, {"L", 5}}, {{"N", 2}, {"L", 37}}, {{"N", 3}, {"L", 90}}}};
  check({"input x f32[1x48x16]", "const w f32[48x24x9] = rand:1", "const b f32[48] = rand:2",
         "a = Conv(x, w, b) group=2 pads=[4, 4]", "c = Add(a, x)", "const v f32[48x4x4] = rand:3",
         "y = Conv(c, v) group=12", "output y"},
        sounds, {"grouped"});
}
TEST(Sizes, TransposeOnAGpu) {
  const Sizes rows{{{"x", {"N", "", "L"}}},
                   {{"N", {1, 3}}, {"L", {1, 70}}},
                   {{{"N", 1}, {"L", 1}}, {{"N", 2}, {"L", 33}}, {{"N", 3}, {"L", 70}}}};
  check({"input x f32[1x40x16]", "a = Transpose(x) perm=[0, 2, 1]", "y = Exp(a)", "output y"}, rows, {"transpose"});
}
TEST(Sizes, UpdatesOfTheLargest) {
  const Sizes rows{{{"x", {"N", "L"}}},
                   {{"N", {1, 32}}, {"L", {3, 20}}},
                   {{{"N", 1}, {"L", 3}}, {{"N", 7}, {"L", 20}}, {{"N", 32}, {"L", 11}}}};
  check({"input x f32[2x12]", "const k i64[1] = 3", "v, i = TopK(x, k) axis=1", "u = Neg(v)",
         "y = ScatterElements(x, i, u) axis=1", "output y", "output i"},
        rows, {"opaque", "scatter"});
}

TEST(Sizes, AttentionWithACache) {
  const Sizes tokens{{{"q", {"N", "", "S", ""}},
                      {"k", {"N", "", "S", ""}},
                      {"v", {"N", "", "S", ""}},
                      {"pk", {"N", "", "P", ""}},
                      {"pv", {"N", "", "P", ""}},
                      {"m", {"N", "", "S", "P+S"}}},
                     {{"N", {1, 3}}, {"S", {1, 20}}, {"P", {0, 150}}},
                     {{{"N", 1}, {"S", 1}, {"P", 0}},
                      {{"N", 2}, {"S", 1}, {"P", 33}},
                      {{"N", 1}, {"S", 7}, {"P", 150}},
                      {{"N", 3}, {"S", 20}, {"P", 1}}}};
  const std::vector<std::string> inputs = {"input q f32[1x4x5x32]", "input k f32[1x2x5x32]", "input v f32[1x2x5x24]",
                                           "input pk f32[1x2x9x32]", "input pv f32[1x2x9x24]"};
  const auto with = [&](std::vector<std::string> lines) {
    lines.insert(lines.begin(), inputs.begin(), inputs.end());
    return lines;
  };
  check(with({"y, nk, nv = Attention(q, k, v, -, pk, pv) is_causal=1", "output y", "output nk", "output nv"}), tokens,
        {"attention"});
  check(with({"input m f32[1x1x5x14]", "y, nk, nv = Attention(q, k, v, m, pk, pv)", "output y", "output nk",
              "output nv"}),
        tokens, {"attention"});
}
TEST(Sizes, AttentionOfFlatHeads) {
  const Sizes tokens{
      {{"q", {"N", "S", ""}}, {"k", {"N", "T", ""}}, {"v", {"N", "T", ""}}},
      {{"N", {1, 3}}, {"S", {1, 40}}, {"T", {1, 300}}},
      {{{"N", 1}, {"S", 1}, {"T", 1}}, {{"N", 2}, {"S", 13}, {"T", 300}}, {{"N", 3}, {"S", 40}, {"T", 129}}}};
  check({"input q f32[1x64x128]", "input k f32[1x64x64]", "input v f32[1x64x64]",
         "y = Attention(q, k, v) q_num_heads=4 kv_num_heads=2", "output y"},
        tokens, {"attention"});
}

TEST(Sizes, WhatBroadcastsIsRequired) {
  const Sizes sizes{{{"x", {"N", ""}}, {"y", {"M", ""}}},
                    {{"N", {1, 9}}, {"M", {1, 9}}},
                    {{{"N", 3}, {"M", 3}}, {{"N", 1}, {"M", 4}}, {{"N", 5}, {"M", 1}}, {{"N", 1}, {"M", 1}}}};
  const std::vector<std::string> lines = {"input x f32[2x4]", "input y f32[2x4]", "z = Add(x, y)", "output z"};
  check(lines, sizes, {"nest"});
  const Graph g = with_axes(parse_model(lines).graph, sizes.axes, sizes.bounds, false);
  const Module m = plan_graph(g, "", *find_target("x86-64-v3"));
  EXPECT_TRUE(runs_at(m.plans[0], {{"N", 1}, {"M", 4}}));
  EXPECT_FALSE(runs_at(m.plans[0], {{"N", 2}, {"M", 4}}));
}
TEST(Sizes, WindowsThatDoNotFitAreRefused) {
  const Sizes sizes{{{"x", {"", "", "N"}}}, {{"N", {1, 20}}}, {{{"N", 5}}, {{"N", 20}}, {{"N", 6}}}};
  const std::vector<std::string> lines = {"input x f32[1x2x9]", "const w f32[3x2x5] = rand:1", "y = Conv(x, w)",
                                          "output y"};
  check(lines, sizes, {});
  const Graph g = with_axes(parse_model(lines).graph, sizes.axes, sizes.bounds, false);
  const Module m = plan_graph(g, "", *find_target("x86-64-v3"));
  EXPECT_TRUE(runs_at(m.plans[0], {{"N", 5}}));
  EXPECT_FALSE(runs_at(m.plans[0], {{"N", 4}}));
}
TEST(Sizes, WindowsOfOneBufferBeginWhereSizesSay) {
  check({"input x f32[2x3x4x31]", "p = AveragePool(x) kernel_shape=[3, 3] pads=[0, 0, 1, 2]",
         "y = Concat(p, p) axis=-3", "output y"},
        {{{"x", {"", "", "H", "W"}}},
         {{"H", {3, 9}}, {"W", {3, 40}}},
         {{{"H", 3}, {"W", 3}}, {{"H", 9}, {"W", 40}}, {{"H", 4}, {"W", 31}}}},
        {});
}
TEST(Sizes, AnAxisWithoutElementsHasNoneToTake) {
  for (const std::vector<std::string>& lines :
       {std::vector<std::string>{"input x f32[5]", "const b i64[1] = [4]", "const e i64[1] = [9]", "s = Slice(x, b, e)",
                                 "input i i64[1]", "y = GatherND(s, i)", "output y"},
        {"input x f32[5]", "const b i64[1] = [4]", "const e i64[1] = [9]", "s = Slice(x, b, e)", "input i i64[2]",
         "y = Gather(s, i)", "output y"},
        {"input x f32[5]", "const b i64[1] = [4]", "const e i64[1] = [9]", "s = Slice(x, b, e)", "y = ArgMin(s) axis=0",
         "output y"}}) {
    const Graph g = with_axes(parse_model(lines).graph, {{"x", {"N"}}, {"i", {""}}}, {{"N", {1, 9}}}, false);
    const Module m = plan_graph(g, "", *find_target("x86-64-v3"));
    EXPECT_TRUE(runs_at(m.plans[0], {{"N", 5}})) << lines.back();
    EXPECT_FALSE(runs_at(m.plans[0], {{"N", 4}})) << lines.back();
    EXPECT_THROW(bind_dims(g, DimBinding{{"N", 4}}), CompileError) << lines.back();
  }
}
TEST(Sizes, StepsSideBySideWithoutPoints) {  // then what they touch may be beyond their buffers
  const Sizes from_none{{{"x", {"N", "S", ""}}},
                        {{"N", {1, 3}}, {"S", {0, 9}}},
                        {{{"N", 1}, {"S", 0}}, {{"N", 3}, {"S", 9}}, {{"N", 2}, {"S", 1}}}};
  check({"input x f32[2x5x16]", "const w f32[16x96] = rand:1", "m = MatMul(x, w)",
         "const parts i64[5] = [0, 0, 4, 3, 8]", "r = Reshape(m, parts)", "const i i64[] = 0", "const j i64[] = 1",
         "const l i64[] = 2", "q = Gather(r, i) axis=3", "k = Gather(r, j) axis=3", "v = Gather(r, l) axis=3",
         "a = Transpose(q) perm=[0, 2, 1, 3]", "b = Transpose(k) perm=[0, 2, 3, 1]",
         "c = Transpose(v) perm=[0, 2, 1, 3]", "s = MatMul(a, b)", "p = Softmax(s)", "y = MatMul(p, c)", "output y"},
        from_none, {});
}
TEST(Sizes, CutsOfAxes) {
  const Sizes caches{{{"p", {"N", "", "P", ""}}, {"x", {"N", "", "S", ""}}},
                     {{"N", {1, 3}}, {"P", {0, 40}}, {"S", {1, 5}}},
                     {{{"N", 1}, {"P", 0}, {"S", 1}},
                      {{"N", 2}, {"P", 1}, {"S", 5}},
                      {{"N", 1}, {"P", 17}, {"S", 3}},
                      {{"N", 3}, {"P", 40}, {"S", 5}}}};
  check({"input p f32[1x4x6x32]", "input x f32[1x4x2x32]", "a = Neg(x)", "y = Concat(p, a) axis=2",
         "b = Transpose(y) perm=[0, 1, 3, 2]", "z = MatMul(a, b)", "output y", "output z"},
        caches, {"contract"});
}
TEST(Sizes, TransposedConvolution) {
  check({"input x f32[1x6x8x8]", "const w f32[6x5x4x4] = rand:1",
         "y = ConvTranspose(x, w) strides=[2, 2] pads=[1, 1, 1, 1]", "output y"},
        kImages, {"contract"});
}
TEST(Sizes, HeadsBesideABatch) {
  const Sizes tokens{{{"x", {"N", "S", ""}}},
                     {{"N", {1, 4}}, {"S", {1, 30}}},
                     {{{"N", 1}, {"S", 1}}, {{"N", 3}, {"S", 17}}, {{"N", 4}, {"S", 30}}}};
  check({"input x f32[2x5x24]", "const h i64[4] = [0, 0, 6, 4]", "a = Reshape(x, h)",
         "b = Transpose(a) perm=[0, 2, 1, 3]", "y = Relu(b)", "output y"},
        tokens, {"nest"});
}
TEST(Sizes, StepsOnTheProcessorBesideAGpu) {
  const Graph fixed =
      parse_model({"input x f32[2x12]", "a = Exp(x)", "b = Softmax(a)", "y = Relu(b)", "output y"}).graph;
  const Graph g = with_axes(fixed, kBatch.axes, kBatch.bounds, false);
  const Module m = plan_graph(g, "", gpu_target({"ptx"}), {"b"});
  EXPECT_GT(steps_on_host(m.plans[0]), 0);
  for (const DimBinding& size : kBatch.tried) {
    const Graph bound = bind_dims(g, size);
    const std::vector<Tensor> inputs = inputs_of(bound);
    EXPECT_EQ(differences(run_at(m, size, inputs), interpret(bound, inputs)), "") << to_string(m.plans[0], *m.sources);
  }
}

}  // namespace
}  // namespace cameo::test
