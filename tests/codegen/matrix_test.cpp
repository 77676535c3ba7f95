// The test matrix: every operator case through the interpreter, the interpreter on the optimised graph, the interpreter
// on fused kernels, and the artifact. The first column that is wrong says where the fault is. A case runs in a child of
// its own, so that a crash is one failed case.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "frontend/compare.h"
#include "optimizer/pipeline.h"
#include "tests/support/artifact.h"
#include "tests/support/case.h"
#include "tests/support/fused.h"

namespace cameo::test {
namespace {

constexpr const char* kRefused = "refused: ";  // what a column says that cannot compute this yet

struct Column {
  std::string name;
  std::function<std::vector<Tensor>(const Graph&, std::span<const Tensor>)> run;
};

const std::vector<Column>& columns() {
  static const std::vector<Column> all{
      {"optimised interpreter",
       [](const Graph& g, std::span<const Tensor> in) {
         PassContext context;
         return interpret(optimize(g, context), in).rounded;
       }},
      {"fused interpreter",
       [](const Graph& g, std::span<const Tensor> in) {
         PassContext context;
         return interpret_fused(optimize(g, context), in).rounded;
       }},
      {"artifact", [](const Graph& g, std::span<const Tensor> in) { return run_through_artifact(g, in); }},
  };
  return all;
}

std::string differences(std::span<const Tensor> got, const Interpretation& want) {
  if (got.size() != want.rounded.size())
    return fmt::format("{} outputs instead of {}", got.size(), want.rounded.size());
  for (size_t i = 0; i < got.size(); ++i)
    if (Comparison c = compare(got[i], want.rounded[i], want.unrounded[i]); !c.pass)
      return fmt::format("output {}: {}", i, c.why);
  return "";
}

/// Sizes that only the data knows, and element types without arithmetic, are not compiled yet; all else must be.
bool may_be_refused(const Graph& g) {
  for (const Port& p : g.outputs())
    if (const Type& t = g.type(p.value); !is_static(t.shape) || !runs(t.dtype)) return true;
  for (ValueId v : g.inputs())
    if (!runs(g.type(v).dtype)) return true;
  return false;
}

std::string run_column(const Column& column, const Case& c, const std::optional<Interpretation>& want) {
  try {
    std::vector<Tensor> got = column.run(*c.graph, c.inputs);
    return want ? differences(got, *want) : fmt::format("did not fail with {}", code_name(*c.fail));
  } catch (const CompileError& e) {
    if (!want && e.diagnostic.code == *c.fail) return "";
    if (want && column.name == "artifact" && may_be_refused(*c.graph)) return kRefused + e.diagnostic.message;
    return "failed: " + to_string(e.diagnostic);
  }
}

/// What is wrong with a case, or why it was refused; empty when it is right in every column.
std::string run_matrix(const Case& c) {
  std::optional<Interpretation> want;
  try {
    want = interpret(*c.graph, c.inputs);
  } catch (const CompileError& e) {
    if (!c.fail) return "interpreter: failed: " + to_string(e.diagnostic);
  }
  for (const Column& column : columns()) {
    std::string what = run_column(column, c, want);
    if (what.starts_with(kRefused)) return what;
    if (!what.empty()) return column.name + ": " + what;
  }
  return "";
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
                         [](const auto& info) { return info.param.stem().string(); });

}  // namespace
}  // namespace cameo::test
