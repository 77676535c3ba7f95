// The importer on models that are right: dims, constants, order, functions, bodies, cuts, external data.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "frontend/ir/bind_dims.h"
#include "frontend/ir/operator.h"
#include "frontend/reference/interpret.h"
#include "tests/frontend/import/onnx_writer.h"

namespace cameo {
namespace {
using namespace onnx_text;

GraphText relu_graph(std::vector<AnyDim> dims = {2, 3}) {
  return {{node("Relu", {"x"}, {"y"}, {}, "", "first")}, {value("x", 1, dims)}, {value("y", 1, dims)}};
}

TEST(Import, ReadsHeaderNodesAndNames) {
  Result r = import(model(relu_graph()));
  ASSERT_EQ(r.text(), "");
  EXPECT_EQ(r.model.ir_version, 8);
  EXPECT_EQ(r.model.opsets.at(""), 18);
  ASSERT_EQ(r.model.graph.nodes().size(), 1u);
  EXPECT_EQ(r.model.graph.nodes()[0].version, 14);
  EXPECT_EQ(r.model.graph.input_name(0), "x");
  EXPECT_EQ(r.model.graph.outputs()[0].name, "y");
  EXPECT_EQ(to_string(r.model.graph.type(r.model.graph.outputs()[0].value)), "f32[2x3]");
  EXPECT_EQ(where(r.model.graph.sources(), {0}), "node 0 `first` (Relu)");
}

TEST(Import, KeepsAnyBytesInNames) {
  std::string odd("*/\n\"\0\xff", 6);
  Result r = import(model(GraphText{{node("Relu", {odd}, {odd + "y"})}, {value(odd, 1, {2})}, {value(odd + "y")}}));
  ASSERT_EQ(r.text(), "");
  EXPECT_EQ(r.model.graph.input_name(0), odd);
  EXPECT_EQ(r.model.graph.outputs()[0].name, odd + "y");
}

// ---- dims ---------------------------------------------------------------------------------------------------------

TEST(ImportDims, UnboundOnesAreSymbolsAndListed) {
  Result r = import(model(relu_graph({"batch", "past + 1", "", 0})));
  ASSERT_EQ(r.text(), "");
  EXPECT_EQ(to_string(r.model.graph.type(r.model.graph.inputs()[0])), "f32[batchx(past + 1)xx[2]x0]");
  ASSERT_EQ(r.model.unbound.size(), 3u);
  EXPECT_EQ(r.model.unbound[0].dim, "batch");
  EXPECT_EQ(r.model.unbound[1].dim, "past");
  EXPECT_EQ(r.model.unbound[0].low, 1);
  EXPECT_EQ(r.model.unbound[1].low, 0) << "nothing may be past yet";
  EXPECT_EQ(r.model.unbound[2].dim, "x[2]");
}

TEST(ImportDims, AreBoundByNamePositionAndExpression) {
  Result r = import(model(relu_graph({"batch", "past + 1", "2*n", ""})),
                    {.dims = {{"batch", 4}, {"x[1]", 8}, {"n", 3}, {"x[3]", 5}}});
  ASSERT_EQ(r.text(), "");
  EXPECT_EQ(to_string(r.model.graph.type(r.model.graph.outputs()[0].value)), "f32[4x8x6x5]");
  EXPECT_TRUE(r.model.unbound.empty());
}

TEST(ImportDims, RangesAreBoundsOfSymbols) {
  Result r = import(model(relu_graph({"batch", "past + 1", ""})),
                    {.ranges = {{"batch", {1, 32}}, {"past", {0, 511}}, {"x[2]", {2, kOpen}}}});
  ASSERT_EQ(r.text(), "");
  EXPECT_TRUE(r.model.unbound.empty());
  const Shape& shape = r.model.graph.type(r.model.graph.inputs()[0]).shape;
  EXPECT_EQ(to_string(shape), "batchxpast + 1xx[2]");
  EXPECT_EQ(range_of(shape[0].extent()), (Interval{1, 32}));
  EXPECT_EQ(range_of(shape[1].extent()), (Interval{1, 512}));
  EXPECT_EQ(shape[2].upper(), kOpen);
  EXPECT_EQ(range_of(shape[2].extent()).low, 2);
}

/// A run reads a symbol off a dim, so where there is only a sum of it, the sum becomes the symbol.
TEST(ImportDims, ASumIsTheSymbolWhereNothingElseHasIt) {
  Result r = import(model(relu_graph({"past + 1", 2})), {.ranges = {{"past", {0, 7}}}});
  ASSERT_EQ(r.text(), "");
  const Expr extent = r.model.graph.type(r.model.graph.inputs()[0]).shape[0].extent();
  EXPECT_EQ(extent.op(), Op::Symbol);
  EXPECT_EQ(range_of(extent), (Interval{1, 8}));
}

TEST(ImportDims, ASizeOfProductsOrSumsAloneStandsAsAWhole) {
  const auto type = [](const std::vector<AnyDim>& dims, const ImportOptions& options) {
    const Result r = import(model(relu_graph(dims)), options);
    return r.text() + to_string(r.model.graph.type(r.model.graph.inputs()[0]).shape[0]);
  };
  EXPECT_EQ(type({"2*n", 3}, {.ranges = {{"n", {1, 8}}}}), "2*n");
  EXPECT_EQ(type({"a + b", 3}, {.ranges = {{"a", {0, 4}}, {"b", {1, 8}}}}), "a + b");
  EXPECT_EQ(type({"2*n", "n"}, {.ranges = {{"n", {1, 8}}}}), "(n * 2)") << "a run reads n off the other dim";
  EXPECT_EQ(type({"-1", "-1"}, {.ranges = {{"x[0]", {1, 8}}, {"x[1]", {1, 8}}}}), "x[0]") << "no name";
}

TEST(ImportDims, RangesThatLeaveNoSizeAreErrors) {
  for (const Interval range : {Interval{3, 1}, Interval{-1, 2}, Interval{1, Wide(kMaxExtent) + 1}})
    EXPECT_EQ(import(model(relu_graph({"n", 3})), {.ranges = {{"n", range}}}).codes(), "E0503");
  EXPECT_EQ(import(model(relu_graph({"n", 3})), {.ranges = {{"m", {1, 2}}}}).codes(), "E0502");
  EXPECT_EQ(import(model(relu_graph({"a*b", 3})), {.ranges = {{"a*b", {1, 2}}}}).codes(), "E0503");
}

TEST(ImportDims, ShapesBindNamesEverywhere) {
  GraphText g{{node("Add", {"x", "z"}, {"y"})}, {value("x", 1, {"n", 3}), value("z", 1, {"n", 1})}, {value("y")}};
  Result r = import(model(g), {.shapes = {{"0", {5, 3}}}});
  ASSERT_EQ(r.text(), "");
  EXPECT_EQ(to_string(r.model.graph.type(r.model.graph.inputs()[1])), "f32[5x1]");
}

TEST(ImportDims, ConflictsAndUnknownNamesAreErrors) {
  EXPECT_EQ(import(model(relu_graph({"n", "n"})), {.shapes = {{"x", {2, 3}}}}).codes(), "E0503");
  EXPECT_EQ(import(model(relu_graph({"n", 3})), {.shapes = {{"x", {2, 4}}}}).codes(), "E0503");
  EXPECT_EQ(import(model(relu_graph({"n", 3})), {.shapes = {{"x", {2}}}}).codes(), "E0503");
  EXPECT_EQ(import(model(relu_graph({"n", 3})), {.dims = {{"n", -1}}}).codes(), "E0503");
  Result r = import(model(relu_graph({"n", 3})), {.dims = {{"m", 1}}, .shapes = {{"z", {1}}}});
  EXPECT_EQ(r.codes(), "E0502 E0502");
  EXPECT_NE(r.text().find("its symbolic dims are `n`"), std::string::npos) << r.text();
}

TEST(ImportDims, HyphensAreNoSubtraction) {
  Result r = import(model(relu_graph({"batch-size", 2})), {.dims = {{"batch-size", 3}}});
  ASSERT_EQ(r.text(), "");
  EXPECT_EQ(to_string(r.model.graph.type(r.model.graph.inputs()[0])), "f32[3x2]");
}

TEST(ImportDims, ComeFromData) {
  Result r = import(model(relu_graph({"n", "n + 1"})));
  auto dims = dims_from_data(r.model, {{"x", {4, 5}}});
  EXPECT_EQ(dims.at("n"), 4);
  EXPECT_EQ(to_string(bind_dims(r.model.graph, dims).type(ValueId{0})), "f32[4x5]");
  EXPECT_THROW(dims_from_data(r.model, {{"x", {4, 6}}}), CompileError);
  EXPECT_THROW(dims_from_data(r.model, {{"x", {4}}}), CompileError);
}

TEST(ImportDims, ZeroIsAnExtent) {
  Result r = import(model(relu_graph({0, 3})));
  ASSERT_EQ(r.text(), "");
  EXPECT_EQ(interpret(r.model.graph, std::vector<Tensor>{floats({0, 3}, {})}).rounded[0].size(), 0);
}

// ---- constants ----------------------------------------------------------------------------------------------------

Bytes add_constant(const Bytes& t, const std::vector<Bytes>& sparse = {}) {
  return model(GraphText{{node("Add", {"x", "c"}, {"y"})},
                         {value("x", 1, {3})},
                         {value("y")},
                         sparse.empty() ? std::vector<Bytes>{t} : std::vector<Bytes>{},
                         {},
                         sparse});
}
std::vector<double> run_constant(const Bytes& m) {
  Result r = import(m);
  EXPECT_EQ(r.text(), "");
  if (r.diagnostics.has_errors()) return {};
  return values(interpret(r.model.graph, std::vector<Tensor>{floats({3}, {0, 0, 0})}).rounded[0]);
}

TEST(ImportConstants, RawAndTypedPayloadsAgree) {
  std::vector<double> want{1, -2, 3.5};
  EXPECT_EQ(run_constant(add_constant(tensor<float>("c", 1, {3}, {1, -2, 3.5}))), want);
  Bytes packed;
  for (float f : {1.f, -2.f, 3.5f}) packed.append(reinterpret_cast<const char*>(&f), 4);
  EXPECT_EQ(run_constant(add_constant(tensor_head("c", 1, {3}) + bytes(4, packed))), want);
}

TEST(ImportConstants, SparseOnesAreFilledIn) {
  Bytes linear =
      bytes(1, tensor<float>("c", 1, {2}, {5, 7})) + bytes(2, tensor<int64_t>("", 7, {2}, {0, 2})) + number(3, 3);
  EXPECT_EQ(run_constant(add_constant({}, {linear})), (std::vector<double>{5, 0, 7}));
  Bytes pairs = bytes(1, tensor<float>("c", 1, {1}, {4})) + bytes(2, tensor<int64_t>("", 7, {1, 2}, {0, 1})) +
                number(3, 1) + number(3, 3);
  EXPECT_EQ(run_constant(add_constant({}, {pairs})), (std::vector<double>{0, 4, 0}));
}

Tensor constant_of(const Bytes& t) {
  Result r = import(model(GraphText{{node("Constant", {}, {"y"}, {attr_tensor("value", t)})}, {}, {value("y")}}));
  EXPECT_EQ(r.text(), "");
  return r.diagnostics.has_errors() ? Tensor() : *r.model.graph[r.model.graph.outputs()[0].value].constant;
}

TEST(ImportConstants, SmallTypesAreUnpackedOneAByte) {
  auto ints = [](const Tensor& t) {
    std::vector<int64_t> v;
    for (int64_t i = 0; i < t.size(); ++i) v.push_back(t.get_int(i));
    return v;
  };
  EXPECT_EQ(ints(constant_of(tensor<uint8_t>("", 22, {3}, {0xf1, 0x07}))), (std::vector<int64_t>{1, -1, 7}));      // i4
  EXPECT_EQ(ints(constant_of(tensor<uint8_t>("", 21, {3}, {0xf1, 0x07}))), (std::vector<int64_t>{1, 15, 7}));      // u4
  EXPECT_EQ(ints(constant_of(tensor<uint8_t>("", 26, {4}, {0b11100100}))), (std::vector<int64_t>{0, 1, -2, -1}));  // i2
  Bytes in_ints = tensor_head("", 10, {2}) + bytes(5, varint(0x3c00) + varint(0xc000));  // f16 in int32_data
  EXPECT_EQ(values(constant_of(in_ints)), (std::vector<double>{1, -2}));
  EXPECT_EQ(values(constant_of(tensor<uint8_t>("", 9, {3}, {0, 1, 7}))),
            (std::vector<double>{0, 1, 1}));  // any byte is true
}

TEST(ImportConstants, ComplexNumbersArePairs) {
  const std::vector<double> parts{1, 2, 3, -4};
  const Bytes in_floats =
      tensor_head("", 14, {2}) + bytes(4, Bytes("\0\0\x80\x3f\0\0\0\x40\0\0\x40\x40\0\0\x80\xc0", 16));
  EXPECT_EQ(constant_of(in_floats).dtype(), DType::c64);
  EXPECT_EQ(values(constant_of(in_floats).parts()), parts);
  EXPECT_EQ(values(constant_of(tensor<float>("", 14, {2}, {1, 2, 3, -4})).parts()), parts);
  EXPECT_EQ(values(constant_of(tensor<double>("", 15, {2, 1}, {1, 2, 3, -4})).parts()), parts);
  const GraphText g{{node("Concat", {"x", "z"}, {"y"}, {attr("axis", int64_t{0})})},
                    {value("x", 14, {1}), value("z", 14, {2})},
                    {value("y")}};
  const Result r = import(model(g), {.constants = {{"z", "[1-2j, 3]"}}});
  ASSERT_EQ(r.text(), "");
  const Tensor x(DType::c64, {1});
  EXPECT_EQ(values(interpret(r.model.graph, std::vector<Tensor>{x}).rounded[0].parts()),
            (std::vector<double>{0, 0, 1, -2, 3, 0}));
  for (const char* bad : {"[1+j, 3]", "[1+2, 3]", "[j, 3]"})
    EXPECT_EQ(import(model(g), {.constants = {{"z", bad}}}).codes(), "E0503") << bad;
}

TEST(ImportConstants, ConstantNodesHaveEveryForm) {
  auto one = [](const Bytes& a) {
    Result r = import(model(GraphText{{node("Constant", {}, {"y"}, {a})}, {}, {value("y")}}));
    EXPECT_EQ(r.text(), "");
    const Value& v = r.model.graph[r.model.graph.outputs()[0].value];
    return to_string(v.type) + "=" +
           (v.type.dtype == DType::str ? v.constant->strings()[0] : std::to_string(v.constant->get(0)));
  };
  EXPECT_EQ(one(attr("value_int", int64_t{7})), "i64[]=7.000000");
  EXPECT_EQ(one(attr("value_float", 2.5f)), "f32[]=2.500000");
  EXPECT_EQ(one(attr("value_ints", std::vector<int64_t>{3, 4})), "i64[2]=3.000000");
  EXPECT_EQ(one(attr("value_string", "abc")), "str[]=abc");
}

TEST(ImportConstants, InitializersThatAreInputsAreConstants) {
  Result r = import(model(GraphText{{node("Add", {"x", "c"}, {"y"})},
                                    {value("x", 1, {1}), value("c", 1, {1})},
                                    {value("y")},
                                    {tensor<float>("c", 1, {1}, {2})}}));
  ASSERT_EQ(r.codes(), "W0007");
  EXPECT_EQ(r.model.graph.inputs().size(), 1u);
}

TEST(ImportConstants, InputsCanBeFoldedIn) {
  GraphText g{{node("Add", {"x", "z"}, {"y"})}, {value("x", 1, {2, 2}), value("z", 1, {2, "k"})}, {value("y")}};
  Result r = import(model(g), {.constants = {{"z", "[[1, 2], [3, 4]]"}}});
  ASSERT_EQ(r.text(), "");
  EXPECT_EQ(r.model.graph.inputs().size(), 1u);
  EXPECT_TRUE(r.model.unbound.empty());
  EXPECT_EQ(values(interpret(r.model.graph, std::vector<Tensor>{floats({2, 2}, {10, 10, 10, 10})}).rounded[0]),
            (std::vector<double>{11, 12, 13, 14}));
  EXPECT_EQ(import(model(g), {.constants = {{"x", "3"}}}).codes(), "");
  EXPECT_EQ(import(model(g), {.constants = {{"z", "[[1, 2], [3]]"}}}).codes(), "E0503");
  EXPECT_EQ(import(model(g), {.constants = {{"z", "[1, 2, 3]"}}}).codes(), "E0503");
  EXPECT_EQ(import(model(g), {.constants = {{"z", "[[a],[b]]"}}}).codes(), "E0503");
  EXPECT_EQ(import(model(g), {.constants = {{"q", "1"}}}).codes(), "E0502");
}

// ---- order and cuts -----------------------------------------------------------------------------------------------

TEST(ImportOrder, UnsortedGraphsAreSortedWithAWarning) {
  GraphText g{{node("Relu", {"b"}, {"y"}), node("Relu", {"a"}, {"b"}), node("Relu", {"x"}, {"a"})},
              {value("x", 1, {2})},
              {value("y")}};
  Result r = import(model(g));
  EXPECT_EQ(r.codes(), "W0001");
  ASSERT_EQ(r.model.graph.nodes().size(), 3u);
  EXPECT_EQ(r.model.graph.nodes()[0].provenance, Provenance{2});
}

TEST(ImportOrder, GraphsCanBeCutAtAnyValue) {
  GraphText g{{node("Relu", {"x"}, {"a"}), node("Nonsense", {"a", "z"}, {"y"})},
              {value("x", 1, {2}), value("z", 1, {"n"})},
              {value("y")}};
  Result r = import(model(g), {.outputs = {"a"}});
  ASSERT_EQ(r.text(), "");
  EXPECT_EQ(r.model.graph.outputs()[0].name, "a");
  EXPECT_EQ(r.model.graph.inputs().size(), 1u);  // z is not needed
  EXPECT_TRUE(r.model.unbound.empty());
  EXPECT_EQ(import(model(g), {.outputs = {"zz"}}).codes(), "E0502");
}

// ---- functions ----------------------------------------------------------------------------------------------------

TEST(ImportFunctions, AreInlinedWithAttributesAndDefaults) {
  Bytes leaky = function("f", "Leaky", {"a"}, {"b"}, {"slope"},
                         {node("LeakyRelu", {"a"}, {"b"}, {attr_ref("alpha", 1, "slope")})});
  Bytes twice = function("f", "Twice", {"p"}, {"q"}, {},
                         {node("Leaky", {"p"}, {"m"}, {attr_ref("slope", 1, "s")}, "f"),
                          node("Leaky", {"m"}, {"q"}, {attr("slope", 0.5f)}, "f")},
                         {attr("s", 0.25f)});
  Result r = import(model(GraphText{{node("Twice", {"x"}, {"y"}, {}, "f", "call")}, {value("x", 1, {1})}, {value("y")}},
                          {opset("", 18), opset("f", 1)}, {leaky, twice}));
  ASSERT_EQ(r.text(), "");
  EXPECT_EQ(values(interpret(r.model.graph, std::vector<Tensor>{floats({1}, {-8})}).rounded[0]),
            (std::vector<double>{-1}));
  EXPECT_EQ(where(r.model.graph.sources(), r.model.graph.nodes()[0].provenance).substr(7), "`call/m/b` (LeakyRelu)");
}

TEST(ImportFunctions, OptionalInputsMayBeAbsent) {
  Bytes clip = function("f", "C", {"a", "lo", "hi"}, {"b"}, {}, {node("Clip", {"a", "lo", "hi"}, {"b"})});
  Result r = import(model(GraphText{{node("C", {"x"}, {"y"}, {}, "f")}, {value("x", 1, {1})}, {value("y")}},
                          {opset("", 18), opset("f", 1)}, {clip}));
  ASSERT_EQ(r.text(), "");
}

TEST(ImportFunctions, AnAbsentInputIsNoOutputOfABody) {
  GraphText yes{{node("Neg", {"a"}, {"t"})}, {}, {value("t")}}, no{{}, {}, {value("lo")}};
  Bytes f = function("f", "C", {"a", "c", "lo"}, {"b"}, {},
                     {node("If", {"c"}, {"b"}, {attr_graph("else_branch", no), attr_graph("then_branch", yes)})});
  Result r = import(
      model(GraphText{{node("C", {"x", "c"}, {"y"}, {}, "f")}, {value("x", 1, {1}), value("c", 9, {})}, {value("y")}},
            {opset("", 18), opset("f", 1)}, {f}));
  EXPECT_EQ(r.codes(), "E0202");
}

TEST(ImportFunctions, OptionalInputsMayBeAbsentInBodies) {
  GraphText yes{{node("Clip", {"a", "lo", "hi"}, {"t"})}, {}, {value("t")}};
  GraphText no{{node("Neg", {"a"}, {"e"})}, {}, {value("e")}};
  Bytes clip = function("f", "C", {"a", "c", "lo", "hi"}, {"b"}, {},
                        {node("If", {"c"}, {"b"}, {attr_graph("else_branch", no), attr_graph("then_branch", yes)})});
  Result r = import(
      model(GraphText{{node("C", {"x", "c"}, {"y"}, {}, "f")}, {value("x", 1, {1}), value("c", 9, {})}, {value("y")}},
            {opset("", 18), opset("f", 1)}, {clip}));
  ASSERT_EQ(r.text(), "");
}

// ---- bodies -------------------------------------------------------------------------------------------------------

Bytes if_model(const Bytes& condition_initializer, const std::vector<Bytes>& extra_inputs) {
  GraphText yes{{node("Add", {"x", "w"}, {"t"})}, {}, {value("t")}};
  GraphText no{{node("Add", {"z", "x"}, {"e"})}, {}, {value("e")}};
  std::vector<Bytes> inputs{value("x", 1, {2}), value("z", 1, {2})},
      initializers{tensor<float>("w", 1, {2}, {100, 200})};
  inputs.insert(inputs.end(), extra_inputs.begin(), extra_inputs.end());
  if (!condition_initializer.empty()) initializers.push_back(condition_initializer);
  return model(GraphText{{node("If", {"c"}, {"y"}, {attr_graph("else_branch", no), attr_graph("then_branch", yes)})},
                         inputs,
                         {value("y")},
                         initializers});
}

TEST(ImportBodies, CaptureWhatTheyUse) {
  Result r = import(if_model({}, {value("c", 9, {})}));
  ASSERT_EQ(r.text(), "");
  const Node& n = r.model.graph.nodes()[0];
  EXPECT_EQ(n.inputs.size(), 3u);  // the condition, x and z; the constant w is shared instead
  for (bool c : {false, true}) {
    std::vector<Tensor> in{floats({2}, {1, 2}), floats({2}, {10, 20}), Tensor::scalar(DType::b1, c)};
    EXPECT_EQ(values(interpret(r.model.graph, in).rounded[0]),
              c ? (std::vector<double>{101, 202}) : (std::vector<double>{11, 22}));
  }
}

TEST(ImportBodies, AKnownConditionTakesItsBranch) {
  Result r = import(if_model(tensor<uint8_t>("c", 9, {}, {1}), {}));
  ASSERT_EQ(r.text(), "");
  ASSERT_EQ(r.model.graph.nodes().size(), 1u);
  EXPECT_EQ(r.model.graph.nodes()[0].op->name, "Add");
}

TEST(ImportBodies, ALoopCarriesAndCaptures) {
  GraphText body{{node("Add", {"acc", "x"}, {"next"}), node("Identity", {"next"}, {"scan"})},
                 {value("i"), value("go"), value("acc")},
                 {value("go"), value("next"), value("scan")}};
  GraphText g{{node("Loop", {"trips", "", "zero"}, {"sum", "all"}, {attr_graph("body", body)})},
              {value("x", 1, {2})},
              {value("sum"), value("all")},
              {tensor<int64_t>("trips", 7, {}, {3}), tensor<float>("zero", 1, {2}, {0, 0})}};
  Result r = import(model(g));
  ASSERT_EQ(r.text(), "");
  EXPECT_EQ(to_string(r.model.graph.type(r.model.graph.outputs()[1].value)), "f32[3x2]");
  auto out = interpret(r.model.graph, std::vector<Tensor>{floats({2}, {1, 5})}).rounded;
  EXPECT_EQ(values(out[0]), (std::vector<double>{3, 15}));
  EXPECT_EQ(values(out[1]), (std::vector<double>{1, 5, 2, 10, 3, 15}));
}

TEST(ImportBodies, AGrowingCarriedValueIsOpened) {
  GraphText body{
      {node("Concat", {"acc", "x"}, {"next"}, {attr("axis", int64_t{0})}), node("Identity", {"go"}, {"go2"})},
      {value("i"), value("go"), value("acc")},
      {value("go2"), value("next")}};
  GraphText g{{node("Loop", {"trips", "", "start"}, {"all"}, {attr_graph("body", body)})},
              {value("x", 1, {2})},
              {value("all")},
              {tensor<int64_t>("trips", 7, {}, {3}), tensor<float>("start", 1, {1}, {7})}};
  Result r = import(model(g));
  ASSERT_EQ(r.text(), "");
  EXPECT_FALSE(r.model.graph.type(r.model.graph.outputs()[0].value).shape[0].is_static());
}

// ---- external data ------------------------------------------------------------------------------------------------

struct Folder {
  std::filesystem::path path;
  Folder() {
    std::string name = (std::filesystem::temp_directory_path() / "cameo_import_XXXXXX").string();
    path = mkdtemp(name.data());
  }
  ~Folder() { std::filesystem::remove_all(path); }
  void write(const std::string& name, const std::string& content) const {
    std::filesystem::create_directories((path / name).parent_path());
    std::ofstream(path / name) << content;
  }
};
Bytes external_model(const Bytes& t) { return add_constant(t); }

TEST(ImportExternal, IsMappedAtItsOffset) {
  Folder f;
  float data[] = {9, 1, 2, 3};
  f.write("sub/w.bin", std::string(reinterpret_cast<char*>(data), sizeof data));
  Result r = import(external_model(external("c", {3}, "./sub/w.bin", "4", "12")), {}, f.path);
  ASSERT_EQ(r.text(), "");
  EXPECT_EQ(values(interpret(r.model.graph, std::vector<Tensor>{floats({3}, {0, 0, 0})}).rounded[0]),
            (std::vector<double>{1, 2, 3}));
}

TEST(ImportExternal, OnlyPlainFilesUnderTheFolderAreOpened) {
  Folder outside, f;
  outside.write("w.bin", std::string(12, 'a'));
  f.write("m/w.bin", std::string(12, 'a'));
  f.write("up.bin", std::string(12, 'a'));
  std::filesystem::path folder = f.path / "m";
  std::filesystem::create_symlink(outside.path / "w.bin", folder / "link.bin");
  std::filesystem::create_directory_symlink(outside.path, folder / "linked");
  std::filesystem::create_hard_link(f.path / "up.bin", folder / "hard.bin");
  std::filesystem::create_directory(folder / "dir");
  ASSERT_EQ(std::system(("mkfifo '" + (folder / "fifo").string() + "'").c_str()), 0);
  for (std::string location : {"../up.bin", "dir/../../up.bin", "link.bin", "linked/w.bin", "hard.bin", "dir", "fifo",
                               "missing.bin", "", ".", "w.bin/x"})
    EXPECT_EQ(import(external_model(external("c", {3}, location)), {}, folder).codes(), "E0103") << location;
  EXPECT_EQ(import(external_model(external("c", {3}, (folder / "w.bin").string())), {}, folder).codes(), "E0103");
  EXPECT_EQ(import(external_model(external("c", {3}, "/proc/self/mem")), {}, folder).codes(), "E0103");
  EXPECT_EQ(import(external_model(external("c", {3}, "w.bin")), {}, folder).codes(), "");
}

TEST(ImportExternal, OffsetsAndLengthsAreChecked) {
  Folder f;
  f.write("w.bin", std::string(12, 'a'));
  auto codes = [&](std::string_view offset, std::string_view length) {
    return import(external_model(external("c", {3}, "w.bin", offset, length)), {}, f.path).codes();
  };
  EXPECT_EQ(codes("", ""), "");
  EXPECT_EQ(codes("1", ""), "E0103");
  EXPECT_EQ(codes("0", "8"), "E0104");
  EXPECT_EQ(codes("9223372036854775807", "12"), "E0103");
  EXPECT_EQ(codes("-4", "12"), "E0103");
  EXPECT_EQ(codes("0x0", "12"), "E0103");
  EXPECT_EQ(codes("99999999999999999999", "12"), "E0103");
}

}  // namespace
}  // namespace cameo
