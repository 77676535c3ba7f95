// `run`, `bench`, `profile`: dims that no flag binds come from the data, the model is built into the cache, and this
// process becomes the artifact.
#include <fmt/format.h>

#include "cli/artifact.h"
#include "cli/data.h"
#include "cli/verbs.h"

namespace cameo {
namespace {

void refuse_model_flags(const ModelFlags& f) {
  const bool given = !f.dims.empty() || !f.shapes.empty() || !f.constants.empty() || !f.outputs.empty() ||
                     !f.targets.empty() || f.lenient || !f.skip.empty() || !f.name.empty() || !f.verify.empty() ||
                     f.rewrite_limit != INT64_MAX;
  if (given)
    throw Failure(kUsage, fmt::format("`{}` is built already: --dim, --shape, --const, --outputs, --lenient, --target, "
                                      "--name, --skip, --verify and "
                                      "--rewrite-limit are for models",
                                      printable(f.model)));
}

}  // namespace

int run_verb(Console& console, const std::string& verb, const ModelFlags& flags, const RunFlags& run) {
  if (is_artifact(flags.model)) {
    refuse_model_flags(flags);
    become_artifact(flags.model, verb, run.passed_on);
  }
  CompileOptions options = read_model_flags(flags);
  for (const std::string& value : run.inputs) options.import.fed.push_back(value.substr(0, value.find('=')));
  Diagnostics diagnostics;
  FileDescriptor artifact;
  try {
    std::optional<Model> model = load_model(options, console, diagnostics);
    if (model && !run.inputs.empty())
      bind_from_data(model, options, shapes_of_values(run.inputs, model->graph), console, diagnostics);
    if (model) require_bound(*model, options, verb, diagnostics);
    if (!diagnostics.has_errors()) artifact = cached_artifact(*model, options, console, diagnostics);
  } catch (const CompileError& e) { diagnostics.add(e.diagnostic); }
  console.end();
  console.report(diagnostics);
  if (diagnostics.has_errors()) {
    const int code = exit_code_of(diagnostics);
    if (console.json) console.document({{"model", flags.model}, {"ok", false}}, code);
    return code;
  }
  become_artifact(artifact, identifier_of(options.called), verb, run.passed_on);
}

}  // namespace cameo
