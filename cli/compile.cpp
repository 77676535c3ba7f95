// The road, five calls in a row: import, optimize, plan, print, build.
#include "cli/compile.h"

#include <fmt/format.h>

#include <algorithm>

#include "cli/interrupt.h"

namespace cameo {

std::string identifier_of(const std::filesystem::path& file) {
  std::string s = file.has_filename() ? file.stem().string() : file.parent_path().stem().string();
  for (char& c : s)
    if (!std::isalnum(static_cast<unsigned char>(c))) c = '_';
  return s.empty() || std::isdigit(static_cast<unsigned char>(s[0])) ? "m_" + s : s;
}

std::optional<Model> load_model(const CompileOptions& options, Console& console, Diagnostics& diagnostics) {
  console.begin("import");
  diagnostics.file = printable(options.model.filename().string());
  Model model = import_onnx(options.model, options.import, diagnostics);
  console.end();
  if (diagnostics.has_errors()) return std::nullopt;
  return model;
}

void require_bound(const Model& model, const CompileOptions& options, std::string_view verb, Diagnostics& diagnostics) {
  if (model.unbound.empty()) return;
  std::string flags;
  std::vector<std::string> seen;
  Diagnostic d{Code::E0501, "", {}, {}, {}, {}};
  for (const UnboundDim& u : model.unbound) {
    d.notes.push_back(fmt::format("axis {} of input `{}` is `{}`", u.axis, printable(u.input), printable(u.dim)));
    if (std::ranges::find(seen, u.dim) != seen.end()) continue;
    seen.push_back(u.dim);
    flags += " --dim " + shell_word(u.dim + "=1");
  }
  d.message = fmt::format("{} of the model's dims {} no value", seen.size(), seen.size() == 1 ? "has" : "have");
  d.help = fmt::format("cameo {} {}{}", verb, shell_word(options.model.string()), flags);
  if (!options.output.empty()) d.help += " -o " + shell_word(options.output.string());
  diagnostics.add(d);
}

namespace {

/// Times passes, prints graphs after them.
PassContext pass_context(const CompileOptions& options, Console& console) {
  PassContext context;
  context.skip = options.skip;
  context.after = [&](std::string_view pass, const Graph& g) {
    if (options.print_after == "all" || options.print_after == pass)
      console.print(fmt::format("-- after {}\n{}", pass, to_string(g)));
    if (!options.time_passes) return;
    console.end_as(fmt::format("optimize {}", pass));
    console.begin("optimize");
  };
  return context;
}

}  // namespace

Planned plan_model(const Model& model, const CompileOptions& options, Console& console, Diagnostics& diagnostics) {
  Planned p;
  Module& m = p.module;
  console.begin("optimize");
  m.name = options.name.empty() ? identifier_of(options.output.empty() ? options.model : options.output) : options.name;
  m.sources = model.graph.shared_sources();
  PassContext context = pass_context(options, console);
  p.graph = optimize(model.graph, context);
  m.io = interface_of(p.graph);
  if (options.stop != Stop::Optimized) {
    console.begin("plan");
    for (const Target& target : options.targets) {
      Diagnostics found;
      m.plans.push_back(make_plan(p.graph, target, m.weights, found));
      if (m.plans.size() == 1)  // each target meets the same problems
        for (const Diagnostic& d : found.all()) diagnostics.add(d);
    }
  }
  console.end();
  return p;
}

void write_module(const Module& module, const std::vector<GoldenCase>& goldens, const CompileOptions& options,
                  Console& console) {
  BuildOptions how;
  how.jobs = options.jobs;
  how.with_program = options.with_program;
  how.progress = [&](std::string_view stage, size_t done, size_t total) {
    return console.progress(stage, done, total);
  };
  const DeferInterrupts defer;
  compile_module(module, goldens, options.kind, options.output, how);
  console.end();
}

namespace {

void print_sources(const Module& module, Console& console) {
  EmittedModule text = print_module(module, 1);
  for (auto& plan : text.kernels)
    for (auto& f : plan) console.print(fmt::format("// ---- {}\n{}", f.path, f.text));
  console.print(fmt::format("// ---- {}\n{}", text.program.path, text.program.text));
}

}  // namespace

bool compile(const CompileOptions& options, Console& console, Diagnostics& diagnostics) {
  std::optional<Model> model = load_model(options, console, diagnostics);
  if (!model) return false;
  if (options.stop == Stop::Graph) return console.print(to_string(model->graph)), true;
  require_bound(*model, options, "build", diagnostics);
  if (diagnostics.has_errors()) return false;
  Planned planned = plan_model(*model, options, console, diagnostics);
  if (diagnostics.has_errors()) return false;
  if (options.stop == Stop::Optimized) return console.print(to_string(planned.graph)), true;
  if (options.stop == Stop::Plan) {
    for (const Plan& p : planned.module.plans) console.print(to_string(p, *planned.module.sources));
    return true;
  }
  if (options.stop == Stop::Sources && options.output.empty()) return print_sources(planned.module, console), true;
  write_module(planned.module, {}, options, console);
  return true;
}

}  // namespace cameo
