// Plans over sizes that only a run knows: one plan, bound to a size, computes what the interpreter does with that size.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "optimizer/plan/bind_plan.h"
#include "optimizer/plan/run_plan.h"
#include "tests/support/graph_text.h"
#include "tests/support/road.h"
#include "tests/support/tensor_text.h"

namespace cameo::test {
namespace {

/// Sizes of inputs' axes by name: {"x", {"N", ""}} has a size N on the first axis, and keeps its second.
using Axes = std::map<std::string, std::vector<std::string>>;

/// The graph with symbols in place of some of its inputs' dims.
Graph over_sizes(const Graph& g, const Axes& axes, const DimBounds& bounds) {
  Graph into(g.shared_sources());
  std::vector<ValueId> inputs;
  for (ValueId v : g.inputs()) {
    Type t = g.type(v);
    if (auto of_input = axes.find(g[v].name); of_input != axes.end())
      for (size_t a = 0; a < t.shape.size(); ++a)
        if (const std::string& name = of_input->second[a]; !name.empty())
          t.shape[a] = Dim(symbol(name, bounds.at(name)));
    inputs.push_back(into.add_input(g[v].name, t));
  }
  const std::vector<ValueId> outputs = inline_graph(into, g, inputs, {});
  for (size_t i = 0; i < outputs.size(); ++i) into.add_output(g.outputs()[i].name, outputs[i]);
  return into;
}

std::vector<Tensor> inputs_of(const Graph& g) {
  std::vector<Tensor> inputs;
  for (ValueId v : g.inputs())
    inputs.push_back(parse_tensor(fmt::format("{} = rand:{}", to_string(g.type(v)), 7 + v.index)));
  return inputs;
}

struct Sizes {
  Axes axes;
  DimBounds bounds;
  std::vector<DimBinding> tried;
};

/// Plans once for all sizes within the bounds, and runs the plan at those that are tried.
void check(const std::vector<std::string>& lines, const Sizes& sizes) {
  const Graph g = over_sizes(parse_model(lines).graph, sizes.axes, sizes.bounds);
  for (const char* target : {"x86-64-v3", "x86-64-v4"}) {
    const Module m = plan_graph(g, "", *find_target(target));
    for (const DimBinding& size : sizes.tried) {
      const Graph bound = bind_dims(g, size);
      const Module at_size = bind_module(m, size);
      const std::vector<Tensor> inputs = inputs_of(bound);
      EXPECT_EQ(differences(run_plan(at_size, at_size.plans[0], inputs), interpret(bound, inputs)), "")
          << to_string(bound) << to_string(m.plans[0], *m.sources, true);
    }
  }
}

const Sizes kBatch{{{"x", {"N", ""}}}, {{"N", {1, 32}}}, {{{"N", 1}}, {{"N", 32}}, {{"N", 7}}, {{"N", 13}}}};

TEST(Sizes, ElementwiseOverABatch) {
  check({"input x f32[2x12]", "const b f32[12] = rand:1", "a = Add(x, b)", "y = Relu(a)", "output y"}, kBatch);
}
TEST(Sizes, Perceptron) {
  check({"input x f32[2x12]", "const v f32[12x40] = rand:1", "const b f32[40] = rand:2", "a = Gemm(x, v, b)",
         "c = Relu(a)", "const w f32[40x10] = rand:3", "d = MatMul(c, w)", "y = Softmax(d)", "output y"},
        kBatch);
}

}  // namespace
}  // namespace cameo::test
