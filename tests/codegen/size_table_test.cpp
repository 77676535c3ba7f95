// The table of sizes of an artifact: symbols in the order of the inputs, then what outputs and kernels ask for.
#include "codegen/size_table.h"

#include <gtest/gtest.h>

#include "codegen/print_module.h"
#include "frontend/ir/operator.h"
#include "tests/support/road.h"

namespace cameo::test {
namespace {

const Expr kRows = symbol("rows", {1, 8}), kColumns = symbol("columns", {1, 16});

Module module_over_sizes() {
  Graph g;
  const ValueId x = g.add_input("x", Type(DType::f32, {Dim(kRows), Dim(kColumns), 3}));
  const ValueId y = g.add(get_operator("Relu"), {x})[0];
  g.add_output("y", g.add(get_operator("Flatten"), {y})[0]);
  return plan_graph(g, "model", *find_target("x86-64-v3"));
}

TEST(SizeTable, SymbolsComeFirstAndEachSizeStandsOnce) {
  const Module m = module_over_sizes();
  const SizeTable table(m, {{{kRows * kColumns}, {kColumns * kRows, kColumns}}});
  EXPECT_EQ(table.symbols(), 2u);
  EXPECT_EQ(table.place_of(kRows), 0u);
  EXPECT_EQ(table.place_of(kColumns), 1u);
  const Expr width = m.io.outputs[0].type.shape[1].extent();
  EXPECT_EQ(table.sizes(), (std::vector{kRows, kColumns, width, kRows * kColumns}));
  EXPECT_TRUE(computes_sizes(table));
  EXPECT_TRUE(SizeTable().empty());
}

TEST(SizeTable, IsFilledInByAFunctionBesideTheKernels) {
  const EmittedModule text = print_module(module_over_sizes(), 1);
  EXPECT_TRUE(text.host.empty());
  EXPECT_NE(text.kernels[0].back().text.find(kSizesSymbol), std::string::npos);
  EXPECT_NE(text.program.text.find(".symbol_count = 2"), std::string::npos);
  EXPECT_NE(text.program.text.find("{\"rows\", 1, 8}"), std::string::npos);
  EXPECT_NE(text.kernels[0][0].text.find("rt::size_at(call, 2)"), std::string::npos);
}

TEST(Sizes, AnIndexHasOneStrideForEachAxis) {
  Graph g;
  g.add_input("sizes", Type(DType::f32, {Dim(kRows), Dim(kColumns)}));
  const ValueId x = g.add_input("x", Type(DType::f32, {Dim(kRows), Dim(kColumns) + 2, 20}));
  const Attrs attrs{{"perm", std::vector<int64_t>{1, 0, 2}}};
  g.add_output("y", g.add(get_operator("Transpose"), {x}, attrs)[0]);
  const EmittedModule text = print_module(plan_graph(g, "model", *find_target("x86-64-v3")), 1);
  const std::string& file = text.kernels[0][0].text;
  const std::string kernel = file.substr(0, file.find("// The sizes of"));
  size_t products = 0;
  for (size_t at = 0; (at = kernel.find("rt::mul(", at)) != std::string::npos; ++at) ++products;
  EXPECT_EQ(products, 4u) << kernel;  // two outer axes of two operands, though one stride is 20 * columns + 40
}

TEST(Sizes, WhatANumberDividesIsKnownToTheKernel) {
  const EmittedModule text = print_module(module_over_sizes(), 1);
  EXPECT_NE(text.kernels[0][0].text.find("rt::multiple_of<3>("), std::string::npos) << text.kernels[0][0].text;
}

TEST(Sizes, LayersThatDifferInThemAloneAreOneFunction) {
  Graph g;
  for (const Expr size : {kRows, kColumns}) {
    const std::string name(symbol_name(size));
    const ValueId x = g.add_input(name, Type(DType::f32, {Dim(size), 3}));
    g.add_output("of_" + name, g.add(get_operator("Relu"), {x})[0]);
  }
  const Module m = plan_graph(g, "model", *find_target("x86-64-v3"));
  ASSERT_EQ(m.plans[0].kernels.size(), 2u);
  const EmittedModule text = print_module(m, 4);
  ASSERT_EQ(text.kernels[0].size(), 1u);
  const std::string first = m.plans[0].kernels[0].symbol, second = m.plans[0].kernels[1].symbol;
  EXPECT_NE(text.kernels[0][0].text.find("static void " + first), std::string::npos);
  EXPECT_EQ(text.kernels[0][0].text.find("static void " + second), std::string::npos);
  EXPECT_EQ(text.program.text.find(second + "_x86_64_v3"), std::string::npos);
}

}  // namespace
}  // namespace cameo::test
