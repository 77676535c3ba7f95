// The importer on models that break a rule: what can only fail is refused by name, what has a clear meaning goes on
// with
// --lenient; inputs that are constants, and branches that no run can take.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "frontend/reference/interpret.h"
#include "tests/frontend/import/onnx_writer.h"

namespace cameo {
namespace {
using namespace onnx_text;

constexpr int kFloat = 1, kInt64 = 7, kBool = 9;

testing::AssertionResult says(const Result& r, std::string_view codes, std::string_view text) {
  if (r.codes() != codes)
    return testing::AssertionFailure() << "`" << r.codes() << "` instead of `" << codes << "`: " << r.text();
  if (r.text().find(text) == std::string::npos)
    return testing::AssertionFailure() << "no `" << text << "` in " << r.text();
  return testing::AssertionSuccess();
}
/// Refused without --lenient, a warning with it.
void expect_tolerated(const Bytes& m, std::string_view code, std::string_view text) {
  EXPECT_TRUE(says(import(m), code, text));
  EXPECT_TRUE(says(import(m, {.lenient = true}), "W0005", text));
}
Bytes one_node(const Bytes& n, std::vector<AnyDim> dims = {2, 3}, const std::vector<Bytes>& opsets = {opset("", 18)}) {
  return model(GraphText{{n}, {value("x", kFloat, dims)}, {value("y")}}, opsets);
}
std::vector<double> run(const Model& m, std::vector<Tensor> in) { return values(interpret(m.graph, in).rounded[0]); }

// ---- attributes ---------------------------------------------------------------------------------------------------

TEST(ImportRules, AnAttributeHoldsWhatItSays) {
  Bytes alpha = attr("alpha", /* an int */ 2, real(2, 0.5f));
  expect_tolerated(one_node(node("LeakyRelu", {"x"}, {"y"}, {alpha})), "E0204",
                   "attribute `alpha` says that it is an int, but holds a float");
  Result r = import(one_node(node("LeakyRelu", {"x"}, {"y"}, {alpha}), {2}), {.lenient = true});
  EXPECT_EQ(run(r.model, {floats({2}, {-2, 4})}), (std::vector<double>{-1, 4}));
  Bytes perm = attr("perm", /* a list of floats */ 6, number(8, 1) + number(8, 0));
  expect_tolerated(one_node(node("Transpose", {"x"}, {"y"}, {perm})), "E0204",
                   "a list of floats, but holds a list of ints");
  Bytes value_float = attr("value_float", 1, number(3, 1));
  EXPECT_TRUE(says(import(one_node(node("Constant", {}, {"y"}, {value_float}))), "E0204", "says that it is a float"));
  Bytes empty = attr("perm", 7, "");  // a list without entries shows no type
  EXPECT_TRUE(says(import(one_node(node("Transpose", {"x"}, {"y"}, {empty}), {})), "", ""));
}

TEST(ImportRules, AnAttributeIsAsOldAsTheOpset) {
  Bytes noop = attr("noop_with_empty_axes", int64_t{1});
  expect_tolerated(one_node(node("ReduceMean", {"x"}, {"y"}, {noop}), {2, 3}, {opset("", 13)}), "E0204",
                   "`ReduceMean` has the attribute `noop_with_empty_axes` from opset 18 on");
  EXPECT_TRUE(says(import(one_node(node("ReduceMean", {"x"}, {"y"}, {noop}))), "", ""));
  Bytes ceil = attr("ceil_mode", int64_t{1}), kernel = attr("kernel_shape", std::vector<int64_t>{2});
  expect_tolerated(one_node(node("MaxPool", {"x"}, {"y"}, {kernel, ceil}), {1, 1, 5}, {opset("", 8)}), "E0204",
                   "`ceil_mode` from opset 10 on");
  Bytes allow = attr("allowzero", int64_t{0});
  Bytes shape = tensor<int64_t>("s", kInt64, {1}, {6});
  expect_tolerated(
      model(
          GraphText{{node("Reshape", {"x", "s"}, {"y"}, {allow})}, {value("x", kFloat, {2, 3})}, {value("y")}, {shape}},
          {opset("", 13)}),
      "E0204", "`allowzero` from opset 14 on");
}

TEST(ImportRules, WhatOperatorsRefuseMayBeClear) {
  Bytes m = one_node(node("Transpose", {"x"}, {"y"}, {attr("perm", std::vector<int64_t>{-1, 0})}));
  EXPECT_TRUE(says(import(m), "E0204", "with --lenient it counts from the end"));
  Result r = import(m, {.lenient = true});
  EXPECT_TRUE(says(r, "W0005", "they count from the end"));
  EXPECT_EQ(to_string(r.model.graph.type(r.model.graph.outputs()[0].value)), "f32[3x2]");
  Bytes resize =
      model(GraphText{{node("Resize", {"x", "", "scales", "sizes"}, {"y"})},
                      {value("x", kFloat, {2, 3})},
                      {value("y")},
                      {tensor<float>("scales", kFloat, {2}, {1, 1}), tensor<int64_t>("sizes", kInt64, {2}, {4, 6})}});
  EXPECT_TRUE(says(import(resize), "E0203", "with --lenient `sizes` counts"));
  Result sized = import(resize, {.lenient = true});
  EXPECT_TRUE(says(sized, "W0005", "`sizes` counts"));
  EXPECT_EQ(to_string(sized.model.graph.type(sized.model.graph.outputs()[0].value)), "f32[4x6]");
}

TEST(ImportRules, NegativePadsTakeElementsAway) {
  Bytes kernel = attr("kernel_shape", std::vector<int64_t>{2});
  auto pads = [&](std::string_view op, int64_t begin, int64_t end, const std::vector<Bytes>& outputs = {"y"}) {
    return one_node(node(op, {"x"}, outputs, {kernel, attr("pads", std::vector<int64_t>{begin, end})}), {1, 1, 6});
  };
  const Tensor x = floats({1, 1, 6}, {6, 1, 2, 3, 4, 9});
  for (std::string_view op : {"MaxPool", "AveragePool", "LpPool"}) expect_tolerated(pads(op, -1, 0), "E0204", "`pads`");
  auto lenient = [&](const Bytes& m) { return run(import(m, {.lenient = true}).model, {x}); };
  EXPECT_EQ(lenient(pads("MaxPool", -1, 0)), (std::vector<double>{2, 3, 4, 9}));
  EXPECT_EQ(lenient(pads("MaxPool", 0, -2)), (std::vector<double>{6, 2, 3}));
  EXPECT_EQ(lenient(pads("AveragePool", 1, -3)), (std::vector<double>{6, 3.5, 1.5}));
  Bytes conv = model(GraphText{{node("Conv", {"x", "w"}, {"y"}, {attr("pads", std::vector<int64_t>{-1, -1})})},
                               {value("x", kFloat, {1, 1, 6})},
                               {value("y")},
                               {tensor<float>("w", kFloat, {1, 1, 2}, {1, -1})}});
  expect_tolerated(conv, "E0204", "`pads`");
  EXPECT_EQ(lenient(conv), (std::vector<double>{-1, -1, -1}));
  EXPECT_TRUE(says(import(pads("MaxPool", -3, -2), {.lenient = true}), "W0005 E0302", "does not fit axis 2"));
  EXPECT_TRUE(says(import(pads("MaxPool", -1, 0, {"y", "at"}), {.lenient = true}), "E0204", "`pads` holds -1"));
}

TEST(ImportRules, NegativePadsOfATransposedConvolutionAddToItsOutput) {
  auto transposed = [](std::vector<int64_t> pads, int64_t stride, std::vector<int64_t> extra = {0}) {
    return model(GraphText{
        {node("ConvTranspose", {"x", "w", "b"}, {"y"},
              {attr("pads", pads), attr("strides", std::vector<int64_t>{stride}), attr("output_padding", extra)})},
        {value("x", kFloat, {1, 1, 2})},
        {value("y")},
        {tensor<float>("w", kFloat, {1, 1, 2}, {1, 1}), tensor<float>("b", kFloat, {1}, {10})}});
  };
  auto lenient = [](const Bytes& m) { return run(import(m, {.lenient = true}).model, {floats({1, 1, 2}, {1, 2})}); };
  expect_tolerated(transposed({-1, 0}, 1), "E0204", "`pads`");
  EXPECT_EQ(lenient(transposed({-1, 0}, 1)), (std::vector<double>{10, 11, 13, 12}));
  EXPECT_EQ(lenient(transposed({-1, 1}, 3)), (std::vector<double>{10, 11, 11, 10, 12}));
  EXPECT_EQ(lenient(transposed({1, -2}, 1)), (std::vector<double>{13, 12, 10, 10}));
  EXPECT_EQ(lenient(transposed({-4, -1}, 3, {1})), (std::vector<double>{10, 10, 10, 10, 11, 11, 10, 12, 12, 10, 10}));
  EXPECT_TRUE(says(import(transposed({INT64_MIN, 0}, 1), {.lenient = true}), "E0204", "`pads` holds"));
}

TEST(ImportRules, AnOutputIsWhatItsNodeMakes) {
  Bytes m = model(GraphText{{node("Shape", {"x"}, {"y"})}, {value("x", kFloat, {2, 3})}, {value("y", kFloat, {2})}});
  expect_tolerated(m, "E0303", "output `y` is declared as f32, its node makes i64[2]");
}

TEST(ImportRules, EachPartOfASplitIsAnOutput) {
  auto split = [](const std::vector<Bytes>& outputs, const std::vector<Bytes>& attrs, int opset_version) {
    return one_node(node("Split", {"x"}, outputs, attrs, "", "parts"), {6}, {opset("", opset_version)});
  };
  Bytes sizes = attr("split", std::vector<int64_t>{1, 2, 3}), count = attr("num_outputs", int64_t{3});
  for (const auto& [attrs, version] : {std::pair{sizes, 11}, std::pair{count, 18}}) {
    EXPECT_TRUE(says(import(split({"y", "b"}, {attrs}, version)), "E0203", "`Split` has 2 outputs for 3 parts"));
    EXPECT_TRUE(says(import(split({"y", "b"}, {attrs}, version)), "E0203", "node 0 `parts` (Split)"));
    EXPECT_TRUE(says(import(split({"y", "b", "c"}, {attrs}, version)), "", ""));
    EXPECT_TRUE(says(import(split({"y", "", ""}, {attrs}, version)), "", ""));
  }
  EXPECT_TRUE(says(import(split({"y", ""}, {}, 13)), "", ""));
  Bytes both = model(GraphText{{node("Split", {"x", "s"}, {"y", "z"}, {attr("num_outputs", int64_t{3})})},
                               {value("x", kFloat, {6})},
                               {value("y")},
                               {tensor<int64_t>("s", kInt64, {2}, {1, 5})}});
  expect_tolerated(both, "E0203", "both `split` and `num_outputs`");
  EXPECT_EQ(run(import(both, {.lenient = true}).model, {floats({6}, {1, 2, 3, 4, 5, 6})}), std::vector<double>{1});
}

// ---- functions ----------------------------------------------------------------------------------------------------

TEST(ImportRules, ACallGivesWhatTheFunctionNeeds) {
  Bytes f = function("f", "Leaky", {"a"}, {"b"}, {"slope"},
                     {node("LeakyRelu", {"a"}, {"b"}, {attr_ref("alpha", 1, "slope")})});
  GraphText g{{node("Leaky", {"x"}, {"y"}, {}, "f")}, {value("x", kFloat, {2})}, {value("y")}};
  expect_tolerated(model(g, {opset("", 18), opset("f", 1)}, {f}), "E0204", "needs the attribute `slope`");
  GraphText given{{node("Leaky", {"x"}, {"y"}, {attr("slope", 0.5f)}, "f")}, {value("x", kFloat, {2})}, {value("y")}};
  EXPECT_TRUE(says(import(model(given, {opset("", 18), opset("f", 1)}, {f})), "", ""));
  expect_tolerated(model(given, {opset("", 18)}, {f}), "E0201", "without an import of its domain `f`");
}

// ---- inputs that have initializers --------------------------------------------------------------------------------

GraphText with_initializer(const Bytes& initializer) {
  return {{node("Add", {"x", "w"}, {"y"})},
          {value("x", kFloat, {2}), value("w", kFloat, {2})},
          {value("y")},
          {initializer}};
}

TEST(ImportRules, AnInputWithAnInitializerIsAConstantUnlessItIsKeptOpen) {
  Bytes m = model(with_initializer(tensor<float>("w", kFloat, {2}, {10, 20})));
  Result r = import(m);
  EXPECT_TRUE(says(r, "W0007", "--input w keeps it open"));
  EXPECT_EQ(run(r.model, {floats({2}, {1, 2})}), (std::vector<double>{11, 22}));
  for (const ImportOptions& options : {ImportOptions{.open = {"w"}}, ImportOptions{.fed = {"w", "nothing"}}}) {
    Result open = import(m, options);
    EXPECT_TRUE(says(open, "", ""));
    EXPECT_EQ(run(open.model, {floats({2}, {1, 2}), floats({2}, {5, 5})}), (std::vector<double>{6, 7}));
  }
  EXPECT_TRUE(says(import(m, {.open = {"w", "v"}}), "E0502", "`--input v` names no input"));
  EXPECT_TRUE(
      says(import(model(with_initializer(tensor<float>("w", kFloat, {2}, {10, 20})), {opset("", 18)}, {}, 3)), "", ""));
}

TEST(ImportRules, AnInitializerHasTheTypeOfItsInput) {
  Bytes m = model(GraphText{{node("Cast", {"w"}, {"y"}, {attr("to", int64_t{1})})},
                            {value("w", kFloat, {2})},
                            {value("y")},
                            {tensor<int64_t>("w", kInt64, {2}, {1, 2})}},
                  {opset("", 18)}, {}, 3);
  expect_tolerated(m, "E0303", "input `w` is declared as f32, its initializer is i64[2]");
  Bytes shape = model(with_initializer(tensor<float>("w", kFloat, {1}, {1})), {opset("", 18)}, {}, 3);
  expect_tolerated(shape, "E0303", "input `w` is declared with another shape, its initializer is f32[1]");
}

// ---- dims ---------------------------------------------------------------------------------------------------------

TEST(ImportRules, AnExtentThatAFlagGivesIsTakenOrRefused) {
  Bytes m = one_node(node("Relu", {"x"}, {"y"}), {"a + b", "a"});
  auto type = [](const Result& r) { return to_string(r.model.graph.type(r.model.graph.inputs()[0])); };
  EXPECT_TRUE(says(import(m, {.dims = {{"x[0]", 5}}}), "E0503", "does not say enough"));
  EXPECT_EQ(type(import(m, {.dims = {{"x[0]", 5}, {"x[1]", 2}}})), "f32[5x2]");
  EXPECT_EQ(type(import(m, {.dims = {{"x[0]", 5}, {"a", 2}}})), "f32[5x2]");
  EXPECT_EQ(type(import(m, {.shapes = {{"x", {5, 2}}}})), "f32[5x2]");
  EXPECT_TRUE(says(import(m, {.shapes = {{"x", {1, 2}}}}), "E0503", "does not fit"));
  EXPECT_TRUE(says(import(m, {.dims = {{"y[0]", 5}}}), "E0502", "its symbolic dims are `a + b`, `a`"));
  EXPECT_TRUE(says(import(one_node(node("Relu", {"x"}, {"y"}), {4, ""}), {.dims = {{"x[0]", 4}}}), "E0502", "`x[1]`"));
  Result r = import(m);
  EXPECT_EQ(dims_from_data(r.model, {{"x", {5, 2}}}), (std::map<std::string, int64_t>{{"a", 2}, {"b", 3}}));
  EXPECT_THROW(dims_from_data(r.model, {{"x", {1, 2}}}), CompileError);
}

// ---- control flow -------------------------------------------------------------------------------------------------

Bytes branch(const Bytes& n, const std::vector<Bytes>& initializers = {}) {
  return GraphText{{n}, {}, {value("r")}, initializers};
}
GraphText choice(const Bytes& yes, const Bytes& no, std::vector<AnyDim> condition = {}) {
  return {{node("If", {"c"}, {"y"}, {attr_graph("then_branch", yes), attr_graph("else_branch", no)}, "", "choice")},
          {value("c", kBool, condition), value("x", kFloat, {2, "n"})},
          {value("y")}};
}

TEST(ImportRules, ABranchThatCannotBeComputedIsAFaultWhenItIsTaken) {
  Bytes wide = branch(node("Reshape", {"x", "s"}, {"r"}, {}, "", "wide"), {tensor<int64_t>("s", kInt64, {1}, {8})});
  Bytes narrow = branch(node("Reshape", {"x", "t"}, {"r"}, {}, "", "narrow"), {tensor<int64_t>("t", kInt64, {1}, {4})});
  Result r = import(model(choice(wide, narrow)), {.dims = {{"n", 2}}});
  EXPECT_TRUE(says(r, "W0006", "node 1 `wide` (Reshape)"));
  Tensor x = floats({2, 2}, {1, 2, 3, 4}), no(DType::b1, {}), yes(DType::b1, {});
  yes.set_int(0, 1);
  EXPECT_EQ(run(r.model, {no, x}), (std::vector<double>{1, 2, 3, 4}));
  EXPECT_THROW(run(r.model, {yes, x}), CompileError);
  Result other = import(model(choice(wide, narrow)), {.dims = {{"n", 4}}});
  EXPECT_TRUE(says(other, "W0006", "node 2 `narrow` (Reshape)"));
  EXPECT_EQ(run(other.model, {yes, floats({2, 4}, std::vector<float>(8, 3))}), std::vector<double>(8, 3));
  EXPECT_TRUE(says(import(model(choice(wide, narrow)), {.dims = {{"n", 3}}}), "E0302 E0302", "`wide`"));
  EXPECT_TRUE(says(import(model(choice(branch(node("Nonsense", {"x"}, {"r"})), narrow)), {.dims = {{"n", 2}}}), "E0401",
                   "Nonsense"));
}

TEST(ImportRules, ABranchThatGivesNothingIsAFaultToo) {
  Bytes wide = branch(node("Reshape", {"x", "s"}, {"r"}, {}, "", "wide"), {tensor<int64_t>("s", kInt64, {1}, {8})});
  Bytes none = branch(node("Slice", {"x", "zero", "zero"}, {"r"}), {tensor<int64_t>("zero", kInt64, {1}, {0})});
  Result r = import(model(choice(wide, none)), {.dims = {{"n", 2}}});
  EXPECT_TRUE(says(r, "W0006", "`wide`"));
  EXPECT_EQ(to_string(r.model.graph.type(r.model.graph.outputs()[0].value)), "f32[0x2]");
  Tensor x = floats({2, 2}, {1, 2, 3, 4}), no(DType::b1, {}), yes(DType::b1, {});
  yes.set_int(0, 1);
  EXPECT_EQ(run(r.model, {no, x}), std::vector<double>{});
  EXPECT_THROW(run(r.model, {yes, x}), CompileError);
}

// Neither what has no elements nor what reads only that is computed; the branch is taken all the same.
TEST(ImportRules, ABranchThatGivesNothingToNothingIsAFaultToo) {
  Bytes wide = branch(node("Reshape", {"x", "s"}, {"r"}, {}, "", "wide"), {tensor<int64_t>("s", kInt64, {1}, {8})});
  Bytes none = branch(node("Slice", {"x", "zero", "zero"}, {"r"}), {tensor<int64_t>("zero", kInt64, {1}, {0})});
  GraphText text = choice(wide, none);
  text.nodes.push_back(node("Sin", {"y"}, {"z"}));
  text.nodes.push_back(node("Concat", {"z", "x"}, {"w"}, {attr("axis", int64_t{0})}));
  text.outputs = {value("w")};
  Result r = import(model(text), {.dims = {{"n", 2}}});
  EXPECT_TRUE(says(r, "W0006", "`wide`"));
  Tensor x = floats({2, 2}, {1, 2, 3, 4}), no(DType::b1, {}), yes(DType::b1, {});
  yes.set_int(0, 1);
  EXPECT_EQ(run(r.model, {no, x}), (std::vector<double>{1, 2, 3, 4}));
  EXPECT_THROW(run(r.model, {yes, x}), CompileError);
}

TEST(ImportRules, AConditionIsOneBool) {
  Bytes same = branch(node("Identity", {"x"}, {"r"}));
  EXPECT_TRUE(
      says(import(model(choice(same, same, {2}))), "E0301", "the condition of `If` is b1[2], it must be one bool"));
  EXPECT_TRUE(says(import(model(choice(same, same, {1}))), "", ""));
  auto loop = [](const Bytes& condition, const std::vector<AnyDim>& trips, const std::vector<AnyDim>& go) {
    Bytes body = GraphText{{node("Add", {"acc", "acc"}, {"next"}), condition},
                           {value("i"), value("c"), value("acc")},
                           {value("again"), value("next")}};
    return model(GraphText{{node("Loop", {"t", "go", "x"}, {"y"}, {attr_graph("body", body)})},
                           {value("t", kInt64, trips), value("go", kBool, go), value("x", kFloat, {2})},
                           {value("y")}});
  };
  Bytes keeps = node("Identity", {"c"}, {"again"});
  EXPECT_TRUE(says(import(loop(keeps, {}, {})), "", ""));
  EXPECT_TRUE(says(import(loop(keeps, {1}, {1})), "", ""));
  EXPECT_TRUE(says(import(loop(keeps, {0}, {})), "E0302", "the trip count `M` is i64[0]"));
  EXPECT_TRUE(says(import(loop(keeps, {}, {3})), "E0302", "the condition of `Loop` is b1[3]"));
  EXPECT_TRUE(says(import(loop(node("ReduceSum", {"acc"}, {"again"}, {attr("keepdims", int64_t{0})}), {}, {})), "E0301",
                   "gives f32[] as its condition"));
  EXPECT_TRUE(says(import(loop(node("Greater", {"acc", "acc"}, {"again"}), {}, {})), "E0302", "must hold one element"));
}

TEST(ImportRules, ABodyThatIsTypedTwiceIsCountedOnce) {
  Bytes body = GraphText{{node("Concat", {"acc", "acc"}, {"next"}, {attr("axis", int64_t{0}), attr("odd", int64_t{1})}),
                          node("Identity", {"c"}, {"again"})},
                         {value("i"), value("c"), value("acc")},
                         {value("again"), value("next")}};
  Bytes m = model(GraphText{{node("Loop", {"t", "", "x"}, {"y"}, {attr_graph("body", body)})},
                            {value("t", kInt64, {}), value("x", kFloat, {2})},
                            {value("y")}});
  EXPECT_TRUE(says(import(m), "W0002", "`Concat` has no attribute `odd`; it is ignored (1 node)"));
}

TEST(ImportRules, WarningsWithoutEndAreNoError) {
  GraphText g{{}, {value("x", kFloat, {2})}, {}};
  for (int i = 0; i < 300; ++i) {
    const std::string from = i ? "y" + std::to_string(i - 1) : "x", to = "y" + std::to_string(i);
    g.nodes.push_back(node("Relu", {from}, {to}, {attr("odd" + std::to_string(i), int64_t{1})}));
  }
  g.outputs = {value("y299")};
  const Result r = import(model(g));
  EXPECT_FALSE(r.diagnostics.has_errors());
  EXPECT_NE(r.text().find("100 more warnings are not shown"), std::string::npos);
}

TEST(ImportRules, ScannedInputsAreEquallyLong) {
  Bytes body = GraphText{{node("Add", {"a", "b"}, {"r"})}, {value("a"), value("b")}, {value("r")}};
  Bytes m = model(
      GraphText{{node("Scan", {"x", "z"}, {"y"}, {attr_graph("body", body), attr("num_scan_inputs", int64_t{2})})},
                {value("x", kFloat, {3, 2}), value("z", kFloat, {4, 2})},
                {value("y")}});
  EXPECT_TRUE(says(import(m), "E0302", "lengths of scanned inputs are 3 and 4"));
}

TEST(ImportRules, AScanOfVersion8HasABatchAndMayHaveLengths) {
  const Bytes body = GraphText{{node("Add", {"s", "x"}, {"t"}), node("Identity", {"t"}, {"u"})},
                               {value("s"), value("x")},
                               {value("t"), value("u")}};
  const auto scan = [&](const char* lengths, const std::vector<std::variant<int, const char*>>& of_state) {
    return import(
        model(GraphText{{node("Scan", {lengths, "s", "x"}, {"y", "z"},
                              {attr_graph("body", body), attr("num_scan_inputs", int64_t{1})})},
                        {value("l", kInt64, {2}), value("s", kFloat, of_state), value("x", kFloat, {2, 5, 3})},
                        {value("y"), value("z")}},
              {opset("", 8)}));
  };
  const auto right = scan("", {2, 3});
  EXPECT_EQ(right.codes(), "");
  EXPECT_EQ(to_string(right.model.graph.type(right.model.graph.outputs()[1].value)), "f32[2x5x3]");
  EXPECT_EQ(scan("l", {2, 3}).codes(), "");
  EXPECT_TRUE(says(scan("x", {2, 3}), "E0302", "it must be f32[2]: one a sequence"));
  EXPECT_EQ(scan("", {}).codes(), "E0304");
}

TEST(ImportRules, LengthsOfAScanThatAreKnownAreInRange) {
  const Bytes body = GraphText{{node("Add", {"s", "x"}, {"t"})}, {value("s"), value("x")}, {value("t")}};
  const auto scan = [&](int64_t second) {
    return import(model(GraphText{{node("Scan", {"l", "s", "x"}, {"y"},
                                        {attr_graph("body", body), attr("num_scan_inputs", int64_t{1})})},
                                  {value("s", kFloat, {2, 3}), value("x", kFloat, {2, 5, 3})},
                                  {value("y")},
                                  {tensor<int64_t>("l", kInt64, {2}, {1, second})}},
                        {opset("", 8)}));
  };
  for (const int64_t length : {0, 5}) EXPECT_EQ(scan(length).codes(), "") << length;
  for (const int64_t length : {-1, 6})
    EXPECT_TRUE(says(scan(length), "E0304", fmt::format("holds {} for sequences of 5", length)));
}

TEST(ImportRules, DirectionsOfAScanAreTwo) {
  const Bytes body = GraphText{{node("Add", {"s", "x"}, {"t"}), node("Identity", {"t"}, {"u"})},
                               {value("s"), value("x")},
                               {value("t"), value("u")}};
  const auto scan = [&](const char* name, int64_t direction, int64_t version) {
    const bool batched = version == 8;
    const std::vector<std::string> inputs =
        batched ? std::vector<std::string>{"", "s", "x"} : std::vector<std::string>{"s", "x"};
    return import(model(GraphText{{node("Scan", inputs, {"y", "z"},
                                        {attr_graph("body", body), attr("num_scan_inputs", int64_t{1}),
                                         attr(name, std::vector<int64_t>{direction})})},
                                  {value("s", kFloat, {3, 3}), value("x", kFloat, {3, 3, 3})},
                                  {value("y"), value("z")}},
                        {opset("", version)}));
  };
  for (const auto& [name, version] :
       {std::pair("scan_input_directions", 21), {"scan_output_directions", 21}, {"directions", 8}}) {
    for (const int64_t right : {0, 1}) EXPECT_EQ(scan(name, right, version).codes(), "") << name;
    for (const int64_t wrong : {-1, 5})
      EXPECT_TRUE(
          says(scan(name, wrong, version), "E0204", fmt::format("`{}` holds {}, neither 0 nor 1", name, wrong)));
  }
}

TEST(ImportRules, AStateOfAScanKeepsItsShape) {
  const auto scan = [&](const char* op, const std::vector<std::variant<int, const char*>>& of_state, int64_t version) {
    const std::vector<Bytes> attrs =
        Bytes(op) == "Concat" ? std::vector{attr("axis", int64_t{0})} : std::vector<Bytes>{};
    const Bytes body = GraphText{{node(op, {"s", "x"}, {"t"}, attrs)}, {value("s"), value("x")}, {value("t")}};
    const std::vector<std::string> inputs =
        version == 8 ? std::vector<std::string>{"", "s", "x"} : std::vector<std::string>{"s", "x"};
    return import(model(
        GraphText{
            {node("Scan", inputs, {"y"}, {attr_graph("body", body), attr("num_scan_inputs", int64_t{1})})},
            {value("s", kFloat, of_state), version == 8 ? value("x", kFloat, {2, 4, 3}) : value("x", kFloat, {4, 3})},
            {value("y")}},
        {opset("", version)}));
  };
  EXPECT_TRUE(says(scan("Concat", {3}, 21), "E0302", "state 0 is f32[3] and the body makes it f32[6]"));
  EXPECT_TRUE(says(scan("Concat", {2, 3}, 8), "E0302", "state 0 is f32[2x3] and the body makes it f32[2x6]"));
  EXPECT_TRUE(says(scan("Add", {1}, 21), "E0302", "state 0 is f32[1] and the body makes it f32[3]"));
  EXPECT_EQ(scan("Add", {3}, 21).codes(), "");
  EXPECT_EQ(scan("Add", {"n"}, 21).codes(), "") << "which may be 3";
}

// ---- wire ---------------------------------------------------------------------------------------------------------

TEST(ImportRules, AnUnknownGroupIsSkipped) {
  auto group = [](int field, const Bytes& inside) { return varint(field << 3 | 3) + inside + varint(field << 3 | 4); };
  Bytes m = one_node(node("Relu", {"x"}, {"y"}));
  EXPECT_TRUE(says(import(m + group(100, "")), "", ""));
  EXPECT_TRUE(
      says(import(m + group(100, number(1, 5) + bytes(7, "not a graph") + real(3, 1.f) + group(2, group(100, "")))), "",
           ""));
  EXPECT_EQ(import(m + group(100, varint(101 << 3 | 4))).codes(), "E0102");
  EXPECT_EQ(import(m + varint(100 << 3 | 4)).codes(), "E0102");
  EXPECT_EQ(import(m + varint(100 << 3 | 3)).codes(), "E0102");
  Bytes deep;
  for (int i = 0; i < 100'000; ++i) deep += varint(100 << 3 | 3);
  EXPECT_EQ(import(m + deep).codes(), "E0102");
}

// ---- contents of empty tensors ------------------------------------------------------------------------------------

TEST(ImportRules, TheShapeOfAScalarIsKnown) {
  // Reshape(x, Concat(Slice(Shape(scalar)), [-1])) as random models compute it
  Bytes m = model(GraphText{
      {node("Shape", {"s"}, {"none"}), node("Slice", {"none", "zero", "one"}, {"part"}),
       node("Concat", {"part", "rest"}, {"to"}, {attr("axis", int64_t{0})}), node("Reshape", {"x", "to"}, {"y"})},
      {value("x", kFloat, {2, 3}), value("s", kFloat, {})},
      {value("y")},
      {tensor<int64_t>("zero", kInt64, {1}, {0}), tensor<int64_t>("one", kInt64, {1}, {1}),
       tensor<int64_t>("rest", kInt64, {1}, {-1})}});
  Result r = import(m);
  ASSERT_EQ(r.text(), "");
  EXPECT_EQ(to_string(r.model.graph.type(r.model.graph.outputs()[0].value)), "f32[6]");
}

}  // namespace
}  // namespace cameo
