// Sums of products take strided loops in the interpreter; each is compared with the same sum written so that it stays
// on the tape, over integer values, so that both are exact.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "frontend/ir/operator.h"
#include "frontend/reference/interpret.h"
#include "tests/support/tensor_text.h"

namespace cameo {
namespace {

struct Setup {
  std::vector<Type> types;
  std::function<OutputExpr(const MeaningView&, int output, std::function<Expr(Expr, Expr)> product)> sum;
};
Setup g_setup;

/// Runs the sum twice, recognisable and not, and expects equal outputs.
Interpretation expect_equal(const std::vector<Tensor>& in, Type out,
                            std::function<OutputExpr(const MeaningView&, int, std::function<Expr(Expr, Expr)>)> sum) {
  g_setup = {{out, out}, std::move(sum)};
  Operator op{.name = "MadeUp", .since = {1}, .inputs = {{"a"}, {"b"}}, .outputs = {{"x"}, {"y"}}};
  op.infer = [](Infer& n) {
    for (int i = 0; i < 2; ++i) n.output(i, g_setup.types[static_cast<size_t>(i)]);
  };
  op.meaning = [](const MeaningView& n) -> Meaning {
    auto plain = [](Expr a, Expr b) { return a * b; };
    auto hidden = [](Expr a, Expr b) { return -(-a * b); };
    return Compute{{g_setup.sum(n, 0, plain), g_setup.sum(n, 1, hidden)}};
  };
  Graph g;
  std::vector<ValueId> x;
  for (const Tensor& t : in) x.push_back(g.add_input("x", Type(t.dtype(), shape_of(t.dims()))));
  for (ValueId v : g.add(op, x)) g.add_output("y", v);
  Interpretation r = interpret(g, in);
  for (int64_t i = 0; i < r.rounded[0].size(); ++i) {
    double a = r.rounded[0].get(i), b = r.rounded[1].get(i), c = r.unrounded[0].get(i), d = r.unrounded[1].get(i);
    bool same = (a == b && c == d) || (std::isnan(a) && std::isnan(b) && std::isnan(c) && std::isnan(d));
    EXPECT_TRUE(same) << "element " << i << ": " << a << " and " << b << ", unrounded " << c << " and " << d;
    if (!same) break;
  }
  return r;
}

struct Conv {
  int64_t n, c, h, w, m, kh, kw, stride, pad, dilation, group;
};
Tensor tensor(DType t, std::vector<int64_t> dims, int seed) {
  std::string text = std::string(name(t)) + "[";
  for (size_t i = 0; i < dims.size(); ++i) text += (i ? "x" : "") + std::to_string(dims[i]);
  return test::parse_tensor(text + "] = randint:" + std::to_string(seed) + ":-4:4");
}
Interpretation run_conv(const Conv& c, DType t = DType::f32) {
  int64_t oh = (c.h + 2 * c.pad - (c.kh - 1) * c.dilation - 1) / c.stride + 1;
  int64_t ow = (c.w + 2 * c.pad - (c.kw - 1) * c.dilation - 1) / c.stride + 1;
  return expect_equal({tensor(t, {c.n, c.c, c.h, c.w}, 1), tensor(t, {c.m, c.c / c.group, c.kh, c.kw}, 2)},
                      Type(t, shape_of(std::vector{c.n, c.m, oh, ow})),
                      [c](const MeaningView& n, int output, auto product) {
                        auto o = n.index(output);
                        Expr k = var(integer(c.c / c.group)), y = var(integer(c.kh)), x = var(integer(c.kw));
                        Expr channel = floor_div(o[1], integer(c.m / c.group)) * integer(c.c / c.group) + k;
                        Expr row = o[2] * integer(c.stride) + y * integer(c.dilation) + integer(-c.pad);
                        Expr column = o[3] * integer(c.stride) + x * integer(c.dilation) + integer(-c.pad);
                        Expr body = product(n.load(0, {o[0], channel, row, column}), n.load(1, {o[1], k, y, x}));
                        for (Expr v : {x, y, k}) body = fold(FoldKind::Sum, v, body);
                        return OutputExpr{o, body};
                      });
}

TEST(Contract, Convolutions) {
  run_conv({1, 3, 8, 8, 4, 3, 3, 1, 1, 1, 1});
  run_conv({2, 4, 7, 9, 6, 3, 3, 2, 1, 1, 1});
  run_conv({1, 4, 13, 40, 6, 5, 3, 3, 2, 2, 1});
  run_conv({1, 8, 12, 12, 8, 3, 3, 1, 1, 1, 8});   // depthwise
  run_conv({1, 8, 7, 7, 8, 3, 3, 1, 1, 1, 2});     // grouped
  run_conv({1, 16, 14, 14, 8, 1, 1, 1, 0, 1, 1});  // rows merge
  run_conv({1, 16, 1, 1, 40, 1, 1, 1, 0, 1, 1});   // lanes are channels
  run_conv({1, 2, 3, 2000, 2, 1, 5, 1, 2, 1, 1});  // parts of a row
  run_conv({1, 3, 8, 8, 4, 3, 3, 1, 4, 1, 1});     // whole rows outside
  for (int64_t pad : {0, 1})                       // short rows, many to a block, before an axis of extent 1
    run_conv({1, 128, 49, 1, 128, 20, 1 + 2 * pad, 1, pad, 1, 128});
  run_conv({1, 3, 1100, 1, 40, 2, 1, 1, 0, 1, 1});  // parts of a row before an axis of extent 1
}
TEST(Contract, Types) {
  for (DType t : {DType::f64, DType::f16, DType::bf16}) run_conv({1, 3, 8, 8, 4, 3, 3, 1, 1, 1, 1}, t);
}

TEST(Contract, ReversedAndTransposed) {
  for (bool transposed : {false, true})
    for (int64_t step : {1, -1, 2, -3})
      expect_equal({tensor(DType::f32, {9, 11}, 3), tensor(DType::f32, {11, 9}, 4)},
                   Type(DType::f32, {Dim(5), Dim(70)}), [=](const MeaningView& n, int output, auto product) {
                     auto o = n.index(output);
                     Expr k = var(integer(9)), j = o[1] * integer(step) + integer(step < 0 ? 40 : -20);
                     Expr a = transposed ? n.load(0, {j, k}) : n.load(0, {k, j});
                     return OutputExpr{o, fold(FoldKind::Sum, k, product(a, n.load(1, {o[0], k})))};
                   });
}

TEST(Contract, TransposedConvolutions) {
  for (int64_t stride : {2, 3})
    for (int64_t size : {5, 40})
      for (bool infinite : {false, true}) {
        Tensor x = tensor(DType::f32, {1, 3, size, size}, 9), w = tensor(DType::f32, {3, 4, 4, 3}, 10);
        if (infinite) w.set(7, INFINITY);
        Type out(DType::f32, shape_of(std::vector<int64_t>{1, 4, (size - 1) * stride + 2, (size - 1) * stride + 1}));
        expect_equal({x, w}, out, [=](const MeaningView& n, int output, auto product) {
          auto o = n.index(output);
          Expr c = var(integer(3)), y = var(integer(4)), z = var(integer(3)), s = integer(stride);
          auto from = [&](Expr p) { return select(eq(mod(p, s), integer(0)), floor_div(p, s), integer(-1)); };
          Expr row = from(o[2] + integer(1) - y), column = from(o[3] + integer(1) - z);
          Expr body = product(n.load(0, {o[0], c, row, column}), n.load(1, {c, o[1], y, z}));
          for (Expr v : {z, y, c}) body = fold(FoldKind::Sum, v, body);
          return OutputExpr{o, body};
        });
      }
}

TEST(Contract, OutsideCountsWhereItCanBeSeen) {
  Tensor a = tensor(DType::f32, {10}, 5), b = tensor(DType::f32, {3}, 6);
  auto sum = [](double outside) {
    return [outside](const MeaningView& n, int output, auto product) {
      auto o = n.index(output);
      Expr k = var(integer(3));
      return OutputExpr{
          o, fold(FoldKind::Sum, k,
                  product(n.load(0, {o[0] + k + integer(-1)}, constant(DType::f32, outside)), n.load(1, {k})))};
    };
  };
  expect_equal({a, b}, Type(DType::f32, {Dim(10)}), sum(7));
  b.set(0, INFINITY);  // 0 * infinity
  auto r = expect_equal({a, b}, Type(DType::f32, {Dim(10)}), sum(0));
  EXPECT_TRUE(std::isnan(r.rounded[0].get(0)));
}

TEST(Contract, EmptySums) {
  expect_equal({Tensor(DType::f32, {4, 0}), Tensor(DType::f32, {0, 5})}, Type(DType::f32, {Dim(4), Dim(5)}),
               [](const MeaningView& n, int output, auto product) {
                 auto o = n.index(output);
                 Expr k = var(integer(0));
                 return OutputExpr{o, fold(FoldKind::Sum, k, product(n.load(0, {o[0], k}), n.load(1, {k, o[1]})))};
               });
}

TEST(Contract, ScalarOutputs) {
  auto r = expect_equal({tensor(DType::f32, {500}, 7), tensor(DType::f32, {500}, 8)}, Type(DType::f32, {}),
                        [](const MeaningView& n, int output, auto product) {
                          Expr k = var(integer(500));
                          return OutputExpr{n.index(output),
                                            fold(FoldKind::Sum, k, product(n.load(0, {k}), n.load(1, {k})))};
                        });
  EXPECT_NE(r.rounded[0].get(0), 0);
}

}  // namespace
}  // namespace cameo
