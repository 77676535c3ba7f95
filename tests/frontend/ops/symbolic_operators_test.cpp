// Operators with windows, states and bodies take dims without a number: their types keep the symbols, and what they
// compute is what they compute for static dims.
#include <gtest/gtest.h>

#include "frontend/ir/build.h"
#include "frontend/reference/interpret.h"

namespace cameo {
namespace {

const Dim kN(symbol("N")), kT(symbol("T")), kH(symbol("H"));

Tensor numbers(std::vector<int64_t> dims, int seed) {
  Tensor t(DType::f32, std::move(dims));
  uint32_t state = static_cast<uint32_t>(seed) * 2654435761u + 1;
  for (int64_t i = 0; i < t.size(); ++i) {
    state = state * 1664525 + 1013904223;
    t.set(i, static_cast<double>(state >> 24) / 64 - 2);
  }
  return t;
}

/// An operand: its data, and its type with symbols.
struct Operand {
  Tensor data;
  Shape symbolic;
};
struct Node {
  std::string_view op;
  std::vector<Operand> operands;
  Attrs attrs = {};
  int outputs = 1;
};

std::vector<Tensor> run(const Node& n, bool symbolic, std::vector<std::string>* types = nullptr) {
  Build b;
  std::vector<ValueId> in;
  std::vector<Tensor> data;
  for (const Operand& o : n.operands) {
    if (!o.data.dims().size()) {
      in.push_back({});
      continue;
    }
    in.push_back(b.input("", Type(o.data.dtype(), symbolic ? o.symbolic : shape_of(o.data.dims()))));
    data.push_back(o.data);
  }
  std::vector<std::pair<std::string, ValueId>> outputs;
  for (ValueId v : b.ops(n.op, in, n.attrs, n.outputs)) {
    outputs.push_back({"", v});
    if (types) types->push_back(to_string(b.type(v)));
  }
  return interpret(b.finish(outputs), data).rounded;
}

/// Gives the types of the symbolic form after checking that both forms compute the same.
std::vector<std::string> types_of(const Node& n) {
  std::vector<std::string> types;
  auto with_numbers = run(n, false), with_symbols = run(n, true, &types);
  for (size_t i = 0; i < with_numbers.size(); ++i)
    EXPECT_EQ(with_numbers[i], with_symbols[i]) << n.op << " output " << i;
  return types;
}
using Types = std::vector<std::string>;

TEST(SymbolicOperators, Windows) {
  Operand x{numbers({2, 3, 8, 6}, 1), {kN, 3, kH, 6}}, w{numbers({4, 3, 3, 3}, 2), {4, 3, 3, 3}};
  std::vector<int64_t> same{1, 1, 1, 1}, two{2, 2};
  EXPECT_EQ(types_of({"Conv", {x, w}, {{"pads", same}}}), Types{"f32[Nx4xHx6]"});
  types_of({"Conv", {x, w}, {{"auto_pad", std::string("SAME_LOWER")}, {"strides", two}}});
  types_of({"ConvTranspose", {x, {numbers({3, 2, 3, 3}, 3), {3, 2, 3, 3}}}, {{"strides", two}, {"pads", same}}});
  types_of({"MaxPool", {x}, {{"kernel_shape", two}, {"strides", two}, {"ceil_mode", int64_t{1}}}, 2});
  types_of({"AveragePool", {x}, {{"kernel_shape", two}, {"pads", same}, {"strides", two}}});
  EXPECT_EQ(types_of({"GlobalAveragePool", {x}}), Types{"f32[Nx3x1x1]"});
}

TEST(SymbolicOperators, Normalizations) {
  Operand x{numbers({2, 4, 3, 5}, 1), {kN, 4, kH, 5}}, c{numbers({4}, 2), {4}}, last{numbers({5}, 3), {5}};
  Types same{"f32[Nx4xHx5]"};
  EXPECT_EQ(types_of({"InstanceNormalization", {x, c, c}}), same);
  EXPECT_EQ(types_of({"GroupNormalization", {x, c, c}, {{"num_groups", int64_t{2}}}}), same);
  EXPECT_EQ(types_of({"LayerNormalization", {x, last, last}}), same);
  EXPECT_EQ(types_of({"RMSNormalization", {x, last}}), same);
  EXPECT_EQ(types_of({"Softmax", {x}, {{"axis", int64_t{2}}}}), same);
  EXPECT_EQ(types_of({"LRN", {x}, {{"size", int64_t{3}}}}), same);
}

TEST(SymbolicOperators, Recurrences) {
  Operand x{numbers({3, 2, 4}, 1), {kT, kN, 4}}, w{numbers({2, 20, 4}, 2), {2, 20, 4}},
      r{numbers({2, 20, 5}, 3), {2, 20, 5}};
  Attrs both{{"direction", std::string("bidirectional")}, {"hidden_size", int64_t{5}}};
  EXPECT_EQ(types_of({"LSTM", {x, w, r}, both, 3}), (Types{"f32[Tx2xNx5]", "f32[2xNx5]", "f32[2xNx5]"}));
  both["layout"] = int64_t{1};
  Operand batch_first{numbers({2, 3, 4}, 1), {kN, kT, 4}};
  EXPECT_EQ(types_of({"LSTM", {batch_first, w, r}, both, 3})[0], "f32[NxTx2x5]");
}

TEST(SymbolicOperators, Attention) {
  Operand q{numbers({2, 3, 8}, 1), {kN, kT, 8}}, k{numbers({2, 3, 4}, 2), {kN, kT, 4}};
  Dim past(symbol("Past"));
  Operand cache{numbers({2, 2, 5, 2}, 3), {kN, 2, past, 2}};
  Attrs heads{{"q_num_heads", int64_t{4}}, {"kv_num_heads", int64_t{2}}, {"is_causal", int64_t{1}}};
  EXPECT_EQ(types_of({"Attention", {q, k, k}, heads}), Types{"f32[NxTx8]"});
  EXPECT_EQ(types_of({"Attention", {q, k, k, {}, cache, cache}, heads, 3})[1], "f32[Nx2x(T + Past)x2]");
  Operand angles{numbers({2, 3, 1}, 4), {kN, kT, 1}};
  EXPECT_EQ(types_of({"RotaryEmbedding", {q, angles, angles}, {{"num_heads", int64_t{4}}}}), Types{"f32[NxTx8]"});
}

TEST(SymbolicOperators, Resize) {
  Build b;
  ValueId x = b.input("x", Type(DType::f32, {kN, 3, kH, 6}));
  ValueId scales = b.graph().constant(Tensor::of<float>(DType::f32, {4}, std::vector<float>{1, 1, 2, 2}));
  EXPECT_EQ(to_string(b.type(b.op("Resize", {x, {}, scales}))), "f32[Nx3x(H * 2)x12]");
  ValueId dims = b.op("Shape", {x}), sizes = b.concat({b.slice(dims, 0, 0, 3), b.ints({9})}, 0);
  ValueId y = b.op("Resize", {x, {}, {}, sizes}, {{"mode", std::string("linear")}});
  EXPECT_EQ(to_string(b.type(y)), "f32[Nx3xHx9]");
  Tensor data = numbers({1, 3, 2, 6}, 1);
  Interpretation symbolic = interpret(b.finish({{"y", y}}), std::span(&data, 1));
  EXPECT_EQ(symbolic.rounded[0].dims(), (std::vector<int64_t>{1, 3, 2, 9}));
}

// ---- bodies ---------------------------------------------------------------------------------------------------------

Graph body_of(std::vector<Type> inputs,
              const std::function<std::vector<ValueId>(Build&, std::span<const ValueId>)>& f) {
  Build b;
  std::vector<ValueId> in;
  for (const Type& t : inputs) in.push_back(b.input("", t));
  std::vector<std::pair<std::string, ValueId>> out;
  for (ValueId v : f(b, in)) out.push_back({"", v});
  return b.finish(out);
}
std::vector<ValueId> add(Build& b, std::string_view op, std::vector<ValueId> in, Attrs attrs, int outputs,
                         std::vector<Graph> bodies) {
  std::vector<std::shared_ptr<const Graph>> shared;
  for (Graph& g : bodies) shared.push_back(std::make_shared<const Graph>(std::move(g)));
  return b.graph().add(get_operator(op), std::move(in), std::move(attrs), {}, 0, outputs, std::move(shared));
}
const Type kCount(DType::i64, {}), kFlag(DType::b1, {}), kRow(DType::f32, {2});

TEST(Bodies, LoopStacksAsOftenAsItRuns) {
  auto body = [](bool stops) {
    return body_of({kCount, kFlag, kRow}, [&](Build& b, std::span<const ValueId> in) -> std::vector<ValueId> {
      ValueId next = b.add(in[2], in[2]);
      ValueId go = stops ? b.op("Less", {in[0], b.scalar(DType::i64, 1)}) : in[1];
      return {go, next, next};
    });
  };
  Build b;
  ValueId x = b.input("x", kRow), count = b.input("count", kCount), three = b.scalar(DType::i64, 3);
  auto fixed = add(b, "Loop", {three, {}, x}, {}, 2, {body(false)});
  EXPECT_EQ(to_string(b.type(fixed[1])), "f32[3x2]");
  auto stopped = add(b, "Loop", {three, {}, x}, {}, 2, {body(true)});
  EXPECT_FALSE(b.type(stopped[1]).shape[0].is_static());
  EXPECT_EQ(b.type(stopped[1]).shape[0].upper(), 3);
  auto open = add(b, "Loop", {count, {}, x}, {}, 2, {body(false)});
  EXPECT_EQ(b.type(open[1]).shape[0].upper(), kOpen);
  std::vector<Tensor> data{numbers({2}, 1), Tensor::scalar(DType::i64, 2)};
  auto r = interpret(b.finish({{"", fixed[1]}, {"", stopped[1]}, {"", open[0]}}), data).rounded;
  EXPECT_EQ(r[0].dims(), (std::vector<int64_t>{3, 2}));
  EXPECT_EQ(r[1].dims(), (std::vector<int64_t>{2, 2}));
  EXPECT_EQ(r[2].get(0), 4 * data[0].get(0));
}

TEST(Bodies, IfJoinsItsBranches) {
  auto branch = [](int64_t end) {
    return body_of({Type(DType::f32, {4})}, [&](Build& b, std::span<const ValueId> in) -> std::vector<ValueId> {
      return {b.slice(in[0], 0, 0, end), b.add(in[0], in[0])};
    });
  };
  Build b;
  ValueId flag = b.input("flag", kFlag), x = b.input("x", Type(DType::f32, {4}));
  auto out = add(b, "If", {flag, x}, {}, 2, {branch(3), branch(1)});
  EXPECT_FALSE(b.type(out[0]).shape[0].is_static());
  EXPECT_EQ(b.type(out[0]).shape[0].upper(), 3);
  EXPECT_EQ(to_string(b.type(out[1])), "f32[4]");
  std::vector<Tensor> data{Tensor::scalar(DType::b1, 0), numbers({4}, 1)};
  EXPECT_EQ(interpret(b.finish({{"", out[0]}}), data).rounded[0].dims(), std::vector<int64_t>{1});
  auto other = body_of({Type(DType::f32, {4})}, [](Build& c, std::span<const ValueId> in) -> std::vector<ValueId> {
    return {c.op("Cast", {in[0]}, {{"to", int64_t{7}}}), in[0]};
  });
  Build d;
  ValueId f = d.input("flag", kFlag), y = d.input("x", Type(DType::f32, {4}));
  EXPECT_THROW(add(d, "If", {f, y}, {}, 2, {branch(3), other}), CompileError);
}

TEST(Bodies, AConditionWhoseSizeOnlyARunKnowsHoldsOneElement) {
  const auto branch = [](int64_t end) {
    return body_of({Type(DType::f32, {4})}, [&](Build& b, std::span<const ValueId> in) -> std::vector<ValueId> {
      return {b.slice(in[0], 0, 0, end)};
    });
  };
  Build b;
  const ValueId flag = b.input("flag", Type(DType::b1, {kN})), x = b.input("x", Type(DType::f32, {4}));
  const auto out = add(b, "If", {flag, x}, {}, 1, {branch(3), branch(1)});
  const Graph g = b.finish({{"", out[0]}});
  const auto dims_for = [&](int64_t flags) {
    return interpret(g, std::vector<Tensor>{Tensor(DType::b1, {flags}), numbers({4}, 1)}).rounded[0].dims();
  };
  EXPECT_EQ(dims_for(1), std::vector<int64_t>{1});
  EXPECT_THROW(dims_for(2), CompileError);
}

/// A running sum over axis 1, backwards, whose sums stack along axis 1, what came last first.
TEST(Bodies, ScanWalksAxesBothWays) {
  Type element(DType::f32, {2});
  Graph body = body_of({element, element}, [](Build& b, std::span<const ValueId> in) -> std::vector<ValueId> {
    ValueId sum = b.add(in[0], in[1]);
    return {sum, sum};
  });
  std::vector<int64_t> one{1};
  Attrs attrs{{"num_scan_inputs", int64_t{1}},
              {"scan_input_axes", one},
              {"scan_input_directions", one},
              {"scan_output_axes", one}};
  for (bool symbolic : {false, true}) {
    Build b;
    ValueId start = b.input("", element), x = b.input("", Type(DType::f32, {2, symbolic ? kT : Dim(3)}));
    auto out = add(b, "Scan", {start, x}, attrs, 2, {body});
    EXPECT_EQ(to_string(b.type(out[1])), symbolic ? "f32[2xT]" : "f32[2x3]");
    std::vector<Tensor> data{Tensor(DType::f32, {2}),
                             Tensor::of<float>(DType::f32, {2, 3}, std::vector<float>{1, 2, 3, 10, 20, 30})};
    auto r = interpret(b.finish({{"", out[0]}, {"", out[1]}}), data).rounded;
    EXPECT_EQ(r[0], Tensor::of<float>(DType::f32, {2}, std::vector<float>{6, 60}));
    EXPECT_EQ(r[1], Tensor::of<float>(DType::f32, {2, 3}, std::vector<float>{3, 5, 6, 30, 50, 60}));
  }
}

/// Running sums of two sequences, one forwards and one backwards, which end at their lengths: behind them the state
/// stays and zeros are stacked. As ONNX Runtime has it.
TEST(Bodies, AScanOfVersion8EndsEachSequenceAtItsLength) {
  const Type element(DType::f32, {});
  Graph body = body_of({element, element}, [](Build& b, std::span<const ValueId> in) -> std::vector<ValueId> {
    ValueId sum = b.add(in[0], in[1]);
    return {sum, sum};
  });
  for (const int64_t backward : {0, 1}) {
    const Attrs attrs{{"num_scan_inputs", int64_t{1}}, {"directions", std::vector<int64_t>{backward}}};
    Build b;
    const ValueId lengths = b.input("", Type(DType::i64, {3})), start = b.input("", Type(DType::f32, {3})),
                  x = b.input("", Type(DType::f32, {3, kT}));
    auto out = b.graph().add(get_operator("Scan"), {lengths, start, x}, attrs, {}, 8, 2,
                             {std::make_shared<const Graph>(body)});
    const std::vector<Tensor> data{
        Tensor::i64({3}, std::vector<int64_t>{2, 3, 0}),
        Tensor::of<float>(DType::f32, {3}, std::vector<float>{0, 100, 7}),
        Tensor::of<float>(DType::f32, {3, 3}, std::vector<float>{1, 2, 3, 10, 20, 30, 4, 5, 6})};
    auto r = interpret(b.finish({{"", out[0]}, {"", out[1]}}), data).rounded;
    EXPECT_EQ(r[0], Tensor::of<float>(DType::f32, {3}, std::vector<float>{3, 160, 7}));
    const std::vector<float> sums = backward ? std::vector<float>{2, 3, 0, 130, 150, 160, 0, 0, 0}
                                             : std::vector<float>{1, 3, 0, 110, 130, 160, 0, 0, 0};
    EXPECT_EQ(r[1], Tensor::of<float>(DType::f32, {3, 3}, sums));
  }
}

}  // namespace
}  // namespace cameo
