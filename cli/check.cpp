// `check`: everything that keeps a model from being compiled, in one pass.
#include <fmt/format.h>

#include "cli/verbs.h"

namespace cameo {
namespace {

std::string dim_text(const Dim& d) { return d.is_static() ? fmt::format("{}", d.value()) : printable(to_string(d)); }

Json io_json(const std::string& name, const Type& type) {
  Json shape = Json::array();
  for (const Dim& d : type.shape) d.is_static() ? shape.push_back(d.value()) : shape.push_back(dim_text(d));
  return {{"name", printable(name)}, {"dtype", cameo::name(type.dtype)}, {"shape", shape}};
}

/// Plans with the unbound dims set to one, for what no dim can change.
void plan_for_problems(Model model, CompileOptions options, Console& console, Diagnostics& diagnostics) {
  Diagnostics found;
  if (!model.unbound.empty()) {
    for (const UnboundDim& u : model.unbound) options.import.dims.emplace(u.dim, 1);
    Diagnostics again;
    std::optional<Model> bound = load_model(options, console, again);
    if (!bound) return;
    model = std::move(*bound);
  }
  found.file = diagnostics.file;
  plan_model(model, options, console, found);
  for (const Diagnostic& d : found.all()) diagnostics.add(d);
}

}  // namespace

int check_verb(Console& console, const ModelFlags& flags) {
  CompileOptions options = read_model_flags(flags);
  options.targets = {native_target()};
  Diagnostics diagnostics;
  std::optional<Model> model;
  try {
    model = load_model(options, console, diagnostics);
    if (model) plan_for_problems(*model, options, console, diagnostics);
  } catch (const CompileError& e) { diagnostics.add(e.diagnostic); }
  console.end();
  console.report(diagnostics);
  const bool ok = model && !diagnostics.has_errors();
  Json body{{"model", flags.model}, {"ok", ok}};
  if (model) {
    const Graph& g = model->graph;
    body["ir_version"] = model->ir_version;
    for (const auto& [domain, version] : model->opsets)
      body["opsets"][domain.empty() ? "ai.onnx" : printable(domain)] = version;
    body["nodes"] = g.nodes().size();
    std::string text = fmt::format("{}: {} nodes", printable(flags.model), g.nodes().size());
    for (const auto& [domain, version] : model->opsets)
      text += fmt::format(", {} {}", domain.empty() ? "opset" : printable(domain), version);
    text += "\n";
    for (ValueId v : g.inputs()) {
      body["inputs"].push_back(io_json(g[v].name, g.type(v)));
      text += fmt::format("  input  {}  {}\n", printable(g[v].name), to_string(g.type(v)));
    }
    for (const Port& p : g.outputs()) {
      body["outputs"].push_back(io_json(p.name, g.type(p.value)));
      text += fmt::format("  output {}  {}\n", printable(p.name), to_string(g.type(p.value)));
    }
    body["unbound"] = Json::array();
    std::string dims;
    for (const UnboundDim& u : model->unbound) {
      body["unbound"].push_back({{"dim", u.dim}, {"input", u.input}, {"axis", u.axis}});
      const std::string flag = " --dim " + shell_word(u.dim + "=1");
      if (dims.find(flag) == std::string::npos) dims += flag;
    }
    text += ok ? "  can be compiled" : "  cannot be compiled";
    if (ok && !dims.empty())
      text += fmt::format(", with its dims bound: cameo build {}{}", shell_word(flags.model), dims);
    console.print(text + "\n");
  }
  const int code = exit_code_of(diagnostics);
  if (console.json) console.document(std::move(body), code);
  return code;
}

}  // namespace cameo
