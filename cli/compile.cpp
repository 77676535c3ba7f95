// The road, five calls in a row: import, optimize, plan, print, build.
#include "cli/compile.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "cli/buckets.h"
#include "cli/describe.h"
#include "cli/golden_cases.h"
#include "cli/interrupt.h"
#include "cli/outputs.h"
#include "cli/precision.h"
#include "codegen/print_program.h"
#include "optimizer/choose/lock.h"
#include "runtime/compare.h"

namespace cameo {

std::string identifier_of(const std::filesystem::path& file) {
  std::string s = file.has_filename() ? file.stem().string() : file.parent_path().stem().string();
  for (char& c : s)
    if (!std::isalnum(static_cast<unsigned char>(c))) c = '_';
  s.resize(std::min(s.size(), kLongestName));
  return s.empty() || std::isdigit(static_cast<unsigned char>(s[0])) || is_reserved(s) ? "m_" + s : s;
}

namespace {

std::vector<std::string> names_of(const Graph& g, bool inputs_only) {
  std::vector<std::string> names;
  for (ValueId v : g.inputs()) names.push_back(g[v].name);
  for (const SourceNode& s : g.sources())  // nodes that a cut leaves out are in no graph
    if (!inputs_only && !s.output.empty()) names.push_back(s.output);
  return names;
}

/// What was most likely meant by a name that the model does not have.
void suggest_name(Diagnostic& d, const Model& model, const ImportOptions& flags) {
  const auto suggest = [&](const std::string& name, const std::vector<std::string>& known) {
    if (d.message.find(printable(name) + "`") == std::string::npos) return;
    const std::string near = nearest(name, known);
    if (!near.empty())
      d.help = fmt::format("did you mean `{}`?{}{}", printable(near), d.help.empty() ? "" : " ", d.help);
  };
  std::vector<std::string> dims;
  for (const UnboundDim& u : model.unbound) dims.push_back(u.dim);
  for (const auto& [name, value] : flags.dims) suggest(name, dims);
  for (const auto& [name, range] : flags.ranges) suggest(name, dims);
  for (const auto& [name, value] : flags.shapes) suggest(name, names_of(model.graph, true));
  for (const auto& [name, value] : flags.constants) suggest(name, names_of(model.graph, true));
  for (const std::string& name : flags.outputs) suggest(name, names_of(model.graph, false));
}

}  // namespace

std::optional<Model> load_model(const CompileOptions& options, Console& console, Diagnostics& diagnostics) {
  console.begin("import");
  Diagnostics found;
  found.file = diagnostics.file = printable(std::filesystem::path(options.model_title).filename().string());
  Model model = import_onnx(options.model, options.import, found);
  console.end();
  const bool bound = model.unbound.empty();
  for (Diagnostic d : found.all()) {
    if (d.code == Code::E0502) suggest_name(d, model, options.import);
    const auto same = [&](const Diagnostic& o) {
      return o.code == d.code && o.message == d.message && o.node == d.node;
    };
    const bool known =
        std::ranges::any_of(diagnostics.all(), same);  // a model is imported again when its dims are told
    if (!known && (bound || d.code != Code::E0404)) diagnostics.add(d);
  }
  if (diagnostics.has_errors()) return std::nullopt;
  return model;
}

bool bind_from_data(std::optional<Model>& model, CompileOptions& options, const InputShapes& shapes, Console& console,
                    Diagnostics& diagnostics) {
  if (!model || model->unbound.empty() || shapes.empty()) return model.has_value();
  const auto told = dims_from_data(*model, shapes);
  for (const UnboundDim& u : model->unbound)  // not those that a flag gives a range
    if (const auto size = told.find(u.dim); size != told.end()) options.import.dims.insert(*size);
  model = load_model(options, console, diagnostics);
  return model.has_value();
}

std::string command_with(const CompileOptions& options, std::string_view verb, const std::string& flags) {
  std::string line = "cameo";
  bool has_verb = false, has_model = false;
  for (const std::string& word : options.command) {
    const bool is_verb = !has_verb && !word.starts_with('-');
    has_verb |= is_verb;
    line += " " + (is_verb ? std::string(verb) : shell_word(word));
    if (is_verb || has_model || word != options.model_word) continue;
    line += flags;
    has_model = true;
  }
  return line;
}

namespace {

/// Which dims are open, and the line that binds them to sizes at which the model runs.
Diagnostic on_open(const Model& model, const CompileOptions& options, std::string_view verb) {
  Diagnostic d{Code::W0008, "", {}, {}, {}, verb.empty() ? "" : command_with(options, verb, dim_flags(model))};
  std::set<std::string> dims;
  for (const UnboundDim& u : model.unbound)
    if (dims.insert(u.dim).second)
      d.notes.push_back(fmt::format("axis {} of input `{}` is `{}`", u.axis, printable(u.input), printable(u.dim)));
  const bool one = dims.size() == 1;
  d.message = fmt::format("{} of the model's dims {} left open: {} at any size, and {} memory as {}. Bound, {} faster",
                          dims.size(), one ? "is" : "are", one ? "it runs" : "they run", one ? "takes" : "take",
                          one ? "it runs" : "they run", one ? "it is" : "they are");
  return d;
}

}  // namespace

void leave_open(std::optional<Model>& model, CompileOptions& options, std::string_view verb, Console& console,
                Diagnostics& diagnostics) {
  if (!model || model->unbound.empty()) return;
  const Model unbound = std::move(*model);
  const CompileOptions given = options;
  for (const UnboundDim& u : unbound.unbound) options.import.ranges[u.dim] = {u.low, kOpen};
  model = load_model(options, console, diagnostics);
  if (model) model->unbound = unbound.unbound;
  diagnostics.add(on_open(model ? *model : unbound, given, verb));
}

namespace {

std::string rewrites_of(const PassContext& context, std::string_view pass) {
  std::string s;
  for (const Rewrite& r : context.log)
    if (r.pass == pass) s += fmt::format("   {} at {}\n", r.rule, r.node);
  return s;
}

PassContext pass_context(const CompileOptions& options) {
  PassContext context(options.targets.at(0));
  context.precision = options.precision;
  context.keep_fp32 = options.keep_fp32;
  context.skip = options.skip;
  context.rewrite_limit = options.rewrite_limit;
  context.verify_each = options.verify_each;
  return context;
}
/// Times passes; prints graphs after them, and what was rewritten.
void watch_passes(PassContext& context, const CompileOptions& options, Console& console) {
  context.after = [&](const PassContext& now, const Graph& g) {
    if (options.print_after == "all" || options.print_after == now.pass) {
      const std::string rewrites = rewrites_of(now, now.pass);
      console.print(
          fmt::format("-- after {}{}\n{}{}", now.pass, rewrites.empty() ? " (unchanged)" : "", rewrites, to_string(g)));
    }
    if (!options.time_passes) return;
    console.end_as(fmt::format("optimize {}", now.pass));
    console.begin("optimize");
  };
}

void check_nodes(std::string_view flag, const std::vector<std::string>& names, const Sources& sources,
                 Diagnostics& diagnostics) {
  for (const std::string& name : names)
    if (std::ranges::none_of(sources, [&](const SourceNode& n) { return is_called(n, name); }))
      diagnostics.add({Code::E0502,
                       fmt::format("`{} {}` names no node of the model", flag, printable(name)),
                       {},
                       {},
                       {},
                       "a node is called by its name or by its first output's; --emit=graph prints them"});
}

}  // namespace

/// `libdigits.so` is linked as -ldigits, and has digits_api.
std::string name_of(const CompileOptions& options) {
  if (!options.name.empty()) return options.name;
  if (options.output.empty()) return identifier_of(options.model_title);
  if (options.kind == OutputKind::Sources)
    return identifier_of(std::filesystem::absolute(options.output).lexically_normal());
  const std::string file = without_version(options.output.filename()).string();
  const bool library = options.kind == OutputKind::SharedLibrary || options.kind == OutputKind::Archive;
  return identifier_of(library && file.starts_with("lib") && file.find('.') > 3 ? file.substr(3) : file);
}

double default_share(const CompileOptions& options) {
  return options.precision == DType::f32 ? rt::kDefaultShare : 16.0 / 256;
}

std::optional<Graph> narrowed(const Graph& g, const CompileOptions& options) {
  if (options.precision == DType::f32) return std::nullopt;
  PassContext context = pass_context(options);
  return optimize(g, context);
}

namespace {
/// For each target the plan that it would have if there were no other sizes.
void add_plans_of_bucket(const Model& model, const DimBinding& sizes, const CompileOptions& options, Module& module,
                         Diagnostics& found) {
  PassContext shared = pass_context(options);
  const Graph common = optimize_for_all(bind_dims(model.graph, sizes), shared);
  for (Plan& plan : module.plans) {
    PassContext context = shared;
    context.target = plan.target;
    const Graph g = optimize_for_target(common, context);
    Plan made = make_plan(g, plan.target, module.weights, found, options.on_host, context.claims);
    if (found.has_errors()) return;
    add_bucket(plan, std::move(made), sizes);
  }
}
/// What is wrong at those sizes alone says so.
void plan_bucket(const Model& model, const DimBinding& sizes, const CompileOptions& options, Module& module,
                 Diagnostics& diagnostics) {
  Diagnostics found;
  try {
    add_plans_of_bucket(model, sizes, options, module, found);
  } catch (const CompileError& e) { found.add(e.diagnostic); }
  for (Diagnostic d : found.all()) {
    if (is_warning(d.code)) continue;  // the plan for all sizes has said them
    d.notes.push_back(fmt::format("at the sizes of `--bucket {}`", to_string(sizes)));
    diagnostics.add(d);
  }
}
/// Rows of a lock that decide nothing here.
void note_unused_rows(const Plan& plan, Console& console) {
  const std::string& target = plan.target.name;
  const size_t unused = unused_rows(plan);
  if (unused)
    console.note(fmt::format("note: {} row{} of the lock for {} fit{} no kernel of this model", unused,
                             unused == 1 ? "" : "s", target, unused == 1 ? "s" : ""));
  else if (plan.target.lock && !plan.target.lock->rows_for(target) && !plan.target.lock->targets().empty())
    console.note(fmt::format("note: the lock has no rows for {}; those that it has are for {}", target,
                             fmt::join(plan.target.lock->targets(), ", ")));
}

}  // namespace

Planned plan_model(const Model& model, const CompileOptions& options, Console& console, Diagnostics& diagnostics) {
  Planned p;
  Module& m = p.module;
  console.begin("optimize");
  m.name = name_of(options);
  m.sources = model.graph.shared_sources();
  m.made_up_seed = options.made_up_seed;
  m.reduce_overhead = options.reduce_overhead;
  check_nodes("--on-host", options.on_host, *m.sources, diagnostics);
  check_nodes("--keep-fp32", options.keep_fp32, *m.sources, diagnostics);
  for (const DimBinding& sizes : options.buckets) require_bucket(model, sizes);
  PassContext shared = pass_context(options);
  watch_passes(shared, options, console);
  const Graph common = optimize_for_all(model.graph, shared);
  std::vector<std::vector<Claim>> claims;  // by target
  for (const Target& target : options.targets) {
    PassContext context = shared;
    context.target = target;
    p.graphs.push_back(optimize_for_target(common, context));
    claims.push_back(std::move(context.claims));
    if (claims.size() == 1) p.remarks = std::move(context.remarks);
  }
  m.io = interface_of(p.graphs.at(0));
  if (options.stop != Stop::Optimized) {
    console.begin("plan");
    for (size_t t = 0; t < options.targets.size(); ++t) {
      Diagnostics found;
      m.plans.push_back(make_plan(p.graphs[t], options.targets[t], m.weights, found, options.on_host, claims[t]));
      if (m.plans.size() == 1)  // each target meets the same problems
        for (const Diagnostic& d : found.all()) diagnostics.add(d);
    }
  }
  if (!diagnostics.has_errors() && !m.plans.empty())
    for (const DimBinding& sizes : options.buckets) {
      console.begin(fmt::format("plan {}", to_string(sizes)));
      plan_bucket(model, sizes, options, m, diagnostics);
    }
  console.end();
  for (const Plan& plan : m.plans) note_unused_rows(plan, console);
  return p;
}

namespace {
BuildOptions build_options(const CompileOptions& options, Console& console) {
  BuildOptions how;
  how.jobs = options.jobs;
  how.with_program = options.with_program;
  how.weights = options.weights;
  how.progress = [&](std::string_view stage, size_t done, size_t total) {
    return console.progress(stage, done, total);
  };
  return how;
}
}  // namespace

std::optional<WeightsFate> write_module(const Module& module, const std::vector<GoldenCase>& goldens,
                                        const CompileOptions& options, Console& console) {
  const DeferInterrupts defer;
  const std::optional<WeightsFate> fate =
      compile_module(module, goldens, options.kind, options.output, build_options(options, console));
  console.end();
  const std::string file = printable(options.weights.string());
  if (fate == WeightsFate::Kept) console.note(fmt::format("note: `{}` has these weights already, and is kept", file));
  if (fate == WeightsFate::Replaced)
    console.note(fmt::format("note: `{}` had other weights; what was built with those needs its own file", file));
  return fate;
}

FileDescriptor build_in_memory(const Module& module, const CompileOptions& options, Console& console) {
  const DeferInterrupts defer;
  FileDescriptor file = compile_in_memory(module, build_options(options, console));
  console.end();
  return file;
}

namespace {

void print_sources(const Module& module, Console& console) {
  const EmittedModule text = print_module(module, 1);
  const auto print = [&](const SourceFile& f) { console.print(fmt::format("// ---- {}\n{}", f.path, f.text)); };
  for (const auto& plan : text.kernels)
    for (const SourceFile& f : plan) print(f);
  for (const SourceFile& f : text.host) print(f);
  for (const SourceFile& f : text.custom) print(f);
  print(text.program);
}

}  // namespace

Compiled compile(const CompileOptions& given, Console& console, Diagnostics& diagnostics, const Chooser& choose) {
  CompileOptions options = given;
  require_writable(options);
  std::optional<Model> model = load_model(options, console, diagnostics);
  if (!model) return {};
  require_kept(options, model->files);
  if (options.stop == Stop::Graph) return console.print(to_string(model->graph)), Compiled{true};
  leave_open(model, options, "build", console, diagnostics);
  if (!model || diagnostics.has_errors()) return {};
  if (choose) choose(*model, options);
  Planned planned = plan_model(*model, options, console, diagnostics);
  if (diagnostics.has_errors()) return {};
  if (options.stop == Stop::Optimized) {
    for (const Graph& g : planned.graphs) console.print(to_string(g));
    return {true};
  }
  if (options.stop == Stop::Plan || options.stop == Stop::Bodies) {
    for (const Plan& p : planned.module.plans)
      console.print(to_string(p, *planned.module.sources, options.stop == Stop::Bodies));
    return {true};
  }
  if (options.stop == Stop::Choices) {
    for (const Plan& p : planned.module.plans) console.print(choices_text(p));
    return {true};
  }
  if (options.stop == Stop::Ptx) {
    const DeferInterrupts defer;
    return console.print(ptx_of_module(planned.module, build_options(options, console))), Compiled{true};
  }
  if (options.stop == Stop::Sources && options.output.empty())
    return print_sources(planned.module, console), Compiled{true};
  Compiled compiled{true, write_module(planned.module, golden_cases(*model, options, console), options, console)};
  if (options.precision != DType::f32) compiled.precision = measure_precision(*model, options, console);
  return compiled;
}

}  // namespace cameo
