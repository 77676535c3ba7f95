// `check`: everything that keeps a model from being compiled, in one pass.
#include <fmt/format.h>

#include "cli/describe.h"
#include "cli/verbs.h"

namespace cameo {
namespace {

/// Plans too, for what only planning finds. Dims that nothing binds stay open, as `build` leaves them; where that
/// cannot be, they are tried at single sizes: of that trial only what no dim changes counts. Whether they stay open.
bool plan_for_problems(std::optional<Model>& model, CompileOptions options, Console& console,
                       Diagnostics& diagnostics) {
  const auto plan = [&](std::optional<Model>& of, Diagnostics& found) {
    found.file = diagnostics.file;
    leave_open(of, options, "build", console, found);
    if (of) plan_model(*of, options, console, found);
  };
  Diagnostics open, bound;
  const Model given = *model;
  const CompileOptions unbound = options;
  plan(model, open);
  if (given.unbound.empty() || !open.has_errors()) {
    for (const Diagnostic& d : open.all()) diagnostics.add(d);
    return true;
  }
  options = unbound;
  for (const UnboundDim& u : given.unbound) options.import.dims.emplace(u.dim, 1);
  bound.file = diagnostics.file;
  std::optional<Model> at_one = load_model(options, console, bound);
  plan(at_one, bound);
  for (const Diagnostic& d : bound.all())
    if (d.code == Code::E0401 || d.code == Code::E0402 || d.code == Code::E0403) diagnostics.add(d);
  model = given;
  return false;
}

}  // namespace

int check_verb(Console& console, const ModelFlags& flags) {
  CompileOptions options = read_model_flags(flags);
  options.targets.resize(1);
  Diagnostics diagnostics;
  std::optional<Model> model;
  bool stays_open = false;
  try {
    model = load_model(options, console, diagnostics);
    if (model) stays_open = plan_for_problems(model, options, console, diagnostics);
  } catch (const CompileError& e) { diagnostics.add(e.diagnostic); }
  console.end();
  console.report(diagnostics);
  const int code = exit_code_of(diagnostics);
  Json body{{"model", flags.model}, {"ok", code == kOk}};
  if (model) {
    body.update(describe_model(*model));
    std::string verdict = code == kOk ? "  can be compiled" : "  cannot be compiled";
    if (code == kOk && !stays_open)
      verdict += " once its dims are bound: " + command_with(options, "build", dim_flags(*model));
    console.print(
        fmt::format("{}: {}\n{}{}\n", printable(flags.model), model_line(*model), io_lines(model->graph), verdict));
  }
  if (console.json) console.document(std::move(body), code);
  return code;
}

}  // namespace cameo
