// The test matrix: every operator case through the interpreter, the interpreter on the optimised graph, the interpreter
// on fused kernels, on the plan in its arena, on a GPU's plan whose every step runs on the host, the
// artifact, and an artifact for a GPU that is emulated. The first
// column that is wrong says where the fault is. A case runs in a child of its own, so that a crash is one failed case.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "optimizer/pipeline.h"
#include "optimizer/plan/run_plan.h"
#include "tests/support/artifact.h"
#include "tests/support/case.h"
#include "tests/support/child.h"
#include "tests/support/fused.h"

namespace cameo::test {
namespace {

constexpr const char* kRefused = "refused: ";  // what a column says that cannot compute this yet

struct Column {
  std::string name;
  bool compiles;  // or is refused
  bool on_gpu;    // which runs nothing whose shapes are decided by elements of inputs
  std::function<std::vector<Tensor>(const Graph&, std::span<const Tensor>)> run;
};

const std::vector<Column>& columns() {
  static const std::vector<Column> all{
      {"optimised interpreter", false, false,
       [](const Graph& g, std::span<const Tensor> in) {
         PassContext context(*find_target("x86-64-v3"));
         return interpret(optimize(g, context), in).rounded;
       }},
      {"fused interpreter", true, false,
       [](const Graph& g, std::span<const Tensor> in) {
         PassContext context(*find_target("x86-64-v3"));
         return interpret_fused(optimize(g, context), in).rounded;
       }},
      {"plan", true, false,
       [](const Graph& g, std::span<const Tensor> in) {
         Module m = plan_graph(g);
         return run_plan(m, m.plans[0], in);
       }},
      {"GPU plan, on the host", true, true,
       [](const Graph& g, std::span<const Tensor> in) {
         std::vector<std::string> all;
         for (const SourceNode& n : g.sources()) all.push_back(n.output);
         Module m = plan_graph(g, "model", gpu_target({"ptx"}), all);
         return run_plan(m, m.plans[0], in);
       }},
      {"artifact", true, false, [](const Graph& g, std::span<const Tensor> in) { return run_through_artifact(g, in); }},
      {"CUDA (emulated)", true, true, run_on_emulated_gpu},
  };
  return all;
}

std::string run_column(const Column& column, const Case& c, const std::optional<Interpretation>& want) {
  try {
    std::vector<Tensor> got = column.run(*c.graph, c.inputs);
    return want ? differences(got, *want) : fmt::format("did not fail with {}", code_name(*c.fail));
  } catch (const CompileError& e) {
    if (!want && e.diagnostic.code == *c.fail) return "";
    if (want && column.compiles && may_be_refused(*c.graph, e.diagnostic.code)) return kRefused + e.diagnostic.message;
    return "failed: " + to_string(e.diagnostic);
  }
}

/// What is wrong with a case, or why all that compile refused it; empty when it is right in every column that does not.
std::string run_matrix(const Case& c) {
  std::optional<Interpretation> want;
  try {
    want = interpret(*c.graph, c.inputs);
  } catch (const CompileError& e) {
    if (!c.fail) return "interpreter: failed: " + to_string(e.diagnostic);
  }
  const bool decided = std::ranges::any_of(c.operands, &Case::Operand::decides);
  std::string refused;
  bool compiled = false;
  for (const Column& column : columns()) {
    if (decided && column.on_gpu) continue;
    std::string what = run_column(column, c, want);
    if (what.starts_with(kRefused))
      refused = what;
    else if (!what.empty())
      return column.name + ": " + what;
    else
      compiled |= column.compiles;
  }
  return compiled ? "" : refused;
}

class Matrix : public testing::TestWithParam<std::filesystem::path> {};
TEST_P(Matrix, Runs) {
  warm_up_compiler();
  int ran = 0;
  std::string refused;
  for (const Case& c : load_case_file(GetParam())) {
    if (!c.graph) continue;  // the case of a graph that cannot be made
    std::string what = in_child([&] { return run_matrix(c); });
    if (what.starts_with(kRefused)) {
      refused = what;
      continue;
    }
    ++ran;
    EXPECT_EQ(what, "") << c.where << " " << c.name;
  }
  if (!ran && !refused.empty()) GTEST_SKIP() << refused.substr(std::string_view(kRefused).size());
}
INSTANTIATE_TEST_SUITE_P(Ops, Matrix,
                         testing::ValuesIn(case_files(std::filesystem::path(CAMEO_SOURCE_DIR) / "tests/ops")),
                         [](const auto& info) { return operator_of(info.param); });

}  // namespace
}  // namespace cameo::test
