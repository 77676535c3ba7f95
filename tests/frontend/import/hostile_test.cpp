// The importer on models that are wrong: each is refused with the code that says why, or accepted where that is right;
// never a signal, never unbounded time or memory.
#include <gtest/gtest.h>

#include <ctime>
#include <random>

#include "tests/frontend/import/onnx_writer.h"

namespace cameo {
namespace {
using namespace onnx_text;

Bytes relu_model() { return model(GraphText{{node("Relu", {"x"}, {"y"})}, {value("x", 1, {2})}, {value("y")}}); }
Bytes graph_of(const std::vector<Bytes>& nodes, const std::vector<Bytes>& initializers = {}) {
  return model(GraphText{nodes, {value("x", 1, {2, 2})}, {value("y")}, initializers});
}

// ---- wire ---------------------------------------------------------------------------------------------------------

TEST(HostileWire, EveryTruncationIsRefused) {
  Bytes m = relu_model();
  for (size_t n = 0; n < m.size(); ++n) EXPECT_TRUE(import(m.substr(0, n)).diagnostics.has_errors()) << n;
}

TEST(HostileWire, AnyByteMayBeWrong) {
  Bytes body =
      GraphText{{node("Add", {"acc", "x"}, {"n"})}, {value("i"), value("go"), value("acc")}, {value("go"), value("n")}};
  Bytes m = model(GraphText{{node("Loop", {"t", "", "x"}, {"y"}, {attr_graph("body", body)})},
                            {value("x", 1, {"n"})},
                            {value("y")},
                            {tensor<int64_t>("t", 7, {}, {2})}});
  ASSERT_EQ(import(m).text(), "");
  std::mt19937 random(1);
  for (int i = 0; i < 4000; ++i) {
    Bytes bad = m;
    for (int k = 0; k < 1 + i % 3; ++k) bad[random() % bad.size()] = static_cast<char>(random());
    import(bad);  // whatever it says, it says it
  }
}

TEST(HostileWire, SaysWhatTheBytesAre) {
  EXPECT_NE(import("version https://git-lfs.github.com/spec/v1\noid sha256:0\n").text().find("Git LFS"),
            std::string::npos);
  EXPECT_NE(import("\x18\0\0\0ORTM....").text().find("truncated"), std::string::npos);
  EXPECT_NE(import(std::string("\x18\0\0\0ORTM....", 12)).text().find(".ort"), std::string::npos);
  EXPECT_NE(import("ir_version: 8\ngraph {}\n").text().find("text form"), std::string::npos);
  EXPECT_NE(import("hello").text().find("text"), std::string::npos);
  EXPECT_EQ(import("").codes(), "E0101");
}

TEST(HostileWire, DamageIsRefused) {
  EXPECT_EQ(import(relu_model() + std::string(3, '\0')).codes(), "E0102");
  EXPECT_EQ(import(relu_model() + "\xff\xff\xff").codes(), "E0102");
  EXPECT_EQ(import(relu_model() + relu_model()).codes(), "E0102");  // two models
  EXPECT_EQ(import(varint(1 << 3) + std::string(10, '\x80') + "\1" + relu_model()).codes(),
            "E0102");                                                                     // an over-long number
  EXPECT_EQ(import(bytes(7, varint(1 << 3 | 2) + varint(1ull << 60))).codes(), "E0102");  // longer than its parent
  EXPECT_EQ(import(relu_model() + varint(100 << 3 | 3)).codes(), "E0102");                // a group
}

TEST(HostileWire, UnknownFieldsAreSkipped) {
  EXPECT_EQ(import(relu_model() + bytes(1000, "metadata") + number(1001, 5)).codes(), "");
}

TEST(HostileWire, MillionsOfIntegersAreAForest) {
  const Bytes ids = attr("value_ints", std::vector<int64_t>(12'000'000, 1));
  EXPECT_EQ(import(model(GraphText{{node("Constant", {}, {"y"}, {ids})}, {}, {value("y", 7, {12'000'000})}})).codes(),
            "");
}

TEST(HostileWire, MillionsOfEmptyMessagesAreRefused) {
  Bytes nodes;
  for (int i = 0; i < 1'500'000; ++i) nodes += bytes(1, "");
  EXPECT_EQ(import(model(nodes)).codes(), "E0102");
}

TEST(HostileWire, DeepTypesAndGraphsAreRefused) {
  Bytes type_text = type(1, {2});
  for (int i = 0; i < 1000; ++i) type_text = bytes(4, bytes(1, type_text));
  EXPECT_EQ(import(model(GraphText{{}, {bytes(1, "x") + bytes(2, type_text)}, {value("x")}})).codes(), "E0102");
}

/// `depth` nested Ifs around a Relu.
Bytes nested(int depth, bool constant) {
  Bytes g = GraphText{{node("Relu", {"x"}, {"y"})}, {}, {value("y")}};
  for (int i = 0; i < depth; ++i)
    g = GraphText{{node("If", {"c"}, {"y"},
                        {attr_graph("then_branch", g),
                         attr_graph("else_branch", Bytes(GraphText{{node("Relu", {"x"}, {"y"})}, {}, {value("y")}}))})},
                  {},
                  {value("y")}};
  GraphText main{{node("If", {"c"}, {"y"}, {attr_graph("then_branch", g), attr_graph("else_branch", g)})},
                 {value("x", 1, {2})},
                 {value("y")}};
  if (constant)
    main.initializers = {tensor<uint8_t>("c", 9, {}, {1})};
  else
    main.inputs.push_back(value("c", 9, {}));
  return model(main);
}
TEST(HostileWire, NestedIfsCostLinearTime) {
  for (bool constant : {false, true}) {
    std::clock_t start = std::clock();
    EXPECT_EQ(import(nested(40, constant)).codes(), "");
    EXPECT_EQ(import(nested(1000, constant)).codes(), "E0102");
    EXPECT_LT(std::clock() - start, 5 * CLOCKS_PER_SEC);
  }
}

// ---- model --------------------------------------------------------------------------------------------------------

TEST(HostileModel, VersionsAreChecked) {
  GraphText g{{node("Relu", {"x"}, {"y"})}, {value("x", 1, {2})}, {value("y")}};
  EXPECT_EQ(import(model(g, {opset("", 18)}, {}, 0)).codes(), "E0201");
  EXPECT_EQ(import(model(g, {opset("", 18)}, {}, -5)).codes(), "E0201");
  EXPECT_EQ(import(model(g, {opset("", 18)}, {}, 1000000)).codes(), "E0201");
  EXPECT_EQ(import(model(g, {})).codes(), "E0201");
  EXPECT_EQ(import(model(g, {opset("", 18), opset("", 17)})).codes(), "") << "of several the newest";
  EXPECT_EQ(import(model(g, {opset("", 18), opset("ai.onnx", 18)})).codes(), "");
  EXPECT_EQ(import(model(g, {opset("", -1)})).codes(), "E0201 E0401");
  EXPECT_EQ(import(model(g, {opset("other", 1)})).codes(), "E0201");
  EXPECT_EQ(import(model(g, {opset("", 99)})).codes(), "W0003");
  EXPECT_EQ(import(model(g, {opset("", 3)})).codes(), "");
  const GraphText newer{{node("Gelu", {"x"}, {"y"})}, {value("x", 1, {2})}, {value("y")}};
  EXPECT_EQ(import(model(newer, {opset("", 3)})).codes(), "E0401");
  EXPECT_EQ(import(model(g, {opset("ai.onnx", 18)})).codes(), "");
  EXPECT_EQ(import(number(1, 8) + bytes(8, opset("", 18))).codes(), "E0201");
}

TEST(HostileModel, UnknownOperatorsAreListedTogether) {
  Result r = import(graph_of(
      {node("Foo", {"x"}, {"a"}), node("Foo", {"a"}, {"b"}), node("Bar", {"b"}, {"c"}), node("Relu", {"c"}, {"y"})}));
  EXPECT_EQ(r.codes(), "E0401 E0401");
  EXPECT_NE(r.text().find("`Foo` is not supported (2 nodes)"), std::string::npos) << r.text();
}

TEST(HostileModel, UnknownOperatorsInBodiesAreListed) {
  Bytes g = GraphText{{node("Foo", {"x"}, {"t"})}, {}, {value("t")}};
  GraphText main{{node("Bar", {"x"}, {"c"}),
                  node("If", {"c"}, {"y"}, {attr_graph("then_branch", g), attr_graph("else_branch", g)})},
                 {value("x", 1, {2})},
                 {value("y")}};
  EXPECT_EQ(import(model(main)).codes(), "E0401 E0401");
}

TEST(HostileModel, FunctionsMustNotRecurse) {
  auto run = [](const std::vector<Bytes>& functions) {
    return import(model(GraphText{{node("A", {"x"}, {"y"}, {}, "f")}, {value("x", 1, {2})}, {value("y")}},
                        {opset("", 18), opset("f", 1)}, functions))
        .codes();
  };
  Bytes a = function("f", "A", {"p"}, {"q"}, {}, {node("B", {"p"}, {"q"}, {}, "f")});
  EXPECT_EQ(run({function("f", "A", {"p"}, {"q"}, {}, {node("A", {"p"}, {"q"}, {}, "f")})}), "E0201");
  EXPECT_EQ(run({a, function("f", "B", {"p"}, {"q"}, {}, {node("A", {"p"}, {"q"}, {}, "f")})}), "E0201");
  Bytes body = GraphText{{node("A", {"p"}, {"t"}, {}, "f")}, {}, {value("t")}};
  Bytes through_if = node("If", {"p"}, {"q"}, {attr_graph("then_branch", body), attr_graph("else_branch", body)});
  EXPECT_EQ(run({a, function("f", "B", {"p"}, {"q"}, {}, {through_if})}), "E0201");
  EXPECT_EQ(run({a, a, function("f", "B", {"p"}, {"q"}, {}, {node("Relu", {"p"}, {"q"})})}), "E0201");  // defined twice
}

TEST(HostileModel, FunctionsMustNotExplode) {
  std::vector<Bytes> functions{function("f", "L0", {"a"}, {"b"}, {}, {node("Relu", {"a"}, {"b"})})};
  for (int i = 1; i <= 60; ++i) {
    std::string callee = "L" + std::to_string(i - 1);
    functions.push_back(function("f", "L" + std::to_string(i), {"a"}, {"b"}, {},
                                 {node(callee, {"a"}, {"m"}, {}, "f"), node(callee, {"m"}, {"b"}, {}, "f")}));
  }
  std::clock_t start = std::clock();
  Result r = import(model(GraphText{{node("L60", {"x"}, {"y"}, {}, "f")}, {value("x", 1, {2})}, {value("y")}},
                          {opset("", 18), opset("f", 1)}, functions));
  EXPECT_EQ(r.codes(), "E0201");
  EXPECT_LT(std::clock() - start, 5 * CLOCKS_PER_SEC);
}

TEST(HostileModel, LongChainsOfFunctionsAreRefused) {
  std::vector<Bytes> functions;
  for (int i = 0; i < 5000; ++i)
    functions.push_back(function("f", "L" + std::to_string(i), {"a"}, {"b"}, {},
                                 {node("L" + std::to_string(i + 1), {"a"}, {"b"}, {}, "f")}));
  functions.push_back(function("f", "L5000", {"a"}, {"b"}, {}, {node("Relu", {"a"}, {"b"})}));
  EXPECT_TRUE(import(model(GraphText{{node("L0", {"x"}, {"y"}, {}, "f")}, {value("x", 1, {2})}, {value("y")}},
                           {opset("", 18), opset("f", 1)}, functions))
                  .diagnostics.has_errors());
}

// ---- graph --------------------------------------------------------------------------------------------------------

TEST(HostileGraph, NamesMustFit) {
  Result cycle =
      import(graph_of({node("Relu", {"b"}, {"a"}), node("Relu", {"a"}, {"b"}), node("Add", {"b", "x"}, {"y"})}));
  EXPECT_EQ(cycle.codes(), "E0202");
  EXPECT_NE(cycle.text().find("2 nodes form a cycle"), std::string::npos) << cycle.text();
  EXPECT_EQ(import(graph_of({node("Relu", {"y"}, {"y"})})).codes(), "E0202");
  EXPECT_EQ(import(graph_of({node("Relu", {"nothing"}, {"y"})})).codes(), "E0202");
  EXPECT_EQ(import(graph_of({node("Relu", {"x"}, {"y"}), node("Relu", {"x"}, {"y"})})).codes(), "E0202");
  EXPECT_EQ(import(graph_of({node("Relu", {"x"}, {"x"}), node("Relu", {"x"}, {"y"})})).codes(), "E0202");
  EXPECT_EQ(import(graph_of({node("Relu", {"x"}, {"z"})})).codes(), "E0202");  // the output is never made
  EXPECT_EQ(import(model(GraphText{{}, {value("x", 1, {2}), value("x", 1, {2})}, {value("x")}})).codes(), "E0202");
  EXPECT_EQ(
      import(model(GraphText{{node("Relu", {"x"}, {"y"})}, {value("x", 1, {2})}, {value("y"), value("y")}})).codes(),
      "E0202");
  EXPECT_EQ(import(model(GraphText{{node("Relu", {"x"}, {"y"})}, {value("x", 1, {2})}, {}})).codes(), "E0202");
  EXPECT_EQ(import(graph_of({node("Relu", {"x"}, {"y"})}, {tensor<float>("", 1, {1}, {1})})).codes(), "E0202");
  EXPECT_EQ(import(graph_of({node("Add", {"x", "w"}, {"y"})},
                            {tensor<float>("w", 1, {1}, {1}), tensor<float>("w", 1, {1}, {1})}))
                .codes(),
            "E0202");
}

TEST(HostileGraph, BodiesMustNotUseLaterNames) {
  Bytes g = GraphText{{node("Relu", {"later"}, {"t"})}, {}, {value("t")}};
  GraphText main{{node("If", {"c"}, {"y"}, {attr_graph("then_branch", g), attr_graph("else_branch", g)}),
                  node("Relu", {"x"}, {"later"})},
                 {value("x", 1, {2}), value("c", 9, {})},
                 {value("y")}};
  EXPECT_EQ(import(model(main)).codes().substr(0, 5), "E0202");
}

TEST(HostileGraph, ArityIsChecked) {
  EXPECT_EQ(import(graph_of({node("Relu", {}, {"y"})})).codes(), "E0203");
  EXPECT_EQ(import(graph_of({node("Relu", {""}, {"y"})})).codes(), "E0203");
  EXPECT_EQ(import(graph_of({node("Relu", {"x", "x"}, {"y"})})).codes(), "E0203");
  EXPECT_EQ(import(graph_of({node("Relu", {"x"}, {"y", "z"})})).codes(), "E0203");
  EXPECT_EQ(import(graph_of({node("Relu", {"x"}, {}), node("Relu", {"x"}, {"y"})})).codes(), "E0203");
  ImportOptions lenient;
  lenient.lenient = true;  // negative axes count from the end, but of nothing
  const Bytes absent = node("Transpose", {""}, {"y"}, {attr("perm", std::vector<int64_t>{-1, 0})});
  EXPECT_EQ(import(graph_of({absent}), lenient).codes(), "E0203");
  const Bytes statistics = node("BatchNormalization", {"x", "c", "c", "c", "c"}, {"y", "mean", "variance", "saved"},
                                {attr("training_mode", int64_t{1})});
  EXPECT_EQ(import(graph_of({statistics}, {tensor<float>("c", 1, {2}, {1, 2})})).codes(), "E0203");
}

TEST(HostileGraph, AttributesAreChecked) {
  EXPECT_EQ(import(graph_of({node("LeakyRelu", {"x"}, {"y"}, {attr("alpha", int64_t{1})})})).codes(), "E0204");
  EXPECT_EQ(import(graph_of({node("LeakyRelu", {"x"}, {"y"}, {attr("alpha", 1.f), attr("alpha", 1.f)})})).codes(),
            "E0204");
  EXPECT_EQ(import(graph_of({node("LeakyRelu", {"x"}, {"y"}, {attr("beta", 1.f)})})).codes(), "W0002");
  EXPECT_EQ(import(graph_of({node("LeakyRelu", {"x"}, {"y"}, {attr_ref("alpha", 1, "a")})})).codes(), "E0204");
  EXPECT_EQ(import(graph_of({node("Constant", {}, {"y"})})).codes(), "E0204");
  EXPECT_EQ(import(graph_of({node("Constant", {}, {"y"}, {attr("value_int", 1.f)})})).codes(), "E0204");
  EXPECT_EQ(import(graph_of({node("Constant", {}, {"y"}, {attr("nothing", 1.f)})})).codes(), "E0204");
}

TEST(HostileGraph, IndependentProblemsComeTogether) {
  Result r =
      import(graph_of({node("Relu", {"x", "x"}, {"a"}), node("LeakyRelu", {"x"}, {"b"}, {attr("alpha", int64_t{1})}),
                       node("Nope", {"x"}, {"c"}), node("Add", {"a", "b"}, {"d"}), node("Add", {"c", "d"}, {"y"})}));
  EXPECT_EQ(r.codes(), "E0203 E0204 E0401");
}

TEST(HostileGraph, DeclaredTypesAreNeverTrusted) {
  auto declared = [](const Bytes& output, const std::vector<Bytes>& infos = {}) {
    return import(model(GraphText{
        {node("Relu", {"x"}, {"m"}), node("Relu", {"m"}, {"y"})}, {value("x", 1, {2, 2})}, {output}, {}, infos}));
  };
  EXPECT_EQ(declared(value("y", 7, {2, 2})).codes(), "E0303");
  Result r = declared(value("y", 1, {1000000, 1000000}), {value("m", 11, {3})});
  EXPECT_EQ(r.codes(), "W0004");
  EXPECT_EQ(to_string(r.model.graph.type(r.model.graph.outputs()[0].value)), "f32[2x2]");
}

// ---- tensors
TEST(HostileGraph, ImpossibleSizesAreRefused) {
  auto dims = [](std::vector<int64_t> d) {
    Bytes shape = tensor<int64_t>("s", 7, {static_cast<int64_t>(d.size())}, d);
    GraphText g{{node("ConstantOfShape", {"s"}, {"y"})}, {value("x", 1, {2})}, {value("y")}, {shape}};
    return import(model(g)).codes();
  };
  EXPECT_EQ(dims({1000000, 1000000}), "E0405");
  EXPECT_EQ(dims({int64_t{1} << 32, int64_t{1} << 32}), "E0405");
  EXPECT_EQ(dims({4, 4}), "");
}

TEST(HostileGraph, ManyCapturesThroughManyLevelsAreRefused) {
  std::vector<Bytes> in;
  GraphText main{{}, {value("c", 9, {})}, {value("y")}};
  for (int i = 0; i < 20000; ++i) {
    in.push_back("i" + std::to_string(i));
    main.inputs.push_back(value(in.back(), 1, {1}));
  }
  Bytes other = GraphText{{node("Identity", {"i0"}, {"y"})}, {}, {value("y")}};
  Bytes g = GraphText{{node("Concat", in, {"y"}, {attr("axis", int64_t{0})})}, {}, {value("y")}};
  auto choose = [&] {
    return node("If", {"c"}, {"y"}, {attr_graph("then_branch", g), attr_graph("else_branch", other)});
  };
  for (int i = 0; i < 50; ++i) g = GraphText{{choose()}, {}, {value("y")}};
  main.nodes = {choose()};
  EXPECT_EQ(import(model(main)).codes(), "E0201");
}

// ---------------------------------------------------------------------------------------------------------

std::string tensor_codes(const Bytes& t) { return import(graph_of({node("Add", {"x", "c"}, {"y"})}, {t})).codes(); }

TEST(HostileTensor, PayloadsMustMatch) {
  EXPECT_EQ(tensor_codes(tensor<float>("c", 1, {2}, {1})), "E0104");
  EXPECT_EQ(tensor_codes(tensor<float>("c", 1, {2}, {1, 2, 3})), "E0104");
  EXPECT_EQ(tensor_codes(tensor<float>("c", 1, {2}, {})), "E0104");
  EXPECT_EQ(tensor_codes(tensor_head("c", 1, {2})), "E0104");
  EXPECT_EQ(tensor_codes(tensor_head("c", 1, {1}) + number(7, 1)), "E0104");       // int64_data for floats
  EXPECT_EQ(tensor_codes(tensor<float>("c", 1, {1}, {1}) + real(4, 1)), "E0104");  // two payloads
  EXPECT_EQ(tensor_codes(tensor<float>("c", 99, {1}, {1})), "E0104");
  EXPECT_EQ(tensor_codes(tensor<float>("c", 0, {1}, {1})), "E0104");
  EXPECT_EQ(tensor_codes(tensor<float>("c", 1, {-1}, {1})), "E0104");
  EXPECT_EQ(tensor_codes(tensor<float>("c", 1, {1ll << 40, 1ll << 40}, {1})), "E0104");
  EXPECT_EQ(tensor_codes(tensor<float>("c", 1, {1ll << 62}, {1})), "E0104");
  EXPECT_EQ(tensor_codes(tensor<float>("c", 8, {1}, {1})), "E0104");  // strings in raw_data
}

std::string sparse_codes(const Bytes& values, const Bytes& indices, const std::vector<int64_t>& dims) {
  Bytes s = bytes(1, values) + bytes(2, indices);
  for (int64_t d : dims) s += number(3, d);
  return import(model(GraphText{{node("Add", {"x", "c"}, {"y"})}, {value("x", 1, {2})}, {value("y")}, {}, {}, {s}}))
      .codes();
}
TEST(HostileTensor, SparseIndicesMustLieInside) {
  auto v = tensor<float>("c", 1, {1}, {1});
  EXPECT_EQ(sparse_codes(v, tensor<int64_t>("", 7, {1}, {1}), {2}), "");
  EXPECT_EQ(sparse_codes(v, tensor<int64_t>("", 7, {1}, {2}), {2}), "E0104");
  EXPECT_EQ(sparse_codes(v, tensor<int64_t>("", 7, {1}, {-1}), {2}), "E0104");
  EXPECT_EQ(sparse_codes(v, tensor<int64_t>("", 7, {2}, {0, 1}), {2}), "E0104");
  EXPECT_EQ(sparse_codes(v, tensor<int64_t>("", 7, {1, 2}, {0, 5}), {2, 2}), "E0104");
  EXPECT_EQ(sparse_codes(v, tensor<float>("", 1, {1}, {0}), {2}), "E0104");
  EXPECT_EQ(sparse_codes(v, tensor<int64_t>("", 7, {1}, {1}), {1ll << 40}), "E0405");
  EXPECT_EQ(sparse_codes(tensor<float>("c", 1, {2}, {1, 2}), tensor<int64_t>("", 7, {2}, {1, 0}), {2}), "E0104");
}

TEST(HostileTensor, InputsMustBePossible) {
  auto input = [](const Bytes& v) {
    return import(model(GraphText{{node("Relu", {"x"}, {"y"})}, {v}, {value("y")}})).codes();
  };
  EXPECT_EQ(input(value("x", 1, {-5})), "E0302");
  EXPECT_EQ(input(value("x", 99, {2})), "E0403");
  EXPECT_EQ(input(value("x")), "E0403");
  EXPECT_EQ(input(bytes(1, "x") + bytes(2, bytes(1, number(1, 1)))), "E0501");             // no shape
  EXPECT_EQ(input(bytes(1, "x") + bytes(2, bytes(4, bytes(1, type(1, {2}))))), "E0301");   // a sequence
  EXPECT_EQ(input(bytes(1, "x") + bytes(2, bytes(4, bytes(1, type(8, {2}))))), "E0301");   // of strings
  EXPECT_EQ(input(bytes(1, "x") + bytes(2, bytes(4, bytes(1, type(14, {2}))))), "E0301");  // of complex numbers
  EXPECT_EQ(input(value("x", 1, {INT32_MAX, INT32_MAX})), "E0405");
}

// ---- limits -------------------------------------------------------------------------------------------------------

TEST(HostileLimits, TensorsOfManyAxesAreRefusedByName) {
  const int64_t most = 32;
  auto of_rank = [](int64_t rank) { return std::vector<AnyDim>(static_cast<size_t>(rank), 1); };
  auto input = [&](int64_t rank) {
    return import(model(GraphText{{node("Relu", {"x"}, {"y"})}, {value("x", 1, of_rank(rank))}, {value("y")}}));
  };
  auto constant = [&](int64_t rank) {
    return import(
        graph_of({node("Add", {"x", "w"}, {"y"})}, {tensor<float>("w", 1, std::vector<int64_t>(rank, 1), {1})}));
  };
  auto body = [&](int64_t rank) {  // a Loop stacks what its body gives
    Bytes g = GraphText{{node("Relu", {"x"}, {"s"})}, {value("i"), value("go")}, {value("go"), value("s")}};
    return import(model(GraphText{{node("Loop", {"t", ""}, {"y"}, {attr_graph("body", g)})},
                                  {value("x", 1, of_rank(rank - 1))},
                                  {value("y")},
                                  {tensor<int64_t>("t", 7, {}, {2})}}));
  };
  auto called = [&](int64_t rank) {
    Bytes f = function("f", "F", {"a"}, {"b"}, {}, {node("Unsqueeze", {"a", "k"}, {"b"})});
    f = function("f", "F", {"a", "k"}, {"b"}, {}, {node("Unsqueeze", {"a", "k"}, {"b"}, {}, "", "inner")});
    return import(model(GraphText{{node("F", {"x", "k"}, {"y"}, {}, "f")},
                                  {value("x", 1, of_rank(rank - 1))},
                                  {value("y")},
                                  {tensor<int64_t>("k", 7, {1}, {0})}},
                        {opset("", 18), opset("f", 1)}, {f}));
  };
  auto expect = [&](auto make, const char* code, const char* name) {
    EXPECT_EQ(make(most).codes(), "");
    EXPECT_EQ(make(most + 1).codes(), code);
    EXPECT_NE(make(most + 1).text().find(name), std::string::npos) << make(most + 1).text();
    EXPECT_NE(make(most + 1).text().find("33 axes, the most is 32"), std::string::npos) << make(most + 1).text();
  };
  expect(input, "E0405", "input `x`");
  expect(constant, "E0104", "tensor `w`");
  expect(body, "E0405", "(Loop)");
  expect(called, "E0405", "inner");
}

TEST(HostileLimits, ExtentsAreLimitedWhereAnotherIsZero) {
  EXPECT_EQ(tensor_codes(tensor<float>("c", 1, {0, 1ll << 62}, {})), "E0104");
  Bytes shape = tensor<int64_t>("s", 7, {2}, {0, 1ll << 62});
  GraphText g{{node("ConstantOfShape", {"s"}, {"y"})}, {value("x", 1, {2})}, {value("y")}, {shape}};
  EXPECT_EQ(import(model(g)).codes(), "E0405");
}

TEST(HostileLimits, NumbersThatGrowWhenUnpackedAreRefused) {
  Bytes head = tensor_head("c", 7, {20'000'000});
  EXPECT_EQ(tensor_codes(head + bytes(7, Bytes(20'000'000, '\0'))), "E0102");
  EXPECT_EQ(tensor_codes(tensor_head("c", 7, {1000}) + bytes(7, Bytes(1000, '\0'))), "E0301");  // read: no floats
}

TEST(HostileLimits, ALoopCountsOneNumber) {
  auto loop = [](const Bytes& count, const Bytes& go) {
    Bytes g = GraphText{{node("Relu", {"x"}, {"s"})}, {value("i"), value("on")}, {value("on"), value("s")}};
    return import(model(GraphText{{node("Loop", {"t", "c"}, {"y"}, {attr_graph("body", g)})},
                                  {value("x", 1, {2})},
                                  {value("y")},
                                  {count, go}}))
        .codes();
  };
  Bytes one = tensor<int64_t>("t", 7, {}, {2}), on = tensor<uint8_t>("c", 9, {}, {1});
  EXPECT_EQ(loop(one, on), "");
  EXPECT_EQ(loop(tensor<int64_t>("t", 7, {0}, {}), on), "E0302");
  EXPECT_EQ(loop(tensor<int64_t>("t", 7, {2}, {1, 2}), on), "E0302");
  EXPECT_EQ(loop(one, tensor<uint8_t>("c", 9, {0}, {})), "E0302");
}

TEST(HostileLimits, ALongNameOfACallIsNotRepeated) {
  std::vector<Bytes> nodes;
  for (int i = 0; i < 6000; ++i)
    nodes.push_back(node("Relu", {"t" + std::to_string(i)}, {"t" + std::to_string(i + 1)}));
  Result r = import(
      model(GraphText{{node("F", {"x"}, {"y"}, {}, "f", Bytes(100'000, 'A'))}, {value("x", 1, {2})}, {value("y")}},
            {opset("", 18), opset("f", 1)}, {function("f", "F", {"t0"}, {"t6000"}, {}, nodes)}));
  EXPECT_EQ(r.codes(), "");
  size_t text = 0;
  for (const SourceNode& s : r.model.graph.sources()) text += s.name.size();
  EXPECT_LT(text, 2'000'000u);
}

// ---- the collection -----------------------------------------------------------------------------------------------

TEST(Hostile, CollectedFiles) {
  std::filesystem::path folder = std::filesystem::path(CAMEO_SHARED) / "hostile";
  if (!std::filesystem::exists(folder)) GTEST_SKIP() << folder << " is not here";
  for (auto& e : std::filesystem::directory_iterator(folder)) {
    Diagnostics d;
    Model m = import_onnx(e.path(), {}, d);
    std::string text;
    for (auto& x : d.all()) text += to_string(x);
    SCOPED_TRACE(e.path().filename().string() + "\n" + text);
    for (auto& x : d.all()) EXPECT_FALSE(x.message.empty());
    EXPECT_TRUE(d.has_errors() || !m.graph.outputs().empty());
  }
}

}  // namespace
}  // namespace cameo
