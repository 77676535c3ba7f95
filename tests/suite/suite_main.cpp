// backend_suite: runs the ONNX backend suite and counts. Exit 1 when a case is wrong or crashes; what is refused is
// counted.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <map>
#include <regex>

#include "optimizer/pipeline.h"
#include "optimizer/plan/run_plan.h"
#include "tests/suite/suite.h"
#include "tests/support/artifact.h"
#include "tests/support/fused.h"
#include "tests/support/sizes.h"

using namespace cameo;
using namespace cameo::suite;

namespace {

Runner run_artifact(std::shared_ptr<const test::LoadedArtifact> artifact) {
  return [artifact](std::span<const Tensor> inputs) { return artifact->run(inputs); };
}
Runner compile_case(const Model& model) { return run_artifact(test::load_artifact(model.graph)); }
Runner cuda_case(const Model& model) { return run_artifact(test::load_for_emulated_gpu(model.graph)); }
Runner plan_case(const Model& model) {
  auto m = std::make_shared<const Module>(test::plan_graph(model.graph, "model", native_target()));
  return [m](std::span<const Tensor> inputs) { return run_plan(*m, m->plans[0], inputs); };
}
Runner fused_case(const Model& model) {
  test::plan_graph(model.graph);  // what a plan refuses (sizes out of data) is not fused either
  PassContext context(*find_target("x86-64-v3"));
  auto g = std::make_shared<const Graph>(optimize(model.graph, context));
  return [g](std::span<const Tensor> inputs) { return test::interpret_fused(*g, inputs).rounded; };
}
/// The name of the size in place of an extent; empty where it stays.
using SizeName = std::function<std::string(size_t input, size_t axis, int64_t extent)>;

/// A plan over sizes, bound to the data's.
std::vector<Tensor> run_over_sizes(const Graph& g, std::span<const Tensor> inputs, const SizeName& name_of) {
  DimBinding own;
  const Graph over = test::over_sizes(g, [&](size_t input, size_t axis, int64_t extent) {
    const std::string name = name_of(input, axis, extent);
    if (name.empty()) return Dim(extent);
    own[name] = extent;
    return Dim(symbol(name, {std::min<int64_t>(extent, 1), extent + 2}));
  });
  return test::run_at(test::plan_graph(over), own, inputs);
}
/// Every axis a size of its own; where operands need equal extents, equal extents one size; where constants say what
/// some are, those alone that are as the first. From 1, or from the data's on where not all may be 1.
std::vector<Tensor> run_over_sizes(const Model& model, std::span<const Tensor> inputs) {
  const auto its_own = [](size_t input, size_t axis, int64_t) { return fmt::format("N{}_{}", input, axis); };
  const auto by_extent = [](size_t, size_t, int64_t extent) { return fmt::format("N{}", extent); };
  const auto as_the_first = [&](size_t input, size_t axis, int64_t extent) {
    const bool first = !inputs[0].dims().empty() && extent == inputs[0].dims()[0];
    return first ? by_extent(input, axis, extent) : std::string();
  };
  std::optional<CompileError> refusal;
  for (const SizeName& name_of : {SizeName(its_own), SizeName(by_extent), SizeName(as_the_first)}) try {
      return run_over_sizes(model.graph, inputs, name_of);
    } catch (const CompileError& e) {
      if (e.diagnostic.code == Code::E0601 || e.diagnostic.code == Code::E0602) throw;
      refusal = e;
    }
  throw *refusal;
}
Runner sizes_case(const Model& model) {
  return [&model](std::span<const Tensor> inputs) { return run_over_sizes(model, inputs); };
}
const std::map<std::string, Engine> kEngines = {
    {"interpreter", interpret_case}, {"fused", fused_case},      {"plan", plan_case},
    {"sizes", sizes_case},           {"artifact", compile_case}, {"cuda", cuda_case}};

struct Counts {
  int of[4] = {};
};

void print_operators(std::span<const Case> cases, std::span<const Verdict> verdicts) {
  std::map<std::string, Counts> by_op;
  for (size_t i = 0; i < cases.size(); ++i) ++by_op[cases[i].main_op].of[verdicts[i].kind];
  fmt::print("{:<32} {:>5} {:>5} {:>5} {:>5}\n", "operator", "pass", "wrong", "unsup", "fail");
  for (auto& [op, c] : by_op) fmt::print("{:<32} {:>5} {:>5} {:>5} {:>5}\n", op, c.of[0], c.of[1], c.of[2], c.of[3]);
}

std::string without_names(const std::string& reason) {
  static const std::regex quoted("`[^`]*`|[0-9]+(x[0-9]+)*");
  return reason.substr(0, 4) + (reason.size() > 4 ? std::regex_replace(reason.substr(4), quoted, "_") : "");
}

/// Why cases are refused, most frequent first.
void print_reasons(std::span<const Verdict> verdicts) {
  std::map<std::string, int> counts;
  for (auto& v : verdicts)
    if (v.kind == Verdict::Unsupported) ++counts[without_names(v.reason.substr(0, v.reason.find(';')))];
  std::vector<std::pair<int, std::string>> sorted;
  for (auto& [reason, n] : counts) sorted.push_back({n, reason});
  std::sort(sorted.rbegin(), sorted.rend());
  for (size_t i = 0; i < std::min<size_t>(sorted.size(), 20); ++i)
    fmt::print("{:>5}  {}\n", sorted[i].first, sorted[i].second);
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{"the ONNX backend suite"};
  std::string engine = "interpreter", filter, count_as, report = CAMEO_BINARY_DIR "/backend_suite.json";
  int jobs = 2, limit = 120, least = 0;
  size_t every = 1;
  bool verbose = false, extreme = false, blanked = false, second_values = false;
  app.add_option("--engine", engine)->check(CLI::IsMember(kEngines));
  app.add_option("--filter", filter, "a regular expression that names must contain");
  app.add_option("--every", every, "only each n-th case")->check(CLI::PositiveNumber);
  app.add_option("--report", report, "where the JSON goes");
  app.add_option("-j", jobs);
  app.add_option("--limit", limit, "seconds of processor time a case");
  app.add_option("--least", least, "fail when fewer cases pass");
  app.add_flag("--extreme", extreme, "integer inputs at the edges of their types, judged by the interpreter");
  app.add_flag("--second-values", second_values,
               "the cases whose inputs decide shapes, at other values of these; judged by the interpreter");
  app.add_flag("--blanked", blanked, "without the shapes that the models declare of their outputs and values");
  app.add_option("--count-as", count_as, "the count goes into the report as this, which stays what it is otherwise");
  app.add_flag("-v", verbose, "a line for each case that does not pass");
  CLI11_PARSE(app, argc, argv);

  std::string note;
  std::vector<Case> cases = find_cases(CAMEO_SHARED, CAMEO_BINARY_DIR "/suite", note);
  if (cases.empty()) {
    fmt::print("skipped: {}\n", note);
    return 77;
  }
  std::regex pattern(filter);
  size_t number = 0;
  std::erase_if(cases, [&](const Case& c) { return !std::regex_search(c.name, pattern) || number++ % every != 0; });
  for (Case& c : cases) c.extreme = extreme, c.blanked = blanked, c.second_values = second_values;
  if (engine == "artifact" || engine == "cuda") test::warm_up_compiler();
  auto verdicts =
      run_cases(cases, kEngines.at(engine), jobs, std::chrono::seconds(limit), [&](const Case& c, const Verdict& v) {
        if (verbose && v.kind != Verdict::Pass)
          fmt::print("{:<12} {} ({}): {}\n", name(v.kind), c.name, c.main_op, v.reason);
      });
  Counts total;
  for (auto& v : verdicts) ++total.of[v.kind];
  print_operators(cases, verdicts);
  print_reasons(verdicts);
  fmt::print("{}: {} of {} pass, {} wrong, {} unsupported, {} failed\n", note, total.of[0], cases.size(), total.of[1],
             total.of[2], total.of[3]);
  if (count_as.empty())
    write_report(report, cases, verdicts, engine);
  else
    write_count(report, count_as, total.of[0]);
  if (total.of[0] < least) fmt::print("fewer than {} pass\n", least);
  return total.of[1] + total.of[3] || total.of[0] < least ? 1 : 0;
}
