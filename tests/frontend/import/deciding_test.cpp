// Inputs whose elements decide shapes: which ones the importer makes symbols for, and what it says of the others.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "frontend/reference/interpret.h"
#include "tests/frontend/import/onnx_writer.h"

namespace cameo {
namespace {
using namespace onnx_text;

constexpr int kFloat = 1, kInt64 = 7, kUint64 = 13;

Bytes of_nodes(const std::vector<Bytes>& nodes, const std::vector<Bytes>& inputs,
               const std::vector<Bytes>& initializers = {}) {
  return model(GraphText{nodes, inputs, {value("y")}, initializers});
}
/// The names of the symbols that stand for the elements of an input; empty where it decides nothing.
std::vector<std::string> symbols_of(const Model& m, int input) {
  std::vector<std::string> names;
  for (Expr e : m.graph[m.graph.inputs()[input]].content)
    if (const auto symbol = symbol_of_element(e)) names.emplace_back(symbol_name(*symbol));
  return names;
}
using Names = std::vector<std::string>;

Tensor ints(const std::vector<int64_t>& of) {
  Tensor t(DType::i64, {static_cast<int64_t>(of.size())});
  for (size_t i = 0; i < of.size(); ++i) t.set_int(static_cast<int64_t>(i), of[i]);
  return t;
}

TEST(ImportDeciding, AShapeIsReadOffItsElements) {
  Result r = import(
      of_nodes({node("Reshape", {"x", "shape"}, {"y"})}, {value("x", kFloat, {2, 3}), value("shape", kInt64, {2})}));
  EXPECT_EQ(r.codes(), "") << r.text();
  EXPECT_EQ(symbols_of(r.model, 0), Names());
  EXPECT_EQ(symbols_of(r.model, 1), (Names{"shape:0", "shape:1"}));
  for (const auto& shape : {std::vector<int64_t>{3, 2}, {6, -1}, {0, 3}}) {
    const Tensor y = interpret(r.model.graph, std::vector{floats({2, 3}, {1, 2, 3, 4, 5, 6}), ints(shape)}).rounded[0];
    EXPECT_EQ(y.dims()[0] * y.dims()[1], 6);
  }
}

TEST(ImportDeciding, ValuesThatAreSharedAreLookedAtOnce) {  // 2^60 paths lead to `shape`
  std::vector<Bytes> nodes{node("Add", {"shape", "shape"}, {"s0"})};
  for (int i = 1; i < 60; ++i) {
    const std::string from = fmt::format("s{}", i - 1);
    nodes.push_back(node("Add", {from, from}, {fmt::format("s{}", i)}));
  }
  nodes.push_back(node("Min", {"s59", "four"}, {"s"}));
  nodes.push_back(node("Expand", {"x", "s"}, {"y"}));
  Result r = import(of_nodes(nodes, {value("x", kFloat, {1}), value("shape", kInt64, {1})},
                             {tensor<int64_t>("four", kInt64, {}, {4})}));
  EXPECT_EQ(r.codes(), "") << r.text();
  EXPECT_EQ(symbols_of(r.model, 1), (Names{"shape:0"}));
}

TEST(ImportDeciding, WhatIsNotNeededIsData) {
  Result r = import(of_nodes({node("Reshape", {"x", "shape"}, {"r"}), node("Gather", {"r", "at"}, {"y"})},
                             {value("x", kFloat, {2, 3}), value("shape", kInt64, {2}), value("at", kInt64, {1})}));
  EXPECT_EQ(r.codes(), "") << r.text();
  EXPECT_EQ(symbols_of(r.model, 1), (Names{"shape:0", "shape:1"}));
  EXPECT_EQ(symbols_of(r.model, 2), Names());
}

TEST(ImportDeciding, AShapeMayBeComputedOfThem) {
  Result r = import(of_nodes({node("Mul", {"shape", "two"}, {"s"}), node("ConstantOfShape", {"s"}, {"y"})},
                             {value("shape", kInt64, {2})}, {tensor<int64_t>("two", kInt64, {}, {2})}));
  EXPECT_EQ(r.codes(), "") << r.text();
  EXPECT_EQ(symbols_of(r.model, 0), (Names{"shape:0", "shape:1"}));
  const Tensor y = interpret(r.model.graph, std::vector{ints({1, 3})}).rounded[0];
  EXPECT_EQ(y.dims(), (std::vector<int64_t>{2, 6}));
}

TEST(ImportDeciding, OfEveryNodeThatNeedsThem) {
  Result r = import(of_nodes({node("Expand", {"x", "shape"}, {"e"}), node("Tile", {"e", "times"}, {"y"})},
                             {value("x", kFloat, {3, 1}), value("shape", kInt64, {2}), value("times", kInt64, {2})}));
  EXPECT_EQ(r.codes(), "") << r.text();
  EXPECT_EQ(symbols_of(r.model, 1), (Names{"shape:0", "shape:1"}));
  EXPECT_EQ(symbols_of(r.model, 2), (Names{"times:0", "times:1"}));
}

TEST(ImportDeciding, AConstantTakesTheirPlace) {
  const Bytes m =
      of_nodes({node("Reshape", {"x", "shape"}, {"y"})}, {value("x", kFloat, {2, 3}), value("shape", kInt64, {2})});
  Result r = import(m, {.constants = {{"shape", "[3,2]"}}});
  EXPECT_EQ(r.codes(), "") << r.text();
  EXPECT_EQ(r.model.graph.inputs().size(), 1u);
  EXPECT_EQ(to_string(r.model.graph.type(r.model.graph.outputs()[0].value)), "f32[3x2]");
}

TEST(ImportDeciding, UnsignedOnesHaveTheBitsOfSymbols) {
  Result r = import(
      of_nodes({node("Cast", {"n"}, {"k"}, {attr("to", int64_t{kInt64})}), node("ConstantOfShape", {"k"}, {"y"})},
               {value("n", kUint64, {1})}));
  EXPECT_EQ(r.codes(), "") << r.text();
  EXPECT_EQ(symbols_of(r.model, 0), (Names{"n:0"}));
  Tensor n(DType::u64, {1});
  n.set_int(0, 5);
  EXPECT_EQ(interpret(r.model.graph, std::vector{n}).rounded[0].dims(), (std::vector<int64_t>{5}));
  n.set_int(0, -1);  // the greatest u64
  EXPECT_THROW(interpret(r.model.graph, std::vector{n}), CompileError);
}

TEST(ImportDeciding, WhatDoesNotFitIsSaidOfTheNode) {
  Result r = import(of_nodes({node("Reshape", {"x", "shape"}, {"y"}, {}, "", "/to")},
                             {value("x", kFloat, {2, 3}), value("shape", kInt64, {2})}));
  try {
    interpret(r.model.graph, std::vector{floats({2, 3}, {1, 2, 3, 4, 5, 6}), ints({5, 5})});
    FAIL() << "5x5 of 6 elements";
  } catch (const CompileError& e) {
    EXPECT_EQ(e.diagnostic.code, Code::E0304);
    EXPECT_NE(to_string(e.diagnostic).find("/to"), std::string::npos) << to_string(e.diagnostic);
  }
}

TEST(ImportDeciding, TheirNumberMustBeKnown) {
  Result r = import(of_nodes({node("Reshape", {"x", "shape"}, {"y"})},
                             {value("x", kFloat, {2, 3}), value("shape", kInt64, {"rank"})}));
  EXPECT_NE(r.codes().find("E0404"), std::string::npos) << r.codes();
  EXPECT_NE(r.text().find("`shape`"), std::string::npos) << r.text();
}

}  // namespace
}  // namespace cameo
