// What the text of a kernel says beyond its expressions.
#include "codegen/print_kernel.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "frontend/ir/operator.h"
#include "tests/support/road.h"

namespace cameo::test {
namespace {

/// x * w * 0.5 + 1 of [3, 32] and [32, 16], the sum of integers made floats, or of floats: its kernels' text.
std::string scaled_product(DType rows, DType weights) {
  Graph g;
  const auto op = [&](const char* name, std::vector<ValueId> in, Attrs attrs = {}) {
    return g.add(get_operator(name), std::move(in), std::move(attrs))[0];
  };
  Tensor w(weights, {32, 16});
  for (int64_t i = 0; i < w.size(); ++i) is_float(weights) ? w.set(i, 0.25) : w.set_int(i, i % 7);
  const ValueId x = g.add_input("x", {rows, {3, 32}}), b = g.constant(std::move(w));
  ValueId y = is_float(rows) ? op("MatMul", {x, b}) : op("MatMulInteger", {x, b});
  if (!is_float(rows)) y = op("Cast", {y}, {{"to", static_cast<int64_t>(DType::f32)}});
  y = op("Mul", {y, g.constant(Tensor::scalar(DType::f32, 0.5))});
  g.add_output("y", op("Add", {y, g.constant(Tensor::scalar(DType::f32, 1))}));
  const Module m = plan_graph(g);
  std::string text;
  for (const Kernel& k : m.plans[0].kernels) text += print_body(k).text;
  return text;
}

TEST(PrintedKernel, FusesScaleAndBiasOfASumOfIntegersAlone) {
  EXPECT_NE(scaled_product(DType::u8, DType::i8).find("rt::fma("), std::string::npos);
  EXPECT_EQ(scaled_product(DType::f32, DType::f32).find("rt::fma("), std::string::npos);
}

/// The bodies of x * w * f + 1, [3, 32] by [32, 16], for each factor f, each of an x of its own.
std::vector<KernelBody> scaled_products(std::initializer_list<double> factors) {
  Graph g;
  const auto op = [&](const char* name, std::vector<ValueId> in) { return g.add(get_operator(name), in)[0]; };
  const auto number = [&](double x) { return g.constant(Tensor::scalar(DType::f32, x)); };
  const ValueId w = g.add_input("w", {DType::f32, {32, 16}});
  for (double f : factors) {
    const ValueId x = g.add_input(fmt::format("x{}", f), {DType::f32, {3, 32}});
    g.add_output(fmt::format("y{}", f), op("Add", {op("Mul", {op("MatMul", {x, w}), number(f)}), number(1)}));
  }
  return print_bodies(plan_graph(g).plans[0].kernels);
}

TEST(PrintedKernel, OfLayersThatDifferInConstantsIsOneWithParameters) {
  const std::vector<KernelBody> shared = scaled_products({0.3, 0.7});
  ASSERT_EQ(shared.size(), 2u);
  EXPECT_EQ(shared[0].text, shared[1].text);
  EXPECT_EQ(shared[1].function, 0u);
  EXPECT_NE(shared[0].text.find("1.0f"), std::string::npos);  // which both have
  for (int i : {0, 1}) {
    ASSERT_EQ(shared[i].parameters.size(), 1u);
    EXPECT_FLOAT_EQ(static_cast<float>(shared[i].parameters[0].float_value()), i == 0 ? 0.3f : 0.7f);
  }
  const KernelBody alone = scaled_products({0.3})[0];
  EXPECT_TRUE(alone.parameters.empty());
  EXPECT_NE(alone.text.find("0.3f"), std::string::npos);
}

/// The bodies of softmax over rows of these lengths.
std::vector<KernelBody> softmax_of_rows(std::initializer_list<int64_t> lengths) {
  Graph g;
  for (int64_t length : lengths) {
    const ValueId x = g.add_input(fmt::format("x{}", length), {DType::f32, {40, length}});
    g.add_output(fmt::format("y{}", length), g.add(get_operator("Softmax"), {x})[0]);
  }
  return print_bodies(plan_graph(g).plans[0].kernels);
}

TEST(PrintedKernel, OfRowsThatDifferInLengthIsOneWhereTheyAreWholeVectors) {
  const std::vector<KernelBody> shared = softmax_of_rows({64, 4096, 66});
  ASSERT_EQ(shared.size(), 3u);
  EXPECT_EQ(shared[1].function, 0u);
  EXPECT_EQ(shared[2].function, 2u);
  ASSERT_EQ(shared[1].parameters.size(), 1u) << shared[1].text;
  EXPECT_EQ(shared[1].parameters[0].int_value(), 4096);
  EXPECT_NE(shared[0].text.find("rt::multiple_of<16>(p0), rt::extents(40l)"), std::string::npos) << shared[0].text;
  EXPECT_NE(shared[2].text.find("rt::c<66>"), std::string::npos) << shared[2].text;
  EXPECT_NE(softmax_of_rows({64})[0].text.find("rt::c<64>"), std::string::npos);
}

/// The kernels that write the zeros around a map of 64 channels, size x size, whose windows of 3 x 3 are summed up.
std::string borders_of_map(int64_t size) {
  Graph g;
  const ValueId x = g.add_input("x", {DType::f32, {1, 64, size, size}});
  const ValueId w = g.constant(Tensor(DType::f32, {8, 64, 3, 3}));
  g.add_output("y", g.add(get_operator("Conv"), {x, w}, {{"pads", std::vector<int64_t>{1, 1, 1, 1}}})[0]);
  const Module m = plan_graph(g);
  Writer text;
  for (const Kernel& k : m.plans[0].kernels)
    if (k.title == "Border") print_kernel(text, k, print_body(k), *m.sources);
  return text.take();
}

TEST(PrintedKernel, OfABorderThatTakesNextToNoTimeHasOneChunk) {
  const std::string small = borders_of_map(8), large = borders_of_map(1024);
  EXPECT_NE(small.find("RT_OPTIMIZE_FOR_SIZE"), std::string::npos) << small;
  EXPECT_NE(small.find("call.chunk = 0, call.chunks = 1;"), std::string::npos) << small;
  EXPECT_NE(large.find("_border(const rt::RowCall& call)"), std::string::npos) << large;
}

}  // namespace
}  // namespace cameo::test
