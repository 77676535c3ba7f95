// The road, five calls in a row: import, optimize, plan, print, build.
#include "cli/compile.h"

#include <fmt/format.h>

#include <algorithm>

namespace cameo {

std::string identifier_of(const std::filesystem::path& file) {
  std::string s = file.stem().string();
  for (char& c : s)
    if (!std::isalnum(static_cast<unsigned char>(c))) c = '_';
  return s.empty() || std::isdigit(static_cast<unsigned char>(s[0])) ? "m_" + s : s;
}

namespace {
void report_unbound(const Model& model, const CompileOptions& options, Diagnostics& diagnostics) {
  if (model.unbound.empty()) return;
  std::string flags;
  std::vector<std::string> seen;
  Diagnostic d{Code::E0501, "", {}, {}, {}, {}};
  for (const UnboundDim& u : model.unbound) {
    if (std::find(seen.begin(), seen.end(), u.dim) != seen.end()) continue;
    seen.push_back(u.dim);
    d.notes.push_back(fmt::format("axis {} of input `{}` is `{}`", u.axis, printable(u.input), printable(u.dim)));
    flags += fmt::format(" --dim {}=1", printable(u.dim));
  }
  d.message = fmt::format("{} of the model's dims {} no value", seen.size(), seen.size() == 1 ? "has" : "have");
  d.help = fmt::format("cameo build {}{} -o {}", options.model.string(), flags, options.output.empty() ? "model.so" : options.output.string());
  diagnostics.add(d);
}
}  // namespace

std::optional<Model> load_model(const CompileOptions& options, Diagnostics& diagnostics) {
  diagnostics.file = options.model.filename().string();
  Model model = import_onnx(options.model, options.import, diagnostics);
  if (diagnostics.has_errors()) return std::nullopt;
  return model;
}

Module plan_module(const Model& model, const CompileOptions& options, Diagnostics& diagnostics) {
  Module m;
  m.name = options.name.empty() ? identifier_of(options.output.empty() ? options.model : options.output) : options.name;
  m.sources = model.graph.shared_sources();
  for (const Target& target : options.targets) {
    PassContext context;
    context.skip = options.skip;
    context.after = [&](std::string_view pass, const Graph& g) {
      if (options.print_after == "all" || options.print_after == pass) fmt::print("-- after {}\n{}", pass, to_string(g));
    };
    Graph graph = optimize(model.graph, context);
    m.io = interface_of(graph);
    if (options.stop == Stop::Optimized) {
      fmt::print("{}", to_string(graph));
      return m;
    }
    m.plans.push_back(make_plan(graph, target, m.weights, diagnostics));
  }
  return m;
}

bool compile(const CompileOptions& options, Diagnostics& diagnostics, const BuildOptions& build) {
  std::optional<Model> model = load_model(options, diagnostics);
  if (!model) return false;
  if (options.stop == Stop::Graph) {
    fmt::print("{}", to_string(model->graph));
    return true;
  }
  report_unbound(*model, options, diagnostics);
  if (diagnostics.has_errors()) return false;
  Module module = plan_module(*model, options, diagnostics);
  if (diagnostics.has_errors()) return false;
  if (options.stop == Stop::Optimized) return true;
  if (options.stop == Stop::Plan) {
    for (const Plan& p : module.plans) fmt::print("{}", to_string(p, *module.sources));
    return true;
  }
  if (options.stop == Stop::Sources && options.output.empty()) {
    EmittedModule text = print_module(module, 1);
    for (auto& plan : text.kernels)
      for (auto& f : plan) fmt::print("// ---- {}\n{}", f.path, f.text);
    fmt::print("// ---- {}\n{}", text.program.path, text.program.text);
    return true;
  }
  std::string extension = options.output.extension().string();
  OutputKind kind = extension == ".so" ? OutputKind::SharedLibrary : extension == ".o" ? OutputKind::Object : extension == ".a" ? OutputKind::Archive : OutputKind::Program;
  compile_module(module, {}, kind, options.output, build);
  return true;
}

}  // namespace cameo
