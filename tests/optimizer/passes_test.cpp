// The passes on every operator case: those that call themselves exact change no bit, the others nothing that matters,
// and what each leaves is sound.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "optimizer/pipeline.h"
#include "tests/support/case.h"
#include "tests/support/road.h"

namespace cameo::test {
namespace {

std::vector<std::string> algebraic_passes() {
  std::vector<std::string> names;
  for (const Pass& p : passes())
    if (p.exactness == Exactness::Algebraic) names.emplace_back(p.name);
  return names;
}

/// Null where the interpreter refuses the case, which is what the case wants then.
std::optional<Interpretation> interpreted(const Graph& g, std::span<const Tensor> inputs) {
  try {
    return interpret(g, inputs);
  } catch (const CompileError&) { return std::nullopt; }
}

class OptimizedCase : public testing::TestWithParam<std::filesystem::path> {};
TEST_P(OptimizedCase, KeepsItsValues) {
  for (const Case& c : load_case_file(GetParam())) {
    if (!c.graph) continue;
    SCOPED_TRACE(c.where + " " + c.name);
    std::optional<Interpretation> want = interpreted(*c.graph, c.inputs);
    if (!want) continue;
    PassContext exact(*find_target("x86-64-v3")), all = exact;
    exact.verify_each = all.verify_each = true;
    exact.skip = algebraic_passes();
    std::vector<Tensor> got = interpret(optimize(*c.graph, exact), c.inputs).rounded;
    for (size_t i = 0; i < got.size(); ++i) EXPECT_TRUE(got[i] == want->rounded[i]) << "output " << i << " differs";
    EXPECT_EQ(differences(interpret(optimize(*c.graph, all), c.inputs).rounded, *want), "");
  }
}
INSTANTIATE_TEST_SUITE_P(Ops, OptimizedCase,
                         testing::ValuesIn(case_files(std::filesystem::path(CAMEO_SOURCE_DIR) / "tests/ops")),
                         [](const auto& info) { return operator_of(info.param); });

TEST(Pipeline, NamesAreOfOnePassEach) {
  std::set<std::string_view> names;
  for (const Pass& p : passes()) EXPECT_TRUE(names.insert(p.name).second) << p.name;
}

TEST(Pipeline, SkipsPassesAndSaysWhichRan) {
  std::vector<std::string> ran, wanted;
  PassContext context(*find_target("x86-64-v3"));
  context.skip = {"fold_constants"};
  context.after = [&](const PassContext& now, const Graph&) { ran.emplace_back(now.pass); };
  optimize(Graph(), context);
  for (const Pass& p : passes())
    if (p.name != "fold_constants") wanted.emplace_back(p.name);
  EXPECT_EQ(ran, wanted);
}

TEST(Pipeline, WhatIsMadeOfEqualSizesIsOne) {
  Graph g;
  const Dim n(symbol("n", {1, 8}));
  for (const std::string name : {"x", "y"}) {
    const ValueId in = g.add_input(name, Type(DType::f32, {n, 4}));
    const ValueId shape = g.add(get_operator("Shape"), {in})[0];
    const Attrs value{{"value", std::make_shared<const Tensor>(Tensor::of<float>(DType::f32, {1}, std::vector{2.f}))}};
    const ValueId twos = g.add(get_operator("ConstantOfShape"), {shape}, value)[0];
    g.add_output("of_" + name, g.add(get_operator("Add"), {in, twos})[0]);
  }
  PassContext context(*find_target("x86-64-v3"));
  const Graph made = optimize(g, context);
  const auto is_twos = [](const Node& node) { return node.op->name == "ConstantOfShape"; };
  EXPECT_EQ(std::ranges::count_if(made.nodes(), is_twos), 1) << to_string(made);
}

}  // namespace
}  // namespace cameo::test
