// Nodes that the importer itself makes something of: forms of the first opsets, experiments that the standard has no
// more, derivatives, graphs that are attributes, outputs that nobody wants.
#include <gtest/gtest.h>

#include <limits>

#include "frontend/reference/interpret.h"
#include "tests/frontend/import/onnx_writer.h"

namespace cameo {
namespace {
using namespace onnx_text;

constexpr int kFloat = 1;
constexpr float kNone = -std::numeric_limits<float>::infinity();
const Tensor kX = floats({2}, {1, -2});

std::vector<std::vector<double>> run(const Result& r, std::vector<Tensor> in) {
  EXPECT_EQ(r.text(), "");
  std::vector<std::vector<double>> all;
  for (const Tensor& t : interpret(r.model.graph, in).rounded) all.push_back(values(t));
  return all;
}
using Lists = std::vector<std::vector<double>>;

TEST(ImportForms, TheFirstOpsetsSayWhichInputsANodeConsumes) {
  const Bytes consumed = attr("consumed_inputs", std::vector<int64_t>{0});
  const auto at = [&](int64_t version) {
    return import(model(GraphText{{node("Relu", {"x"}, {"y"}, {consumed})}, {value("x", kFloat, {2})}, {value("y")}},
                        {opset("", version)}));
  };
  EXPECT_EQ(run(at(1), {kX}), (Lists{{1, 0}}));
  EXPECT_EQ(at(6).codes(), "W0002");
}

TEST(ImportForms, AnAttributeMayHaveHadAnotherKind) {
  const auto cast = [](int64_t version, const Bytes& to) {
    return import(model(GraphText{{node("Cast", {"x"}, {"y"}, {to})}, {value("x", kFloat, {2})}, {value("y")}},
                        {opset("", version)}));
  };
  EXPECT_EQ(run(cast(1, attr("to", "INT64")), {kX}), (Lists{{1, -2}}));
  EXPECT_EQ(cast(1, attr("to", "int")).codes(), "E0204");
  EXPECT_EQ(cast(6, attr("to", "INT64")).codes(), "E0204");
}

TEST(ImportForms, ExperimentsThatAreGone) {
  const Bytes affine = node("Affine", {"x"}, {"y"}, {attr("alpha", 2.f), attr("beta", 1.f)});
  const auto at = [&](int64_t version, bool lenient = false) {
    return import(model(GraphText{{affine}, {value("x", kFloat, {2})}, {value("y")}}, {opset("", version)}),
                  {.lenient = lenient});
  };
  EXPECT_EQ(run(at(7), {kX}), (Lists{{3, -3}}));
  EXPECT_EQ(at(10).codes(), "E0401");
  EXPECT_EQ(at(10, true).codes(), "W0005");
}

/// y = a b + a with b broadcast, and what `gradient` says.
Result differentiated(const Bytes& gradient, const std::vector<Bytes>& outputs, const char* inner = "Mul") {
  return import(model(GraphText{{node(inner, {"a", "b"}, {"p"}), node("Add", {"p", "a"}, {"y"}), gradient},
                                {value("a", kFloat, {2, 2}), value("b", kFloat, {2})},
                                outputs},
                      {opset("", 18), opset("ai.onnx.preview.training", 1)}));
}
Bytes strings(std::string_view name, const std::vector<Bytes>& list) { return attr(name, 8, each(9, list)); }
Bytes gradient(const std::vector<Bytes>& inputs, const std::vector<Bytes>& xs, const char* y = "y") {
  return node("Gradient", inputs, {"da", "db"}, {strings("xs", xs), attr("y", y)}, "ai.onnx.preview.training");
}

TEST(ImportForms, GradientsAreNodesThatComputeDerivatives) {
  const Tensor a = floats({2, 2}, {1, 2, 3, 4}), b = floats({2}, {5, 6});
  const std::vector<Bytes> both{value("da"), value("db")};
  EXPECT_EQ(run(differentiated(gradient({"a", "b"}, {"a", "b"}), both), {a, b}), (Lists{{6, 7, 6, 7}, {4, 6}}));
  EXPECT_EQ(run(differentiated(gradient({"a", "b"}, {"a", "b"}), both, "Div"),
                {floats({2, 2}, {1, 2, 3, 4}), floats({2}, {2, 4})}),
            (Lists{{1.5, 1.25, 1.5, 1.25}, {-1, -0.375}}));
  EXPECT_EQ(differentiated(gradient({"b", "a", "p"}, {"a", "b"}), both).codes(), "E0402");  // at other values
  EXPECT_EQ(differentiated(gradient({"a", "b"}, {"a", "b"}, "q"), both).codes(), "E0202");
  EXPECT_EQ(differentiated(gradient({"a", "b"}, {"a", "b"}), both, "Max").codes(), "E0402");
}

TEST(ImportForms, DerivativesOfEachOperator) {
  const auto of = [](const Bytes& n, float x) {
    Result r = import(model(GraphText{{n, node("Gradient", {"x"}, {"dx"}, {strings("xs", {"x"}), attr("y", "y")},
                                               "ai.onnx.preview.training")},
                                      {value("x", kFloat, {1})},
                                      {value("dx")}},
                            {opset("", 18), opset("ai.onnx.preview.training", 1)}));
    return run(r, {floats({1}, {x})}).at(0).at(0);
  };
  const auto unary = [&](const char* op, float x) { return of(node(op, {"x"}, {"y"}), x); };
  EXPECT_EQ(unary("Identity", 3), 1);
  EXPECT_EQ(unary("Neg", 3), -1);
  EXPECT_EQ(unary("Exp", 0), 1);
  EXPECT_EQ(unary("Log", 4), 0.25);
  EXPECT_EQ(unary("Sqrt", 4), 0.25);
  EXPECT_EQ(unary("Sigmoid", 0), 0.25);
  EXPECT_EQ(unary("Tanh", 0), 1);
  EXPECT_EQ(unary("Relu", 2), 1);
  EXPECT_EQ(unary("Relu", -2), 0);
  EXPECT_EQ(of(node("Sub", {"x", "x"}, {"y"}), 3), 0);
}

TEST(ImportForms, DerivativesOfAProductOfMatrices) {
  Result r = import(model(GraphText{{node("MatMul", {"a", "b"}, {"y"}), gradient({"a", "b"}, {"a", "b"})},
                                    {value("a", kFloat, {1, 2}), value("b", kFloat, {2, 2})},
                                    {value("da"), value("db")}},
                          {opset("", 18), opset("ai.onnx.preview.training", 1)}));
  EXPECT_EQ(run(r, {floats({1, 2}, {1, 2}), floats({2, 2}, {3, 4, 5, 6})}), (Lists{{7, 11}, {1, 1, 2, 2}}));
}

TEST(ImportForms, GraphsOfFlexAttention) {
  const Bytes add = GraphText{{node("Add", {"s", "m"}, {"t"})}, {value("s")}, {value("t")}};
  const Bytes twice =
      GraphText{{node("Add", {"p", "p"}, {"q"}), node("Mul", {"q", "k"}, {"r"})}, {value("p")}, {value("r")}};
  const auto attention = [&](const std::vector<Bytes>& graphs) {
    return import(model(GraphText{{node("FlexAttention", {"x", "x", "v"}, {"y"}, graphs, "ai.onnx.preview")},
                                  {value("x", kFloat, {1, 1, 2, 1}), value("v", kFloat, {1, 1, 2, 1}),
                                   value("m", kFloat, {2, 2}), value("k", kFloat, {1})},
                                  {value("y")}},
                        {opset("", 18), opset("ai.onnx.preview", 1)}));
  };
  const std::vector<Tensor> in{floats({1, 1, 2, 1}, {0, 0}), floats({1, 1, 2, 1}, {4, 8}),
                               floats({2, 2}, {0, kNone, kNone, 0}), floats({1}, {3})};
  EXPECT_EQ(run(attention({}), in), (Lists{{6, 6}}));
  EXPECT_EQ(run(attention({attr_graph("score_mod", add)}), in), (Lists{{4, 8}}));
  EXPECT_EQ(run(attention({attr_graph("prob_mod", twice)}), in), (Lists{{36, 36}}));
  EXPECT_EQ(run(attention({attr_graph("prob_mod", twice), attr_graph("score_mod", add)}), in), (Lists{{24, 48}}));
  const Bytes whole = GraphText{{node("Cast", {"s"}, {"t"}, {attr("to", int64_t{7})})}, {value("s")}, {value("t")}};
  EXPECT_EQ(attention({attr_graph("score_mod", whole)}).codes(), "E0302");
}

TEST(ImportForms, LabelsMayBeStrings) {
  const std::vector<Bytes> attrs{attr("coefficients", 6, real(7, 1) + real(7, -1)),
                                 strings("classlabels_strings", {"a", "b"})};
  const Bytes m = model(GraphText{{node("LinearClassifier", {"x"}, {"label", "scores"}, attrs, "ai.onnx.ml")},
                                  {value("x", kFloat, {1, 1})},
                                  {value("label"), value("scores")}},
                        {opset("", 18), opset("ai.onnx.ml", 1)});
  EXPECT_EQ(import(m).codes(), "");
  EXPECT_EQ(run(import(m, {.outputs = {"scores"}}), {floats({1, 1}, {2})}), (Lists{{2, -2}}));
}

}  // namespace
}  // namespace cameo
