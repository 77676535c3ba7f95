// The reference interpreter on operators that the tests declare themselves: every meaning, with numbers worked by hand.
#include "frontend/reference/interpret.h"

#include <gtest/gtest.h>

#include <cmath>
#include <deque>
#include <limits>

#include "frontend/ir/build.h"
#include "frontend/ir/operator.h"

namespace cameo {
namespace {

const double kNan = std::numeric_limits<double>::quiet_NaN(), kInf = std::numeric_limits<double>::infinity();

template <class T>
Tensor make_tensor(DType t, std::vector<int64_t> dims, std::vector<T> v) {
  Tensor r(t, std::move(dims));
  for (size_t i = 0; i < v.size(); ++i) {
    if (is_float(t))
      r.set(static_cast<int64_t>(i), static_cast<double>(v[i]));
    else
      r.set_int(static_cast<int64_t>(i), static_cast<int64_t>(v[i]));
  }
  return r;
}
Tensor f32(std::vector<int64_t> dims, std::vector<double> v) { return make_tensor(DType::f32, std::move(dims), v); }
Tensor i64(std::vector<int64_t> dims, std::vector<int64_t> v) { return make_tensor(DType::i64, std::move(dims), v); }
std::vector<double> values(const Tensor& t) {
  std::vector<double> v;
  for (int64_t i = 0; i < t.size(); ++i) v.push_back(t.get(i));
  return v;
}
std::vector<int64_t> ints(const Tensor& t) {
  std::vector<int64_t> v;
  for (int64_t i = 0; i < t.size(); ++i) v.push_back(t.get_int(i));
  return v;
}

/// A node of an operator that a test makes up: its output types and meaning are given per test.
using OutputTypes = std::vector<Type>;
OutputTypes g_types;
Meaning (*g_meaning)(const MeaningView&);
Operator made_up(int inputs, int outputs) {
  Operator op{.name = "MadeUp", .since = {1}};
  for (int i = 0; i < inputs; ++i) op.inputs.push_back({"x", kTensors, InputSpec::Optional});
  op.outputs.assign(static_cast<size_t>(outputs), OutputSpec{"y"});
  op.infer = [](Infer& n) {
    for (size_t i = 0; i < g_types.size(); ++i) n.output(static_cast<int>(i), g_types[i]);
  };
  op.meaning = [](const MeaningView& n) { return g_meaning(n); };
  return op;
}
/// As long as the graphs that point to it.
Operator& kept(Operator op) {
  static std::deque<Operator> all;
  return all.emplace_back(std::move(op));
}
Interpretation run(const std::vector<Tensor>& in, OutputTypes out, Meaning (*meaning)(const MeaningView&)) {
  g_types = std::move(out);
  g_meaning = meaning;
  Operator op = made_up(static_cast<int>(in.size()), static_cast<int>(g_types.size()));
  Graph g;
  std::vector<ValueId> x;
  for (const Tensor& t : in) x.push_back(g.add_input("x", Type(t.dtype(), shape_of(t.dims()))));
  for (ValueId v : g.add(op, x)) g.add_output("y", v);
  return interpret(g, in);
}
Type type(DType t, std::vector<int64_t> dims) { return Type(t, shape_of(dims)); }

TEST(Interpret, Relu) {
  Graph g;
  ValueId x = g.add_input("x", type(DType::f32, {2, 3}));
  g.add_output("y", g.add(get_operator("Relu"), {x})[0]);
  Tensor in = f32({2, 3}, {-1, 0, 2, kInf, -kInf, kNan});
  auto r = interpret(g, std::vector{in});
  auto v = values(r.rounded[0]);
  EXPECT_EQ(std::vector<double>(v.begin(), v.begin() + 5), (std::vector<double>{0, 0, 2, kInf, 0}));
  EXPECT_TRUE(std::isnan(v[5]));
  EXPECT_EQ(r.rounded[0].dtype(), DType::f32);
  EXPECT_EQ(r.unrounded[0].dtype(), DType::f64);
}

TEST(Interpret, MatMulSumsInOrder) {
  auto r = run({f32({2, 3}, {1, 2, 3, 4, 5, 6}), f32({3, 2}, {1, 0, -1, 2, 0.5, 3})}, {type(DType::f32, {2, 2})},
               [](const MeaningView& n) -> Meaning {
                 auto i = n.index();
                 Expr k = var(integer(3));
                 return Compute{{{i, fold(FoldKind::Sum, k, n.load(0, {i[0], k}) * n.load(1, {k, i[1]}))}}};
               });
  EXPECT_EQ(values(r.rounded[0]), (std::vector<double>{0.5, 13, 2, 28}));
}

TEST(Interpret, ShadowIsNotRounded) {
  auto r = run({f32({1}, {1})}, {type(DType::f32, {1})}, [](const MeaningView& n) -> Meaning {
    auto i = n.index();
    return Compute{{{i, n.load(0, i) / 3.0}}};
  });
  EXPECT_EQ(r.rounded[0].get(0), static_cast<float>(1. / 3));
  EXPECT_EQ(r.unrounded[0].get(0), 1. / 3);
}

TEST(Interpret, DecisionsAreTheRoundedRuns) {
  // 1/3 is rounded up at the first node; its floor times three is decided by that for both runs
  Graph g;
  g_types = {type(DType::f32, {1})};
  g_meaning = [](const MeaningView& n) -> Meaning {
    auto i = n.index();
    return Compute{{{i, n.load(0, i) / 3.0}}};
  };
  Operator third = made_up(1, 1);
  ValueId x = g.add_input("x", type(DType::f32, {1}));
  ValueId y = g.add(third, {x})[0];
  g_types = {type(DType::b1, {1}), type(DType::f32, {1})};
  static const double kThird = 1. / 3;
  Operator compare = made_up(1, 2);
  compare.meaning = [](const MeaningView& n) -> Meaning {
    auto i = n.index(0), j = n.index(1);
    auto above = [&](Expr v) { return gt(cast(v, DType::f64), constant(DType::f64, kThird)); };
    return Compute{
        {{i, above(n.load(0, i))}, {j, select(above(n.load(0, j)), floor(n.load(0, j) + 1.0), n.load(0, j))}}};
  };
  for (ValueId v : g.add(compare, {y})) g.add_output("z", v);
  auto r = interpret(g, std::vector{f32({1}, {1})});
  EXPECT_EQ(r.rounded[0].get_int(0), 1);  // the float above 1/3
  EXPECT_EQ(r.unrounded[0].get_int(0), 1);
  EXPECT_EQ(r.unrounded[1].get(0), 1);
}

TEST(Interpret, LoadsOutOfRangeYieldOutside) {
  auto r = run({f32({3}, {1, 2, 3})}, {type(DType::f32, {5})}, [](const MeaningView& n) -> Meaning {
    auto i = n.index();
    return Compute{{{i, n.load(0, {i[0] + integer(-1)}, constant(DType::f32, 9))}}};
  });
  EXPECT_EQ(values(r.rounded[0]), (std::vector<double>{9, 1, 2, 3, 9}));
}

TEST(Interpret, CheckedLoadsThrow) {
  auto gather = [](const MeaningView& n) -> Meaning {
    auto i = n.index();
    return Compute{{{i, n.load_checked(0, std::vector{n.load(1, i)})}}};
  };
  auto r = run({f32({3}, {1, 2, 3}), i64({2}, {2, 0})}, {type(DType::f32, {2})}, gather);
  EXPECT_EQ(values(r.rounded[0]), (std::vector<double>{3, 1}));
  try {
    run({f32({3}, {1, 2, 3}), i64({2}, {2, 3})}, {type(DType::f32, {2})}, gather);
    FAIL() << "no error";
  } catch (const CompileError& e) {
    EXPECT_EQ(e.diagnostic.code, Code::E0304);
    EXPECT_EQ(e.diagnostic.message, "index 3 is out of range for axis 0 of extent 3");
  }
}

TEST(Interpret, NestedFoldsWithExtentsOfOuterVariables) {
  // out[i] = sum(j < i + 1: prod(k < j: 2)) = 2^(i+1) - 1
  auto r = run({f32({1}, {2})}, {type(DType::f32, {5})}, [](const MeaningView& n) -> Meaning {
    auto i = n.index();
    Expr j = var(i[0] + integer(1)), k = var(j);
    return Compute{{{i, fold(FoldKind::Sum, j, fold(FoldKind::Prod, k, n.load(0, {k * integer(0)})))}}};
  });
  EXPECT_EQ(values(r.rounded[0]), (std::vector<double>{1, 3, 7, 15, 31}));
}

TEST(Interpret, ExtentsFromDataMaskCheckedLoads) {
  // sums of the first n elements: index 3 is never read by an active lane
  auto r = run({f32({3}, {1, 10, 100}), i64({4}, {0, 3, 1, 2})}, {type(DType::f32, {4})},
               [](const MeaningView& n) -> Meaning {
                 auto i = n.index();
                 Expr k = var(n.load(1, i));
                 return Compute{{{i, fold(FoldKind::Sum, k, n.load_checked(0, std::vector{k + i[0] * integer(0)}))}}};
               });
  EXPECT_EQ(values(r.rounded[0]), (std::vector<double>{0, 111, 1, 11}));
}

TEST(Interpret, ArgFolds) {
  auto arg = [](FoldKind kind) {
    static FoldKind k;
    k = kind;
    auto r = run({f32({3, 4}, {1, 3, 3, 1, kNan, 5, kNan, 9, -kInf, -kInf, -kInf, -kInf})}, {type(DType::i64, {3})},
                 [](const MeaningView& n) -> Meaning {
                   auto i = n.index();
                   Expr v = var(integer(4));
                   return Compute{{{i, fold(k, v, n.load(0, {i[0], v}))}}};
                 });
    return ints(r.rounded[0]);
  };
  EXPECT_EQ(arg(FoldKind::ArgMax), (std::vector<int64_t>{1, 0, 0}));
  EXPECT_EQ(arg(FoldKind::ArgMaxLast), (std::vector<int64_t>{2, 2, 3}));
  EXPECT_EQ(arg(FoldKind::ArgMin), (std::vector<int64_t>{0, 0, 0}));
  EXPECT_EQ(arg(FoldKind::ArgMinLast), (std::vector<int64_t>{3, 2, 3}));
}

TEST(Interpret, EmptyFoldsAreNeutral) {
  auto r = run({f32({1}, {2})}, {type(DType::f32, {1}), type(DType::f32, {1}), type(DType::i32, {1})},
               [](const MeaningView& n) -> Meaning {
                 Expr k = var(integer(0));
                 auto x = n.load(0, {k});
                 return Compute{{{n.index(0), fold(FoldKind::Sum, k, x)},
                                 {n.index(1), fold(FoldKind::Max, k, x)},
                                 {n.index(2), fold(FoldKind::Min, k, cast(x, DType::i32))}}};
               });
  EXPECT_EQ(r.rounded[0].get(0), 0);
  EXPECT_EQ(r.rounded[1].get(0), -kInf);
  EXPECT_EQ(r.rounded[2].get_int(0), INT32_MAX);
}

TEST(Interpret, IntegersWrapAndDivideTotally) {
  auto go = [](DType t, Op op, int64_t a, int64_t b) {
    static Op o;
    o = op;
    auto r = run({make_tensor<int64_t>(t, {1}, {a}), make_tensor<int64_t>(t, {1}, {b})}, {type(t, {1})},
                 [](const MeaningView& n) -> Meaning {
                   auto i = n.index();
                   return Compute{{{i, apply(o, {n.load(0, i), n.load(1, i)})}}};
                 });
    return r.rounded[0].get_int(0);
  };
  EXPECT_EQ(go(DType::i8, Op::Add, 127, 1), -128);
  EXPECT_EQ(go(DType::u8, Op::Sub, 0, 1), 255);
  EXPECT_EQ(go(DType::i32, Op::Mul, 65536, 32768), INT32_MIN);
  EXPECT_EQ(go(DType::i32, Op::Div, 7, 0), 0);
  EXPECT_EQ(go(DType::i32, Op::Div, -7, 2), -3);
  EXPECT_EQ(go(DType::i32, Op::Div, INT32_MIN, -1), INT32_MIN);
  EXPECT_EQ(go(DType::i64, Op::Div, INT64_MIN, -1), INT64_MIN);
  EXPECT_EQ(go(DType::i64, Op::FloorDiv, -7, 2), -4);
  EXPECT_EQ(go(DType::i64, Op::Mod, -7, 2), 1);
  EXPECT_EQ(go(DType::i64, Op::Mod, -7, 0), 0);
  EXPECT_EQ(go(DType::i64, Op::FMod, -7, 2), -1);
  EXPECT_EQ(go(DType::u64, Op::Div, -1, 2), INT64_MAX);  // 2^64 - 1
  EXPECT_EQ(go(DType::u64, Op::Max, -1, 2), -1);
  EXPECT_EQ(go(DType::u8, Op::Shl, 3, 7), 128);
  EXPECT_EQ(go(DType::u8, Op::Shl, 3, 8), 0);
  EXPECT_EQ(go(DType::i32, Op::Shr, -8, 1), -4);
  EXPECT_EQ(go(DType::i32, Op::Pow, 3, 4), 81);
  EXPECT_EQ(go(DType::i32, Op::Pow, 2, 33), 0);
  EXPECT_EQ(go(DType::i32, Op::Pow, 2, -1), 0);
  EXPECT_EQ(go(DType::i32, Op::Pow, -1, -3), -1);
}

TEST(Interpret, CastsSaturate) {
  auto go = [](DType from, DType to, double v) {
    static DType t;
    t = to;
    auto r = run({make_tensor<double>(from, {1}, {v})}, {type(to, {1})}, [](const MeaningView& n) -> Meaning {
      auto i = n.index();
      return Compute{{{i, cast(n.load(0, i), t)}}};
    });
    return is_float(to) ? r.rounded[0].get(0) : static_cast<double>(r.rounded[0].get_int(0));
  };
  EXPECT_EQ(go(DType::f32, DType::i8, 300), 127);
  EXPECT_EQ(go(DType::f32, DType::i8, -300), -128);
  EXPECT_EQ(go(DType::f32, DType::i8, -1.9), -1);
  EXPECT_EQ(go(DType::f32, DType::u8, -1), 0);
  EXPECT_EQ(go(DType::f32, DType::u8, 1e9), 255);
  EXPECT_EQ(go(DType::f32, DType::i32, kNan), 0);
  EXPECT_EQ(go(DType::f32, DType::i64, kInf), 9223372036854775807.);
  EXPECT_EQ(go(DType::f32, DType::b1, kNan), 1);
  EXPECT_EQ(go(DType::f32, DType::b1, 0), 0);
  EXPECT_EQ(go(DType::f64, DType::f16, 1 + 1. / 2048), 1);
  EXPECT_EQ(go(DType::i32, DType::u8, 257), 1);
  EXPECT_EQ(go(DType::i32, DType::f32, 16777217), 16777216);
}

TEST(Interpret, RoundsHalfToEvenAndPropagatesNan) {
  auto r =
      run({f32({6}, {0.5, 1.5, -0.5, 2.5, kNan, -2.7})},
          {type(DType::f32, {6}), type(DType::f32, {6}), type(DType::f32, {6})}, [](const MeaningView& n) -> Meaning {
            auto a = n.index(0), b = n.index(1), c = n.index(2);
            return Compute{{{a, round(n.load(0, a))},
                            {b, min(n.load(0, b), zero(DType::f32))},
                            {c, mod(n.load(0, c), constant(DType::f32, 2))}}};
          });
  auto v = values(r.rounded[0]);
  EXPECT_EQ(v[0], 0);
  EXPECT_EQ(v[1], 2);
  EXPECT_EQ(v[3], 2);
  EXPECT_TRUE(std::isnan(v[4]));
  EXPECT_TRUE(std::isnan(r.rounded[1].get(4)));
  EXPECT_NEAR(r.rounded[2].get(5), 1.3, 1e-6);
}

TEST(Interpret, ScatterAddsInOrder) {
  auto scatter = [](const MeaningView& n) -> Meaning {
    Scatter s;
    s.start.index = n.index();
    s.start.value = n.load(0, s.start.index);
    s.over = {var(n.dim(1, 0).extent())};
    s.to = {n.load(1, s.over)};
    s.update = n.load(2, s.over);
    s.combine = Scatter::Add;
    return s;
  };
  auto r = run({f32({4}, {1, 2, 3, 4}), i64({3}, {1, 3, 1}), f32({3}, {10, 20, 30})}, {type(DType::f32, {4})}, scatter);
  EXPECT_EQ(values(r.rounded[0]), (std::vector<double>{1, 42, 3, 24}));
  EXPECT_THROW(
      run({f32({4}, {1, 2, 3, 4}), i64({3}, {1, -1, 1}), f32({3}, {10, 20, 30})}, {type(DType::f32, {4})}, scatter),
      CompileError);
}

TEST(Interpret, SizesFromDataReachLaterNodes) {
  Build b;
  const ValueId x = b.input("x", type(DType::f32, {4})), kept = b.op("NonZero", {x});
  const Graph g = b.finish({{"y", b.add(kept, kept)}});
  const Interpretation r = interpret(g, std::vector{f32({4}, {-1, 5, 0, 7})});
  EXPECT_EQ(r.rounded[0].dims(), (std::vector<int64_t>{1, 3}));
  EXPECT_EQ(ints(r.rounded[0]), (std::vector<int64_t>{0, 2, 6}));
}

/// A body that doubles its carried value and scans it: carried' = carried + captured; goes on while it is below 20.
std::shared_ptr<const Graph> loop_body() {
  Build b;
  b.input("iteration", type(DType::i64, {}));
  b.input("condition", type(DType::b1, {}));
  ValueId carried = b.input("carried", type(DType::f32, {})), captured = b.input("captured", type(DType::f32, {}));
  Operator& add = kept(made_up(2, 1));
  g_types = {type(DType::f32, {})};
  add.meaning = elementwise([](const MeaningView&, Expr x, Expr y) { return x + y; });
  Operator& below = kept(made_up(1, 1));
  below.meaning = elementwise([](const MeaningView&, Expr x) { return lt(x, like(x, 20)); });
  ValueId next = b.graph().add(add, {carried, captured})[0];
  g_types = {type(DType::b1, {})};
  ValueId more = b.graph().add(below, {next})[0];
  return std::make_shared<const Graph>(b.finish({{"more", more}, {"next", next}, {"scan", carried}}));
}
std::vector<Tensor> run_loop(int64_t trips) {
  Operator loop = made_up(4, 2);
  g_types = {type(DType::f32, {}), Type(DType::f32, {Dim(symbol("iterations"))})};
  loop.meaning = [](const MeaningView&) -> Meaning { return Control{Control::Loop}; };
  Graph g;
  auto body = loop_body();
  g_types = {type(DType::f32, {}), Type(DType::f32, {Dim(symbol("iterations"))})};
  ValueId n = g.add_input("trips", type(DType::i64, {})), x = g.add_input("x", type(DType::f32, {}));
  ValueId step = g.add_input("step", type(DType::f32, {}));
  for (ValueId v : g.add(loop, {n, {}, x, step}, {{"captures", int64_t{1}}}, {}, 0, 2, {body})) g.add_output("y", v);
  return interpret(g, std::vector{i64({}, {trips}), f32({}, {2}), f32({}, {5})}).rounded;
}
TEST(Interpret, LoopCarriesScansAndStops) {
  auto r = run_loop(3);
  EXPECT_EQ(r[0].get(0), 17);
  EXPECT_EQ(values(r[1]), (std::vector<double>{2, 7, 12}));
  r = run_loop(100);  // the condition ends it at 22
  EXPECT_EQ(r[0].get(0), 22);
  EXPECT_EQ(values(r[1]), (std::vector<double>{2, 7, 12, 17}));
  r = run_loop(0);
  EXPECT_EQ(r[0].get(0), 2);
  EXPECT_EQ(r[1].dims(), (std::vector<int64_t>{0}));
}

TEST(Interpret, IfTakesOneBranch) {
  auto branch = [](double factor) {
    Build b;
    ValueId x = b.input("x", type(DType::f32, {2}));
    Operator& scale = kept(made_up(1, 1));
    if (factor > 0)
      scale.meaning = elementwise([](const MeaningView&, Expr x) { return x * 3.0; });
    else
      scale.meaning = elementwise([](const MeaningView&, Expr x) { return -x; });
    g_types = {type(DType::f32, {2})};
    ValueId y = b.graph().add(scale, {x})[0];
    return std::make_shared<const Graph>(b.finish({{"y", y}}));
  };
  auto yes = branch(1), no = branch(-1);
  Operator op = made_up(2, 1);
  op.meaning = [](const MeaningView&) -> Meaning { return Control{Control::If}; };
  Graph g;
  ValueId c = g.add_input("c", type(DType::b1, {})), x = g.add_input("x", type(DType::f32, {2}));
  g.add_output("y", g.add(op, {c, x}, {}, {}, 0, 1, {yes, no})[0]);
  auto go = [&](int64_t condition) {
    return values(
        interpret(g, std::vector{make_tensor<int64_t>(DType::b1, {}, {condition}), f32({2}, {1, 2})}).rounded[0]);
  };
  EXPECT_EQ(go(1), (std::vector<double>{3, 6}));
  EXPECT_EQ(go(0), (std::vector<double>{-1, -2}));
}

TEST(Interpret, ViewsShareBytes) {
  auto r = run({f32({2, 3}, {1, 2, 3, 4, 5, 6})}, {type(DType::f32, {3, 2})},
               [](const MeaningView&) -> Meaning { return View{0}; });
  EXPECT_EQ(r.rounded[0].dims(), (std::vector<int64_t>{3, 2}));
  EXPECT_EQ(values(r.rounded[0]), (std::vector<double>{1, 2, 3, 4, 5, 6}));
}

TEST(Interpret, HalfAndBfloatRound) {
  auto half = [](DType t) {
    return run({make_tensor<double>(t, {1}, {1})}, {type(t, {1})}, [](const MeaningView& n) -> Meaning {
      auto i = n.index();
      return Compute{{{i, n.load(0, i) / 3.0}}};
    });
  };
  EXPECT_EQ(half(DType::f16).rounded[0].get(0), 0.333251953125);
  EXPECT_EQ(half(DType::bf16).rounded[0].get(0), 0.333984375);
  EXPECT_EQ(half(DType::f16).unrounded[0].get(0), 1. / 3);
}

TEST(Interpret, RefusesInputsOfAnotherType) {
  Graph g;
  ValueId x = g.add_input("x", type(DType::f32, {2}));
  g.add_output("y", g.add(get_operator("Relu"), {x})[0]);
  EXPECT_THROW(interpret(g, std::vector{f32({3}, {1, 2, 3})}), CompileError);
  EXPECT_THROW(interpret(g, std::vector{i64({2}, {1, 2})}), CompileError);
  EXPECT_THROW(interpret(g, std::vector<Tensor>{}), CompileError);
}

/// Blocks of every geometry against a plain loop: transposes and shifted copies over awkward dims.
TEST(Interpret, BlocksCoverEveryIndex) {
  for (std::vector<int64_t> dims : {std::vector<int64_t>{1},
                                    {7},
                                    {3000},
                                    {5, 700},
                                    {700, 5},
                                    {3, 7, 11},
                                    {2, 1030, 3},
                                    {40, 50, 1},
                                    {1, 1, 2050},
                                    {9, 1, 130, 1}}) {
    Tensor x(DType::i32, dims);
    for (int64_t i = 0; i < x.size(); ++i) x.set_int(i, i);
    std::vector<int64_t> turned(dims.rbegin(), dims.rend());
    auto r = run({x}, {type(DType::i32, turned), type(DType::i32, dims)}, [](const MeaningView& n) -> Meaning {
      auto i = n.index(0), j = n.index(1);
      std::vector<Expr> back(i.rbegin(), i.rend()), shifted = j;
      shifted.back() = shifted.back() + integer(1);
      return Compute{{{i, n.load(0, back)}, {j, n.load(0, shifted, integer(-1, DType::i32)) + n.load(0, j)}}};
    });
    for (int64_t i = 0; i < x.size(); ++i) {
      int64_t to = 0, rest = i, scale = 1;
      std::vector<int64_t> at(dims.size());
      for (size_t d = dims.size(); d-- > 0; rest /= dims[d]) at[d] = rest % dims[d];
      for (size_t d = 0; d < dims.size(); scale *= dims[d++]) to += at[d] * scale;
      ASSERT_EQ(r.rounded[0].get_int(to), i) << "rank " << dims.size() << " element " << i;
      ASSERT_EQ(r.rounded[1].get_int(i), (at.back() + 1 < dims.back() ? i + 1 : -1) + i);
    }
  }
}

}  // namespace
}  // namespace cameo
