// See runnable.h.
#include "cli/runnable.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "cli/data.h"
#include "cli/sizes.h"

namespace cameo {
namespace {

/// `--dim` as an artifact takes it.
void pass_dim(std::vector<std::string>& arguments, const std::string& flag) {
  arguments.insert(arguments.end(), {"--dim", flag});
}

/// A dim that has a range and a number: the model is built for the range, and runs at the number.
void pass_sizes(ImportOptions& flags, const std::set<std::string>& ranged, std::vector<std::string>& arguments) {
  for (const std::string& name : ranged)
    if (const auto size = flags.dims.extract(name)) pass_dim(arguments, fmt::format("{}={}", name, size.mapped()));
}

/// The dims that flags give a range. What those are called to which --shape gives one, only the model says.
std::set<std::string> ranged_dims(const CompileOptions& options, Console& console) {
  std::set<std::string> names;
  for (const auto& [name, range] : options.import.ranges) names.insert(name);
  const bool by_shape = std::ranges::any_of(options.import.shapes, [](const auto& shape) {
    return !std::ranges::all_of(shape.second, &SizeRange::is_number);
  });
  if (!by_shape || options.import.dims.empty()) return names;
  CompileOptions without = options;
  without.import.dims.clear();
  Diagnostics ignored;
  const std::optional<Model> model = load_model(without, console, ignored);
  if (!model) return names;
  for (const auto& [name, size] : lowest_sizes(model->graph)) names.insert(name);
  for (const UnboundDim& u : model->unbound) names.erase(u.dim);
  return names;
}

/// Where nothing says sizes, a run has the least of their ranges. If the model does not run at those, at others.
void pass_least(const Graph& g, std::vector<std::string>& arguments, Console& console) {
  const DimBinding lowest = lowest_sizes(g), least = least_sizes(g);
  if (least == lowest) return;
  for (const auto& [name, size] : least) pass_dim(arguments, fmt::format("{}={}", name, size));
  console.note(
      fmt::format("note: {}, the least that were found to fit; `--dim NAME=N` says other sizes", to_string(least)));
}

}  // namespace

void refuse_model_flags(const ModelFlags& f, const std::string& verb) {
  const bool takes_sizes = verb != "test" && verb != "inspect";
  const std::pair<bool, std::string_view> of_models[] = {{!f.dims.empty() && !takes_sizes, "--dim"},
                                                         {!f.shapes.empty(), "--shape"},
                                                         {!f.constants.empty(), "--const"},
                                                         {!f.open.empty(), "--input"},
                                                         {!f.outputs.empty(), "--outputs"},
                                                         {!f.targets.empty(), "--target"},
                                                         {!f.on_host.empty(), "--on-host"},
                                                         {!f.keep_fp32.empty(), "--keep-fp32"},
                                                         {!f.skip.empty(), "--skip"},
                                                         {!f.custom.empty(), "--custom"},
                                                         {!f.name.empty(), "--name"},
                                                         {!f.verify.empty(), "--verify"},
                                                         {!f.mode.empty(), "--mode"},
                                                         {!f.precision.empty(), "--precision"},
                                                         {!f.tune_lock.empty(), "--tune-lock"},
                                                         {f.lenient, "--lenient"},
                                                         {f.rewrite_limit != INT64_MAX, "--rewrite-limit"},
                                                         {f.jobs != 0, "-j"}};
  for (const auto& [is_given, flag] : of_models)
    if (is_given)
      throw Failure(kUsage, fmt::format("`{}` is built already, and `{}` is for models", printable(f.model), flag));
}

std::optional<Runnable> make_runnable(Console& console, const std::string& verb, const ModelFlags& flags,
                                      const RunFlags& run, Diagnostics& diagnostics) {
  Runnable made{flags.model, {}, run.passed_on};
  if (is_artifact(flags.model)) {
    refuse_model_flags(flags, verb);
    for (const std::string& dim : flags.dims) pass_dim(made.arguments, dim);
    return made;
  }
  CompileOptions options = read_model_flags(flags);
  pass_sizes(options.import, ranged_dims(options, console), made.arguments);
  for (const std::string& value : run.inputs) options.import.fed.push_back(value.substr(0, value.find('=')));
  try {
    std::optional<Model> model = load_model(options, console, diagnostics);
    InputShapes shapes = model ? shapes_of_values(run.inputs, model->graph) : InputShapes();
    for (const std::string& state : run.states)  // what a state begins with may grow
      std::erase_if(shapes, [&](const auto& shape) { return state.ends_with("=" + shape.first); });
    bind_from_data(model, options, shapes, console, diagnostics);
    leave_open(model, options, run.batches.empty() ? verb : "", console, diagnostics);  // batches need the dim open
    if (model && shapes.empty() && made.arguments == run.passed_on) pass_least(model->graph, made.arguments, console);
    if (!diagnostics.has_errors()) made.built = cached_artifact(*model, options, console, diagnostics);
  } catch (const CompileError& e) { diagnostics.add(e.diagnostic); }
  made.title = identifier_of(options.model_title);
  if (diagnostics.has_errors()) return std::nullopt;
  return made;
}

void become(const Runnable& runnable, const std::string& verb, const std::vector<std::string>& arguments) {
  if (runnable.built.valid()) become_artifact(runnable.built, runnable.title, verb, arguments);
  become_artifact(runnable.title, verb, arguments);
}

}  // namespace cameo
