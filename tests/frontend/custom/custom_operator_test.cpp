// Custom operators without a compiler: tables of this test's own, through declaration, shape rule, meaning and the
// interpreter; and all that a file can get wrong, with its code.
#include "frontend/custom/custom_operator.h"

#include <gtest/gtest.h>

#include <deque>

#include "frontend/ir/build.h"
#include "frontend/reference/interpret.h"

namespace cameo {
namespace {

using op::Dims;
using op::Element;
using op::Kind;
using op::Scalar;

std::vector<const Operator*> declared(std::initializer_list<op::Operator> rows, const std::string& path = "my_op.cpp",
                                      std::vector<const Operator*> all = {}) {
  // graphs point to operators, and those to rows
  static std::deque<std::vector<op::Operator>> kept;
  const auto& last = kept.emplace_back(rows);
  const op::Table table{op::kVersion, static_cast<int>(last.size()), sizeof(op::Operator), last.data(),
                        &op::detail::compiler};
  declare_custom(table, std::make_shared<const CustomFile>(CustomFile{path, "", "my_op"}), all);
  return all;
}
const Operator& one(const op::Operator& row) { return *declared({row})[0]; }

/// The code and the message of what `make` throws.
template <class F>
std::string refused(F make) {
  try {
    make();
  } catch (const CompileError& e) { return std::string(code_name(e.diagnostic.code)) + " " + e.diagnostic.message; }
  return "nothing was thrown";
}
void expect_refused(const std::string& code, const std::string& part, const op::Operator& row) {
  const std::string said = refused([&] { one(row); });
  EXPECT_TRUE(said.starts_with(code) && said.find(part) != said.npos) << said;
}

Tensor f32(std::vector<int64_t> dims, std::initializer_list<double> values) {
  Tensor t(DType::f32, std::move(dims));
  int64_t i = 0;
  for (double v : values) t.set(i++, v);
  return t;
}
std::vector<double> values(const Tensor& t) {
  std::vector<double> v;
  for (int64_t i = 0; i < t.size(); ++i) v.push_back(t.get(i));
  return v;
}

/// A graph of one such node on inputs of these types.
Graph graph_of(const Operator& op, const std::vector<Type>& types, const Attrs& attrs = {}, int outputs = 1) {
  Graph g;
  std::vector<ValueId> in;
  for (const Type& t : types) in.push_back(g.add_input("x" + std::to_string(in.size()), t));
  const auto out = g.add(op, in, attrs, {}, 0, outputs);
  for (size_t i = 0; i < out.size(); ++i) g.add_output("y" + std::to_string(i), out[i]);
  return g;
}
const Type kVector(DType::f32, {Dim(3)}), kMatrix(DType::f32, {Dim(2), Dim(3)});
Expr rows() { return symbol("custom_rows", {1, 64}); }

Scalar scaled(const Element& e) { return select(e.in(0) > 0, e.in(0) * e.number("scale"), e.in(1) - 1); }
const op::Operator kScaled = {.name = "Scaled",
                              .inputs = {{"x", op::floats}, {"y", op::floats}},
                              .attributes = {{"scale", 2.0}},
                              .element = scaled};

TEST(CustomElement, IsAnExpressionOverWhatBroadcasts) {
  const Graph g = graph_of(one(kScaled), {kMatrix, kVector});
  const Meaning& m = meaning_of(g, g.nodes()[0]);
  ASSERT_TRUE(std::holds_alternative<Compute>(m));
  EXPECT_EQ(to_string(g.type(g.outputs()[0].value)), "f32[2x3]");
  const Tensor in[] = {f32({2, 3}, {1, -1, 2, -2, 0, 3}), f32({3}, {10, 20, 30})};
  EXPECT_EQ(values(interpret(g, in).rounded[0]), (std::vector<double>{2, 19, 4, 9, 19, 6}));
}

TEST(CustomElement, TakesAttributesOfTheNodeAndOtherwiseDefaults) {
  const Tensor in[] = {f32({3}, {1, 2, 3}), f32({3}, {0, 0, 0})};
  const Graph g = graph_of(one(kScaled), {kVector, kVector}, {{"scale", 5.0}});
  EXPECT_EQ(values(interpret(g, in).rounded[0]), (std::vector<double>{5, 10, 15}));
}

TEST(CustomElement, OfIntegersTakesPlainNumbersOfTheirType) {
  const op::Operator row = {.name = "Packed", .inputs = {{"x", op::integers}}, .element = [](const Element& e) {
                              return ((e.in(0) & 15) << 1) + e.in(0) / 2 % 3;
                            }};
  const Graph g = graph_of(one(row), {Type(DType::i32, {Dim(2)})});
  const int32_t x[] = {21, -7};
  const Tensor in[] = {Tensor::of<int32_t>(DType::i32, {2}, x)};
  EXPECT_EQ(values(interpret(g, in).rounded[0]), (std::vector<double>{10 + 1, 18 + 0}));
}

TEST(CustomElement, OfNarrowTypesIsCastBeforeItComputes) {
  const op::Operator row = {.name = "Narrow", .inputs = {{"x", op::narrow}}, .element = [](const Element& e) {
                              return cast(-cast(e.in(0), op::f32) * 3, e.type(0));
                            }};
  Tensor integers(DType::i4, {3}), floats(DType::f8e4m3fn, {3});
  for (int i = 0; i < 3; ++i) {
    integers.set_int(i, i - 1);
    floats.set(i, i * 100. - 50);
  }
  const auto of = [&](const Tensor& x) {
    return values(interpret(graph_of(one(row), {Type(x.dtype(), {Dim(3)})}), std::span(&x, 1)).rounded[0]);
  };
  EXPECT_EQ(of(integers), (std::vector<double>{3, 0, -3}));
  EXPECT_EQ(of(floats), (std::vector<double>{144, -144, -448}));
}

void transposed_shape(op::Shape& s) { s.output(0, s.type(0), Dims::of(s.dim(0, 1), s.dim(0, 0))); }
Scalar transposed(const Element& e) { return e.load(0, e.index(1), e.index(0)); }
void rows_shape(op::Shape& s) { s.output(0, s.type(0), Dims::of(s.dim(0, 0))); }
Scalar row_sum(const Element& e) {
  return e.sum(e.dim(0, -1), [&](const Scalar& i) { return e.load(0, e.index(0), i); });
}

TEST(CustomElement, LoadsAtAnIndexAndFolds) {
  const Tensor in[] = {f32({2, 3}, {1, 2, 3, 4, 5, 6})};
  const op::Operator turned = {.name = "Turned", .inputs = {{"x"}}, .shape = transposed_shape, .element = transposed};
  EXPECT_EQ(values(interpret(graph_of(one(turned), {kMatrix}), in).rounded[0]),
            (std::vector<double>{1, 4, 2, 5, 3, 6}));
  const op::Operator sums = {.name = "RowSum", .inputs = {{"x"}}, .shape = rows_shape, .element = row_sum};
  EXPECT_EQ(values(interpret(graph_of(one(sums), {kMatrix}), in).rounded[0]), (std::vector<double>{6, 15}));
}

TEST(CustomElement, ServesSizesThatOnlyARunKnows) {
  const op::Operator row = {.name = "RowSums", .inputs = {{"x"}}, .shape = rows_shape, .element = row_sum};
  const Graph g = graph_of(one(row), {Type(DType::f32, {Dim(rows()), Dim(3)})});
  EXPECT_TRUE(g.type(g.outputs()[0].value).shape[0] == Dim(rows()));
  const Tensor in[] = {f32({2, 3}, {1, 2, 3, 4, 5, 6})};
  EXPECT_EQ(values(interpret(g, in).rounded[0]), (std::vector<double>{6, 15}));
}

// ---- functions over whole tensors -----------------------------------------------------------------------------------
void pairs_shape(op::Shape& s) {
  s.require(s.dim(0, 0) >= 2, "needs two elements");
  s.output(0, s.type(0), Dims::of(s.dim(0, 0) / 2));
  if (s.has_output(1)) s.output(1, op::i64, Dims::of(s.dim(0, 0) / 2));
  s.scratch(s.dim(0, 0) * 4);
}
void pairs(const op::Run& r) {
  if (r.in(0).as<float>()[0] < 0) return r.fail("takes no pair that begins below 0");
  float* const scratch = static_cast<float*>(r.scratch);
  for (int64_t i = 0; i < r.in(0).dims[0]; ++i) scratch[i] = r.in(0).as<float>()[i];
  for (int64_t i = r.begin; i < r.end; ++i) {
    r.out(0).as<float>()[i] = scratch[2 * i] + scratch[2 * i + 1] + (r.has(1) ? r.in(1).as<float>()[0] : 0);
    if (r.has_output(1)) r.out(1).as<int64_t>()[i] = r.integers("places")[i % 2];
  }
}
const op::Operator kPairs = {.name = "Pairs",
                             .domain = "example",
                             .inputs = {{"x", op::f32}, {"bias", op::f32, op::optional}},
                             .outputs = {{"sums"}, {"places", op::i64, op::optional}},
                             .attributes = {{"places", Kind::integers, op::optional}},
                             .shape = pairs_shape,
                             .run = pairs,
                             .split = 0};

TEST(CustomFunction, RunsInTheInterpreter) {
  const Attrs attrs{{"places", std::vector<int64_t>{7, 9}}};
  const Type x(DType::f32, {Dim(4)}), scalar(DType::f32, {Dim(1)});
  const Graph g = graph_of(one(kPairs), {x, scalar}, attrs, 2);
  const Tensor in[] = {f32({4}, {1, 2, 3, 4}), f32({1}, {10})};
  const Interpretation made = interpret(g, in);
  EXPECT_EQ(values(made.rounded[0]), (std::vector<double>{13, 17}));
  EXPECT_EQ(values(made.rounded[1]), (std::vector<double>{7, 9}));
}

TEST(CustomFunction, LeavesOptionalOperandsOutAndServesSizesOfARun) {
  const Graph g = graph_of(one(kPairs), {Type(DType::f32, {Dim(rows())})});
  const Tensor in[] = {f32({5}, {1, 2, 3, 4, 9})};
  EXPECT_EQ(values(interpret(g, in).rounded[0]), (std::vector<double>{3, 7}));
  const Tensor less[] = {f32({1}, {1})};
  EXPECT_TRUE(refused([&] { interpret(g, less); }).starts_with("E0304"));  // `require`, of a run
}

TEST(CustomFunction, OfConstantsIsFolded) {
  Graph g;
  const ValueId x = g.constant(f32({4}, {1, 2, 3, 4}));
  const ValueId y = g.add(one(kPairs), {x})[0];
  ASSERT_TRUE(g[y].constant);
  EXPECT_EQ(values(*g[y].constant), (std::vector<double>{3, 7}));
}

TEST(CustomFunction, SaysWhyItFails) {
  const Graph g = graph_of(one(kPairs), {Type(DType::f32, {Dim(2)})});
  const Tensor in[] = {f32({2}, {-1, 2})};
  EXPECT_EQ(refused([&] { interpret(g, in); }), "E0703 `Pairs` takes no pair that begins below 0");
  const Graph asks = graph_of(one(kPairs), {Type(DType::f32, {Dim(2)})}, {}, 2);
  const Tensor good[] = {f32({2}, {1, 2})};
  const std::string said = refused([&] { interpret(asks, good); });
  EXPECT_TRUE(said.starts_with("E0703 `Pairs` asks for the attribute `places`")) << said;
}

TEST(CustomFunction, ReadsSizesOffIntegers) {
  const op::Operator row = {.name = "Zeros",
                            .inputs = {{"count", op::i64}},
                            .shape = [](op::Shape& s) { s.output(0, op::f32, Dims::of(s.content(0) * 2)); },
                            .run = [](const op::Run& r) { r.out(0).as<float>()[0] = 4; }};
  Graph g;
  const int64_t three[] = {3};
  const ValueId y = g.add(one(row), {g.constant(Tensor::i64({1}, three))})[0];
  EXPECT_EQ(to_string(g.type(y)), "f32[6]");
  const std::string said = refused([&] { graph_of(one(row), {Type(DType::i64, {Dim(1)})}); });
  EXPECT_TRUE(said.starts_with("E0404")) << said;  // the importer gives such an element a symbol
}

// ---- what a file gets wrong -----------------------------------------------------------------------------------------
TEST(CustomDeclaration, RefusesRowsThatMakeNoSense) {
  Scalar (*const element)(const Element&) = scaled;
  expect_refused("E0702", "has no name", op::Operator{.inputs = {{"x"}}, .element = element});
  expect_refused("E0702", "is an operator that cameo has",
                 op::Operator{.name = "Relu", .inputs = {{"x"}}, .element = element});
  expect_refused("E0702", "is an operator that cameo has",
                 op::Operator{.name = "Constant", .inputs = {{"x"}}, .element = element});
  expect_refused("E0702", "cameo's own",
                 op::Operator{.name = "A", .domain = "cameo", .inputs = {{"x"}}, .element = element});
  expect_refused("E0702", "ascend", op::Operator{.name = "A", .since = {7, 3}, .inputs = {{"x"}}, .element = element});
  expect_refused("E0702", "takes types for `x`",
                 op::Operator{.name = "A", .inputs = {{"x", op::Types(1u << 8)}}, .element = element});
  expect_refused("E0702", "behind inputs",
                 op::Operator{.name = "A", .inputs = {{"x", op::f32, op::variadic}, {"y"}}, .element = element});
  expect_refused("E0702", "not before it",
                 op::Operator{.name = "A", .inputs = {{"x", op::f32, op::required, 0}}, .element = element});
  expect_refused(
      "E0702", "any number",
      op::Operator{.name = "A", .inputs = {{"x"}}, .outputs = {{"y", op::f32, op::variadic}}, .element = element});
  expect_refused("E0702", "has no outputs",
                 op::Operator{.name = "A", .inputs = {{"x"}}, .outputs = {{nullptr}}, .element = element});
  expect_refused("E0702", "twice",
                 op::Operator{.name = "A", .inputs = {{"x"}}, .attributes = {{"a", 1}, {"a", 2}}, .element = element});
  expect_refused("E0702", "needs one of", op::Operator{.name = "A", .inputs = {{"x"}}});
  expect_refused("E0702", "needs one of",
                 op::Operator{.name = "A", .inputs = {{"x"}}, .shape = rows_shape, .element = element, .run = pairs});
  expect_refused("E0702", "needs a `shape` beside", op::Operator{.name = "A", .inputs = {{"x"}}, .run = pairs});
  expect_refused("E0702", "may be absent", op::Operator{.name = "A", .element = element});
  expect_refused("E0702", "is split", op::Operator{.name = "A", .inputs = {{"x"}}, .element = element, .split = 0});
}

TEST(CustomDeclaration, AnAttributeWithoutADefaultHasToStand) {
  const op::Operator row = {
      .name = "Needy", .inputs = {{"x"}, {"y"}}, .attributes = {{"n", Kind::number}}, .element = scaled};
  EXPECT_EQ(refused([&] { graph_of(one(row), {kMatrix, kVector}); }), "E0204 attribute `n` of `Needy` is missing");
}

TEST(CustomDeclaration, RefusesTwoOfANameAndOtherTables) {
  const auto all = declared({kScaled}, "first.cpp");
  EXPECT_EQ(refused([&] { declared({kScaled}, "second.cpp", all); }),
            "E0702 `Scaled` of `second.cpp` is declared in `first.cpp` too");
  op::Operator elsewhere = kScaled;
  elsewhere.domain = "example";
  EXPECT_EQ(declared({elsewhere}, "second.cpp", all).size(), 2u);
  elsewhere.name = "Relu";
  EXPECT_EQ(declared({elsewhere}, "third.cpp").size(), 1u) << "of another domain than cameo's";
  const op::Table table{op::kVersion + 1, 1, sizeof(op::Operator), &kScaled, &op::detail::compiler};
  std::vector<const Operator*> none;
  const auto file = std::make_shared<const CustomFile>(CustomFile{"old.cpp", "", "old"});
  EXPECT_TRUE(refused([&] { declare_custom(table, file, none); }).starts_with("E0702"));
}

/// What the node of an operator on a vector and a matrix is refused with, when it is typed or when it is asked for its
/// meaning.
std::string misused(const op::Operator& row) {
  return refused([&] {
    const Graph g = graph_of(one(row), {kMatrix, kVector});
    meaning_of(g, g.nodes()[0]);
  });
}
std::string misused(Scalar (*element)(const Element&)) {
  return misused(op::Operator{.name = "Wrong", .inputs = {{"x", op::tensors}, {"y", op::tensors}}, .element = element});
}
std::string misused_shape(void (*shape)(op::Shape&)) {
  return misused(op::Operator{.name = "Wrong", .inputs = {{"x"}, {"y"}}, .shape = shape, .run = pairs});
}
void expect_misused(const std::string& said, const std::string& part) {
  EXPECT_TRUE(said.starts_with("E0704") && said.find(part) != said.npos) << said;
}

TEST(CustomMisuse, OfElementsIsASentence) {
  expect_misused(misused([](const Element& e) { return e.in(0) + cast(e.in(1), op::i32); }), "f32 and i32");
  expect_misused(misused([](const Element& e) { return e.in(2); }), "asks for input 2");
  expect_misused(misused([](const Element& e) { return e.load(0, 1); }), "by 1 indices, its rank is 2");
  expect_misused(misused([](const Element& e) { return e.index(5); }), "axis 5");
  expect_misused(misused([](const Element& e) { return e.index(0); }), "gives i64 for output `y`, which is f32");
  expect_misused(misused([](const Element&) { return Scalar(); }), "holds nothing");
  expect_misused(misused([](const Element& e) { return e.in(0) & e.in(0); }), "`bit_and` of f32");
  expect_misused(misused([](const Element& e) { return exp(e.in(0) > 0); }), "`exp` of b1");
  expect_misused(misused([](const Element& e) { return cast(e.in(0), op::i4) + 1; }), "`add` of i4");
  expect_misused(misused([](const Element& e) { return select(e.in(0), 1, 2); }), "no comparison");
  expect_misused(misused([](const Element& e) { return cast(e.in(0), op::i32) * 0.5; }), "i32 and 0.5");
  expect_misused(misused([](const Element&) { return exp(Scalar(2.0)); }), "plain numbers alone");
  expect_misused(misused([](const Element& e) { return cast(e.in(0), static_cast<op::Type>(8)); }), "element type 8");
  expect_misused(misused([](const Element& e) {
                   Scalar x = e.in(0);
                   for (int i = 0; i < 100000; ++i) x = x * e.in(0);
                   return x;
                 }),
                 "operations");
  const op::Operator widened = {.name = "Widened", .inputs = {{"x"}, {"y"}}, .shape = rows_shape, .element = scaled};
  expect_misused(misused(widened), "`load` takes an index");
}

TEST(CustomMisuse, OfShapesIsASentence) {
  expect_misused(misused_shape([](op::Shape&) {}), "says nothing of output `y`");
  expect_misused(misused_shape([](op::Shape& s) { s.output(3, op::f32, Dims()); }), "output 3");
  expect_misused(misused_shape([](op::Shape& s) { s.output(0, op::f32, Dims::of(-4)); }), "the extent -4");
  expect_misused(misused_shape([](op::Shape& s) { s.output(0, static_cast<op::Type>(77), Dims()); }),
                 "element type 77");
  expect_misused(misused_shape([](op::Shape& s) { s.output(0, op::f32, Dims::of(s.dim(0, 7))); }), "axis 7");
  expect_misused(misused_shape([](op::Shape& s) {
                   Dims d;
                   for (int i = 0; i < 100; ++i) d.append(1);
                   s.output(0, op::f32, d);
                 }),
                 "100 axes");
  EXPECT_EQ(misused_shape([](op::Shape& s) { s.fail("takes no Mondays"); }), "E0703 `Wrong` takes no Mondays");
  EXPECT_EQ(misused_shape([](op::Shape& s) { s.require(s.dim(0, 0) == 9, "needs nine"); }), "E0703 `Wrong` needs nine");
  const std::string asks = misused_shape([](op::Shape& s) { s.output(0, op::f32, Dims::of(s.integer("n"))); });
  EXPECT_EQ(asks, "E0703 `Wrong` asks for the attribute `n` as an integer, which the node does not have");
  const op::Operator split = {
      .name = "Split3", .inputs = {{"x"}, {"y"}}, .shape = rows_shape, .run = pairs, .split = 3};
  expect_misused(misused(split), "split along axis 3");
}

TEST(CustomMisuse, ThatCrashesIsASentence) {
#ifdef CAMEO_SANITIZED
  GTEST_SKIP() << "sanitizers end the process before";
#endif
  expect_misused(misused_shape([](op::Shape& s) {
                   volatile int64_t* nothing = nullptr;
                   s.output(0, op::f32, Dims::of(*nothing));
                 }),
                 "function `shape` ended with a signal");
  expect_misused(misused([](const Element& e) {
                   volatile int zero = 0;
                   return e.in(0) * (7 / zero);
                 }),
                 "function `element` ended with a signal");
}

}  // namespace
}  // namespace cameo
