// See blame.h. The model is built once more with every value that a kernel writes as an output of its own, so fusion
// stays as it was; where that heals the fault (an output stands in no arena), the graph is cut at one value at a time
// instead, and the first one that fails is found by halving.
#include "cli/blame.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "cli/artifact.h"
#include "cli/loaded_model.h"
#include "frontend/compare.h"
#include "frontend/interpret.h"

namespace cameo {
namespace {

/// Names of values that the artifact writes somewhere and the model names, in execution order of the model.
std::vector<std::string> written_values(const Model& model, const CompileOptions& options, Console& console) {
  Diagnostics ignored;
  const Planned planned = plan_model(model, options, console, ignored);
  std::set<std::string> written;
  for (const Step& s : planned.module.plans.at(0).steps)
    for (ValueId v : s.written)
      if (v.index < planned.graph.values().size()) written.insert(planned.graph[v].name);
  std::vector<std::string> names;
  for (const Node& n : model.graph.nodes())
    for (ValueId v : n.outputs)
      if (v && written.contains(model.graph[v].name) && !model.graph[v].name.empty() &&
          is_static(model.graph.type(v).shape))
        names.push_back(model.graph[v].name);
  return names;
}

struct Cut {
  Model model;
  std::vector<Comparison> results;  // by output
};

/// Builds the model with these outputs, runs it and compares each with the interpreter's.
std::optional<Cut> try_cut(CompileOptions options, std::vector<std::string> outputs, const Model& whole,
                           const std::vector<Tensor>& inputs, int threads, Console& console) {
  Diagnostics diagnostics;
  options.import.outputs = std::move(outputs);
  std::optional<Model> model = load_model(options, console, diagnostics);
  if (!model) return std::nullopt;
  const Interface io = interface_of(model->graph);
  std::vector<Tensor> own;  // a cut may leave inputs without a reader, but all stay inputs
  for (const Interface::Io& input : io.inputs)
    for (size_t i = 0; i < whole.graph.inputs().size(); ++i)
      if (whole.graph.input_name(static_cast<int>(i)) == input.name) own.push_back(inputs[i]);
  if (own.size() != io.inputs.size()) return std::nullopt;
  const std::filesystem::path artifact = cached_artifact(*model, options, console, diagnostics);
  if (artifact.empty()) return std::nullopt;
  Cut cut{std::move(*model), {}};
  const std::vector<Tensor> got = LoadedModel(artifact, threads).run(own, io);
  const Interpretation r = interpret(cut.model.graph, own);
  for (size_t i = 0; i < got.size(); ++i) cut.results.push_back(compare(got[i], r.rounded[i], r.unrounded[i]));
  return cut;
}

Blame blame_output(const Cut& cut, size_t output) {
  const Graph& g = cut.model.graph;
  const Port& port = g.outputs()[output];
  const Comparison& c = cut.results[output];
  Blame b;
  b.found = true;
  b.value = printable(port.name);
  const NodeId producer = g[port.value].producer;
  b.node = producer ? where(g.sources(), g[producer].origin) : "an input or constant";
  b.error = c.max_error;
  b.tolerance = c.tolerance;
  b.sentence = fmt::format(
      "the first node that diverges is {}: its output `{}` is {:.3g} off, tolerance {:.3g}, the tolerance that would "
      "pass {:.3g}; {}",
      b.node, b.value, b.error, b.tolerance, c.would_pass, c.why);
  return b;
}

std::optional<size_t> first_failure(const Cut& cut) {
  const auto it = std::ranges::find(cut.results, false, &Comparison::pass);
  if (it == cut.results.end()) return std::nullopt;
  return static_cast<size_t>(it - cut.results.begin());
}

}  // namespace

Blame find_divergence(const Model& model, const CompileOptions& options, const std::vector<Tensor>& inputs, int threads,
                      Console& console) {
  std::vector<std::string> names = written_values(model, options, console);
  for (const Port& p : model.graph.outputs())
    if (std::ranges::find(names, p.name) == names.end()) names.push_back(p.name);
  if (auto all = try_cut(options, names, model, inputs, threads, console))
    if (auto at = first_failure(*all)) return blame_output(*all, *at);
  // errors travel on: if the value at `high` is wrong, some value up to it is the first
  size_t low = 0, high = names.size();
  std::optional<Blame> best;
  while (low < high) {
    const size_t middle = (low + high) / 2;
    const auto cut = try_cut(options, {names[middle]}, model, inputs, threads, console);
    if (cut && first_failure(*cut)) {
      best = blame_output(*cut, 0);
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  if (best) return *best;
  Blame none;
  none.sentence = fmt::format("no node diverges: {} values compared", names.size());
  return none;
}

}  // namespace cameo
