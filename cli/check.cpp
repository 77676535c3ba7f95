// `check`: everything that keeps a model from being compiled, in one pass.
#include <fmt/format.h>

#include "cli/describe.h"
#include "cli/verbs.h"

namespace cameo {
namespace {

/// Plans too, for what only planning finds. Unbound dims are tried as one; of that trial only what no dim changes
/// counts.
void plan_for_problems(const Model& model, CompileOptions options, Console& console, Diagnostics& diagnostics) {
  Diagnostics found;
  found.file = diagnostics.file;
  for (const UnboundDim& u : model.unbound) options.import.dims.emplace(u.dim, 1);
  const std::optional<Model> bound = model.unbound.empty() ? model : load_model(options, console, found);
  if (bound && bound->unbound.empty()) plan_model(*bound, options, console, found);
  const auto counts = [&](Code c) {
    return model.unbound.empty() || c == Code::E0401 || c == Code::E0402 || c == Code::E0403;
  };
  for (const Diagnostic& d : found.all())
    if (counts(d.code)) diagnostics.add(d);
}

}  // namespace

int check_verb(Console& console, const ModelFlags& flags) {
  CompileOptions options = read_model_flags(flags);
  options.targets.resize(1);
  Diagnostics diagnostics;
  std::optional<Model> model;
  try {
    model = load_model(options, console, diagnostics);
    if (model) plan_for_problems(*model, options, console, diagnostics);
  } catch (const CompileError& e) { diagnostics.add(e.diagnostic); }
  console.end();
  console.report(diagnostics);
  const int code = exit_code_of(diagnostics);
  Json body{{"model", flags.model}, {"ok", code == kOk}};
  if (model) {
    body.update(describe_model(*model));
    std::string verdict = code == kOk ? "  can be compiled" : "  cannot be compiled";
    if (code == kOk && !model->unbound.empty())
      verdict += " once its dims are bound: " + command_with(options, "build", dim_flags(*model));
    console.print(
        fmt::format("{}: {}\n{}{}\n", printable(flags.model), model_line(*model), io_lines(model->graph), verdict));
  }
  if (console.json) console.document(std::move(body), code);
  return code;
}

}  // namespace cameo
