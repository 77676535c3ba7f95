// `inspect` of a model: what goes in and out, of which operators and weights it is made, and what its plan takes. An
// artifact inspects itself.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "cli/artifact.h"
#include "cli/describe.h"
#include "cli/runnable.h"
#include "cli/sizes.h"
#include "cli/verbs.h"
#include "codegen/goldens.h"
#include "optimizer/work.h"

namespace cameo {
namespace {

/// By count, the most frequent first.
std::vector<std::pair<std::string, int>> operator_counts(const Graph& g) {
  std::map<std::string, int> counts;
  for (const SourceNode& s : g.sources()) ++counts[printable(s.op_type)];
  std::vector<std::pair<std::string, int>> sorted(counts.begin(), counts.end());
  std::ranges::sort(sorted, {}, [](const auto& c) { return std::pair(-c.second, c.first); });
  return sorted;
}

struct Weight {
  std::string name;
  Type type;
  uint64_t bytes;
};
std::vector<Weight> largest_weights(const Graph& g) {
  std::vector<Weight> weights;
  for (const Value& v : g.values())
    if (v.constant && v.type.kind == Kind::Tensor)
      weights.push_back({printable(v.name), v.type, v.constant->bytes().size()});
  std::ranges::sort(weights, [](const Weight& a, const Weight& b) {
    return a.bytes != b.bytes ? a.bytes > b.bytes : a.name < b.name;
  });
  return weights;
}

void describe_graph(Console& console, const Model& model, Json& body) {
  std::string text = "operators\n ";
  for (const auto& [name, count] : operator_counts(model.graph)) {
    text += fmt::format(" {} {}", count, name);
    body["operators"][name] = count;
  }
  uint64_t sum = 0;
  const std::vector<Weight> weights = largest_weights(model.graph);
  for (const Weight& w : weights) sum += w.bytes;
  text += fmt::format("\nconstants {}\n", human_bytes(sum));
  body["constant_bytes"] = sum;
  constexpr size_t kShown = 5;
  for (size_t i = 0; i < std::min(weights.size(), kShown); ++i) {
    text +=
        fmt::format("  {:>10}  {} {}\n", human_bytes(weights[i].bytes), weights[i].name, to_string(weights[i].type));
    body["largest_constants"].push_back(
        {{"name", weights[i].name}, {"type", to_string(weights[i].type)}, {"bytes", weights[i].bytes}});
  }
  console.print(text);
}

void describe_plan(Console& console, const Planned& planned, Json& body) {
  const Plan& p = planned.module.plans.at(0);
  const Graph& g = planned.graphs.at(0);
  const DimBinding sizes = likely_sizes(g);
  const double operations = estimate_operations(sizes.empty() ? g : bind_dims(g, sizes));
  console.print(fmt::format(
      "plan for {}\n  {} steps of {} kernels, some {:.3g} GFLOP a run{}{}\n  weights {}, arena {}{}\n", p.target.name,
      p.steps.size(), p.kernels.size(), operations / 1e9, sizes.empty() ? "" : " at ", to_string(sizes),
      human_bytes(static_cast<uint64_t>(planned.module.weights.bytes)),
      human_bytes(static_cast<uint64_t>(p.arena_bytes)), p.blocks.empty() ? "" : ", and what a run's sizes need"));
  body["plan"] = {{"target", p.target.name},      {"steps", p.steps.size()},
                  {"kernels", p.kernels.size()},  {"weights_bytes", planned.module.weights.bytes},
                  {"arena_bytes", p.arena_bytes}, {"operations", operations}};
}

}  // namespace

int inspect_verb(Console& console, const ModelFlags& flags) {
  if (is_artifact(flags.model)) {
    refuse_model_flags(flags, "inspect");
    become_artifact(flags.model, "inspect",
                    console.json ? std::vector<std::string>{"--json"} : std::vector<std::string>{});
  }
  CompileOptions options = read_model_flags(flags);
  options.targets.resize(1);
  Diagnostics diagnostics;
  Json body{{"model", flags.model}};
  try {
    std::optional<Model> model = load_model(options, console, diagnostics);
    leave_open(model, options, "inspect", console, diagnostics);
    if (model) {
      body.update(describe_model(*model));
      console.print(fmt::format("{}: {}\n{}", printable(flags.model), model_line(*model), io_lines(model->graph)));
      if (!model->producer.empty()) console.print(fmt::format("made by {}\n", printable(model->producer)));
      describe_graph(console, *model, body);
      const Planned planned = plan_model(*model, options, console, diagnostics);
      if (!diagnostics.has_errors()) describe_plan(console, planned, body);
    }
  } catch (const CompileError& e) { diagnostics.add(e.diagnostic); }
  console.end();
  console.report(diagnostics);
  const int code = exit_code_of(diagnostics);
  if (console.json) console.document(std::move(body), code);
  return code;
}

}  // namespace cameo
