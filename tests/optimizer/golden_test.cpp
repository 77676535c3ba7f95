// Golden tests: a model as text, what is done to it, and the text that comes out (README.md has the format). What comes
// out is run as well, so that an expectation which was updated without a look is still right.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <regex>
#include <sstream>

#include "frontend/reference/compare.h"
#include "optimizer/choose/family.h"
#include "optimizer/layout/assign_orders.h"
#include "optimizer/pipeline.h"
#include "optimizer/plan/run_plan.h"
#include "tests/support/graph_text.h"
#include "tests/support/road.h"
#include "tests/support/tensor_text.h"

namespace cameo::test {
namespace {

namespace fs = std::filesystem;
const fs::path kFolder = fs::path(CAMEO_SOURCE_DIR) / "tests/optimizer";

struct Golden {
  std::string head, expected;  // the file up to and with its line `expect`, and from there on
  std::vector<std::string> model;
  std::vector<std::string> passes, print;
  int64_t limit = INT64_MAX;
  std::string target = "x86-64-v3";
  DType precision = DType::f32;
  std::vector<std::string> on_host, keep_fp32;
};

Golden read_golden(const fs::path& file) {
  Golden g;
  std::ifstream in(file);
  std::string line;
  while (std::getline(in, line)) {
    g.head += line + "\n";
    std::string rest = without_comment(line), word = take_word(rest);
    if (word == "expect") break;
    if (word == "passes")
      g.passes = split_values(rest);
    else if (word == "limit")
      g.limit = to_int(rest);
    else if (word == "target")
      g.target = rest;
    else if (word == "on_host")
      g.on_host.push_back(rest);
    else if (word == "precision" && rest == "bf16")
      g.precision = DType::bf16;
    else if (word == "keep_fp32")
      g.keep_fp32.push_back(rest);
    else if (word == "print")
      g.print = split_values(rest);
    else if (!word.empty())
      g.model.push_back(without_comment(line));
  }
  std::ostringstream text;
  text << in.rdbuf();
  g.expected = text.str();
  return g;
}

// ---- sections -------------------------------------------------------------------------------------------------------
struct Stage {
  const PassContext& context;
  const Graph& graph;
  const Plan* plan;  // for sections that print it
};

std::string title_of(const Graph& g, const Cluster& c) {
  std::string s;
  for (NodeId n : c.nodes) s += (s.empty() ? "" : " + ") + std::string(g[n].op->name);
  return s;
}

std::string print_log(const Stage& s) {
  std::string text;
  for (const Rewrite& r : s.context.log) text += fmt::format("{}: {} at {}\n", r.pass, r.rule, r.node);
  return text;
}
std::string print_clusters(const Stage& s) {
  std::string text;
  for (const Cluster& c : form_clusters(s.graph, s.context.target)) {
    text += title_of(s.graph, c) + " ->";
    for (ValueId v : c.outputs) text += " " + s.graph[v].name;
    text += "\n";
  }
  return text;
}
std::string print_apart(const Stage& s) {
  Refusals refusals;
  const std::vector<Cluster> clusters = form_clusters(s.graph, s.context.target, &refusals);
  std::string text;
  for (const auto& [edge, why] : refusals) {
    const auto [value, reader] = edge;
    const NodeId maker = s.graph[value].producer;
    if (are_fused(clusters, maker, reader)) continue;
    text += fmt::format("{} of {}, read by {}: {}\n", s.graph[value].name, s.graph[maker].op->name,
                        s.graph[reader].op->name, to_string(why));
  }
  return text;
}
std::string print_layouts(const Stage& s) {
  std::vector<FusedCluster> clusters;
  for (Cluster& c : form_clusters(s.graph, s.context.target)) {
    std::vector<OutputExpr> outputs = fuse(s.graph, c);
    clusters.push_back({std::move(c), std::move(outputs)});
  }
  std::vector<Layout> layouts = assign_orders(s.graph, clusters, s.context.target);
  std::string text;
  for (const FusedCluster& c : clusters)
    for (ValueId v : c.cluster.outputs)
      if (s.graph.type(v).rank() > 1)
        text += fmt::format("{} {}: axes {} from the outermost in\n", s.graph[v].name, to_string(s.graph.type(v)),
                            fmt::join(layouts[v.index].order, " "));
  return text;
}
std::string print_kernels(const Stage& s) {
  std::string text;
  for (const Step& step : s.plan->steps) {
    if (step.kind != StepKind::Kernel) continue;
    const Kernel& k = s.plan->kernels[step.kernel];
    text += fmt::format("{} {}   <- {}\n", k.family->name(), k.title, names_of(s.graph.sources(), step.provenance));
  }
  return text;
}
std::string print_plan(const Stage& s) { return to_string(*s.plan, s.graph.sources()); }
std::string print_bodies(const Stage& s) {
  std::string text;
  for (const Kernel& k : s.plan->kernels) text += fmt::format("{} {}\n{}", k.family->name(), k.title, body_text(k));
  return text;
}

struct Section {
  std::string_view name;
  bool planned;
  std::string (*print)(const Stage&);
};
constexpr Section kSections[] = {
    {"log", false, print_log},           {"graph", false, [](const Stage& s) { return print_graph(s.graph); }},
    {"clusters", false, print_clusters}, {"apart", false, print_apart},
    {"layouts", false, print_layouts},   {"kernels", true, print_kernels},
    {"plan", true, print_plan},          {"bodies", true, print_bodies},
};

// ---- running --------------------------------------------------------------------------------------------------------
Target target_of(const Golden& g) {
  if (g.target == "cuda") return gpu_target({"ptx"});
  const Target* target = find_target(g.target);
  if (!target) throw std::runtime_error("there is no target `" + g.target + "`");
  return *target;
}

PassContext context_of(const Golden& g) {
  PassContext context(target_of(g));
  context.rewrite_limit = g.limit;
  context.precision = g.precision;
  context.keep_fp32 = g.keep_fp32;
  context.verify_each = true;
  for (const Pass& p : passes())
    if (!g.passes.empty() && std::ranges::find(g.passes, p.name) == g.passes.end()) context.skip.emplace_back(p.name);
  return context;
}

bool exact(const Golden& g) {
  for (const Pass& p : passes())
    if (p.exactness == Exactness::Algebraic &&
        (g.passes.empty() || std::ranges::find(g.passes, p.name) != g.passes.end()))
      return false;
  return true;
}

/// It rounds more than the model does, but not further than a few roundings of bf16.
void check_narrow(const Interpretation& want, const Interpretation& got) {
  constexpr double kShare = 4.0 / 256;
  for (size_t i = 0; i < got.rounded.size(); ++i) {
    const double tolerance = kShare * magnitude_of(want.rounded[i]);
    EXPECT_TRUE(compare_within(got.rounded[i], want.rounded[i], tolerance).pass) << "output " << i;
    EXPECT_FALSE(got.rounded[i] == want.rounded[i]) << "output " << i << " was not rounded";
  }
}

/// What the passes made computes what the model says.
void check_values(const Golden& golden, const Interpretation& want, const Interpretation& got) {
  if (golden.precision != DType::f32) return check_narrow(want, got);
  EXPECT_EQ(differences(got.rounded, want), "");
  for (size_t i = 0; i < got.rounded.size(); ++i)
    EXPECT_TRUE(!exact(golden) || got.rounded[i] == want.rounded[i]) << "output " << i << " is not bitwise equal";
}

/// Extents that only the data tells are numbered over the whole process.
std::string without_numbers(const std::string& text) {
  static const std::regex kSymbol("\\?[0-9]+");
  return std::regex_replace(text, kSymbol, "?");
}

std::string run_golden(const Golden& golden) {
  try {
    ModelText model = parse_model(golden.model);
    PassContext context = context_of(golden);
    Graph g = optimize(model.graph, context);
    Interpretation want = interpret(model.graph, model.inputs);
    const Interpretation got = interpret(g, model.inputs);
    check_values(golden, want, got);
    if (golden.precision != DType::f32) want.rounded = got.rounded;  // what the plan rounds, too
    std::optional<Module> module;
    std::string text;
    for (const Section& s : kSections) {
      if (std::ranges::find(golden.print, s.name) == golden.print.end()) continue;
      if (s.planned && !module) {
        module = plan_optimized(g, "", context.target, golden.on_host, context.claims);
        EXPECT_EQ(differences(run_plan(*module, module->plans[0], model.inputs), want), "");
      }
      if (golden.print.size() > 1) text += fmt::format("-- {}\n", s.name);
      text += s.print({context, g, module ? &module->plans[0] : nullptr});
    }
    return text;
  } catch (const CompileError& e) { return to_string(e.diagnostic); }
}

std::vector<fs::path> golden_files() {
  std::vector<fs::path> files;
  for (const auto& entry : fs::recursive_directory_iterator(kFolder))
    if (entry.path().extension() == ".case") files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  return files;
}

class GoldenCase : public testing::TestWithParam<fs::path> {};
TEST_P(GoldenCase, IsAsExpected) {
  Golden golden = read_golden(GetParam());
  for (const std::string& p : golden.print)
    ASSERT_TRUE(std::ranges::find(kSections, p, &Section::name) != std::end(kSections))
        << "`" << p << "` prints nothing";
  std::string got = without_numbers(run_golden(golden));
  EXPECT_EQ(got.starts_with("error["), GetParam().filename().string().starts_with("fail_"))
      << "a name begins with `fail_` if and only if compiling must fail\n"
      << got;
  if (std::getenv("CAMEO_UPDATE")) {
    std::ofstream(GetParam()) << golden.head << got;
    return;
  }
  EXPECT_EQ(got, golden.expected) << "CAMEO_UPDATE=1 writes the expectation anew";
}
INSTANTIATE_TEST_SUITE_P(Optimizer, GoldenCase, testing::ValuesIn(golden_files()),
                         [](const auto& info) { return info.param.stem().string(); });

}  // namespace
}  // namespace cameo::test
