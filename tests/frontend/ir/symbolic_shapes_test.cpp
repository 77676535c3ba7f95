// Shape rules and shape arithmetic with dims that have no number yet: they stay exact, so that equal extents are equal.
#include <gtest/gtest.h>

#include <ctime>

#include "frontend/ir/build.h"

namespace cameo {
namespace {

const Dim kN(symbol("N")), kS(symbol("S")), kP(symbol("P"));

class SymbolicShapes : public testing::Test {
 protected:
  ValueId in(Shape shape, DType t = DType::f32) { return b.input("", Type(t, std::move(shape))); }
  ValueId dims_of(ValueId v) { return b.op("Shape", {v}); }
  ValueId dim_of(ValueId v, int64_t axis) {
    return b.gather(dims_of(v), b.scalar(DType::i64, static_cast<double>(axis)));
  }
  std::string type(ValueId v) { return to_string(b.type(v)); }
  std::string content(ValueId v) {
    std::string s;
    for (Expr e : b.graph()[v].content) s += (s.empty() ? "" : " ") + to_string(e);
    return s;
  }
  Build b;
  ValueId x = in({kN, kS, 12, 64});
};

TEST_F(SymbolicShapes, ShapeArithmeticKeepsSymbols) {
  EXPECT_EQ(content(dims_of(x)), "N S 12 64");
  ValueId head = b.slice(dims_of(x), 0, 0, 2);
  EXPECT_EQ(content(head), "N S");
  EXPECT_EQ(content(dim_of(x, 1)), "S");
  EXPECT_EQ(content(b.div(head, b.ints({2, 2}))), "floor_div(N, 2) floor_div(S, 2)");
  EXPECT_EQ(content(b.concat({head, b.ints({-1})}, 0)), "N S -1");
  EXPECT_EQ(content(b.unsqueeze(dim_of(x, 0), {0})), "N");
  ValueId unknown = b.op("Equal", {head, b.ints({-1, -1})});
  EXPECT_EQ(content(b.op("Where", {unknown, b.ints({1, 1}), head})), "N S");
}

TEST_F(SymbolicShapes, ReshapeCancelsCommonFactors) {
  EXPECT_EQ(type(b.reshape(x, {0, 0, -1})), "f32[NxSx768]");
  EXPECT_EQ(type(b.reshape(x, {-1, 768})), "f32[(N * S)x768]");
  EXPECT_EQ(type(b.op("Reshape", {x, b.concat({b.slice(dims_of(x), 0, 0, 2), b.ints({-1})}, 0)})), "f32[NxSx768]");
  EXPECT_EQ(type(b.reshape(x, {0, -1, 64})), "f32[Nx(S * 12)x64]");
}

TEST_F(SymbolicShapes, ShapesFromContent) {
  ValueId positions = b.op("Range", {b.scalar(DType::i64, 0), dim_of(x, 1), b.scalar(DType::i64, 1)});
  EXPECT_EQ(type(positions), "i64[S]");
  EXPECT_EQ(type(b.op("Expand", {b.unsqueeze(positions, {0}), b.slice(dims_of(x), 0, 0, 2)})), "i64[NxS]");
  EXPECT_EQ(type(b.op("ConstantOfShape", {b.slice(dims_of(x), 0, 0, 2)})), "f32[NxS]");
  EXPECT_EQ(type(b.op("OneHot", {positions, b.scalar(DType::i64, 5), b.ints({0, 1})})), "i64[Sx5]");
  EXPECT_EQ(type(b.op("Tile", {x, b.ints({1, 2, 1, 1})})), "f32[Nx(S * 2)x12x64]");
}

TEST_F(SymbolicShapes, SlicesClampSymbols) {
  EXPECT_EQ(type(b.slice(x, 1, 0, INT64_MAX)), "f32[NxSx12x64]");
  EXPECT_EQ(type(b.slice(x, 3, -1, INT64_MIN, -1)), "f32[NxSx12x64]");
  EXPECT_EQ(type(b.slice(x, 3, 1, INT64_MAX, 2)), "f32[NxSx12x32]");
}

TEST_F(SymbolicShapes, PastAndPresentAddUpToOneExtent) {
  ValueId past = in({kN, kP, 12, 64});
  ValueId all = b.concat({past, x}, 1);
  ValueId total = b.add(dim_of(past, 1), dim_of(x, 1));
  EXPECT_EQ(b.type(all).shape[1].extent(), b.graph()[total].content[0]);
  ValueId scores = b.op("Einsum", {x, all}, {{"equation", std::string("bqhd,bkhd->bhqk")}});
  ValueId product = b.matmul(b.transpose(x, {0, 2, 1, 3}), b.transpose(all, {0, 2, 3, 1}));
  EXPECT_EQ(b.type(scores), b.type(product));
  EXPECT_EQ(type(product), "f32[Nx12xSx(S + P)]");
}

TEST_F(SymbolicShapes, SizesThatOnlyTheDataTellsAreBounded) {
  ValueId found = b.op("NonZero", {in({3, 4})});
  EXPECT_EQ(b.type(found).shape[0], Dim(2));
  EXPECT_FALSE(b.type(found).shape[1].is_static());
  EXPECT_EQ(b.type(found).shape[1].upper(), 12);
  ValueId kept = b.op("Compress", {in({3, 4}), in({2}, DType::b1)}, {{"axis", int64_t{1}}});
  EXPECT_EQ(b.type(kept).shape[1].upper(), 2);
}

TEST_F(SymbolicShapes, LongSumsAndChoicesCostNoCubes) {  // a minute, where each step walks all that the others made
  std::clock_t begin = std::clock();
  std::vector<ValueId> dims;
  for (int i = 0; i < 800; ++i) dims.push_back(dims_of(in({Dim(symbol("d" + std::to_string(i)))})));
  ValueId sum = dims.back(), n = dims[0], k = dims[1], chosen = n;
  for (size_t i = dims.size() - 1; i-- > 0;) sum = b.add(sum, dims[i]);
  for (int i = 0; i < 400; ++i) {
    ValueId least = b.op("Min", {chosen, k});
    chosen = b.op("Max", {b.add(least, n), least});
  }
  EXPECT_EQ(affine(b.graph()[sum].content[0]).terms.size(), 800u);
  EXPECT_LT((std::clock() - begin) / CLOCKS_PER_SEC, 10);
}

TEST_F(SymbolicShapes, AComputedShapeIsAnErrorThatNamesIt) {
  try {
    b.op("Reshape", {x, b.input("target", Type(DType::i64, {3}))});
    FAIL();
  } catch (const CompileError& e) {
    EXPECT_EQ(e.diagnostic.code, Code::E0404);
    EXPECT_EQ(e.diagnostic.message, "`Reshape` needs `shape` to be known when compiling");
  }
}

TEST_F(SymbolicShapes, WithoutAxesSqueezeTakesExtentsOfDataThatAreRequiredNotToBeOne) {
  const ValueId size = in({1}, DType::i64);
  b.graph().decide(size, Interval{0, 9});
  const ValueId filled = b.op("ConstantOfShape", {b.concat({size, b.ints({1, 3})}, 0)});
  EXPECT_EQ(b.type(b.op("Squeeze", {filled})).rank(), 2);
  EXPECT_FALSE(b.graph().requirements().empty());
  EXPECT_THROW(b.op("Squeeze", {x}), CompileError);
}

TEST(DecidingSymbols, OfABodyAndOfWhatHasItAreDifferent) {
  const auto decided = [](Build& b, ValueId v) {
    b.graph().decide(v);
    return to_string(b.graph()[v].content[0]);
  };
  Build b, standing;
  const ValueId count = b.input("", Type(DType::i64, {}));
  b.loop(count, {}, [&](Build& body, ValueId i, std::span<const ValueId>) {
    const ValueId v = body.unsqueeze(i, {0});
    EXPECT_EQ(decided(body, v), "size:0");
    return Build::Step{{}, {v}};
  });
  EXPECT_EQ(decided(b, count), "size':0");
  standing.graph().set_outside(&b.graph());
  EXPECT_EQ(decided(standing, standing.input("", Type(DType::i64, {}))), "size'':0");
}

}  // namespace
}  // namespace cameo
