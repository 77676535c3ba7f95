// Every operator case with operands of other shapes: dims set to 0 (one, two, and all of one extent), an operand left
// out, made a scalar, or given an axis more. Each is refused, or computes in the plan, over an arena full of poison,
// what the interpreter does.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "optimizer/plan/run_plan.h"
#include "tests/support/artifact.h"
#include "tests/support/case.h"

namespace cameo::test {
namespace {

struct Axis {
  size_t operand, axis;
};

void reshape(Case& c, size_t operand, std::vector<int64_t> dims) {
  Tensor& t = c.operands[operand].value;
  t = Tensor(t.dtype(), std::move(dims));
}
Case with_empty(Case c, const std::vector<Axis>& axes) {
  for (auto [operand, axis] : axes) {
    std::vector<int64_t> dims = c.operands[operand].value.dims();
    dims[axis] = 0;
    reshape(c, operand, dims);
  }
  return c;
}

void add_emptied(const Case& c, std::vector<Case>& variants) {
  std::vector<Axis> all;
  std::map<int64_t, std::vector<Axis>> by_extent;
  for (size_t i = 0; i < c.operands.size(); ++i)
    for (size_t d = 0; d < c.operands[i].value.dims().size(); ++d) {
      all.push_back({i, d});
      by_extent[c.operands[i].value.dims()[d]].push_back({i, d});
    }
  for (size_t i = 0; i < all.size(); ++i) {
    variants.push_back(with_empty(c, {all[i]}));
    for (size_t k = i + 1; k < all.size(); ++k)
      if (all[k].operand != all[i].operand) variants.push_back(with_empty(c, {all[i], all[k]}));
  }
  for (auto& [extent, axes] : by_extent)
    if (axes.size() > 2) variants.push_back(with_empty(c, axes));
}

void add_others(const Case& c, std::vector<Case>& variants) {
  for (size_t i = 0; i < c.operands.size(); ++i) {
    if (!c.operands[i].present) continue;
    for (int axes : {0, 1, -1}) {
      Case other = c;
      std::vector<int64_t> dims = c.operands[i].value.dims();
      if (axes < 0)
        other.operands[i].present = false;
      else
        reshape(other, i, axes ? (dims.insert(dims.begin(), 2), dims) : std::vector<int64_t>{});
      variants.push_back(std::move(other));
    }
  }
}

std::string title(const Case& c) {
  std::string text = fmt::format("{} {}", c.where, c.name);
  for (const Case::Operand& o : c.operands)
    text += o.present ? fmt::format(" {}[{}]", o.name, fmt::join(o.value.dims(), "x")) : " -";
  return text;
}

/// What is wrong; a refusal is right when the graph is made, or when only the data tells a size or an index.
std::string run_variant(Case c) {
  make_graph(c);
  if (!c.graph) return "";
  try {
    Interpretation want = interpret(*c.graph, c.inputs);
    Module m = plan_graph(*c.graph);
    return differences(run_plan(m, m.plans[0], c.inputs), want);
  } catch (const CompileError& e) {
    bool of_data = e.diagnostic.code == Code::E0304 || e.diagnostic.code == Code::E0404;
    return of_data ? "" : to_string(e.diagnostic);
  }
}

class OddShapes : public testing::TestWithParam<std::filesystem::path> {};
TEST_P(OddShapes, ComputeOrAreRefused) {
  for (const Case& c : load_case_file(GetParam())) {
    if (c.fail) continue;
    std::vector<Case> variants;
    add_emptied(c, variants);
    add_others(c, variants);
    std::string all = in_child([&] {
      std::string wrong;
      for (const Case& v : variants) wrong += run_variant(v);
      return wrong;
    });
    if (all.empty()) continue;
    for (const Case& v : variants) EXPECT_EQ(in_child([&] { return run_variant(v); }), "") << title(v);
  }
}
INSTANTIATE_TEST_SUITE_P(Ops, OddShapes,
                         testing::ValuesIn(case_files(std::filesystem::path(CAMEO_SOURCE_DIR) / "tests/ops")),
                         [](const auto& info) { return info.param.stem().string(); });

}  // namespace
}  // namespace cameo::test
