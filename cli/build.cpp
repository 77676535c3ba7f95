// `build`: the road, and one line about what came of it.
#include <fmt/format.h>

#include <filesystem>

#include "cli/outputs.h"
#include "cli/tune.h"
#include "cli/verbs.h"

namespace cameo {
namespace {

/// 0 of a pipe or another device.
uint64_t bytes_of(const std::filesystem::path& path) {
  std::error_code error;
  if (std::filesystem::is_regular_file(path, error)) return std::filesystem::file_size(path);
  if (!std::filesystem::is_directory(path, error)) return 0;
  uint64_t sum = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(path, error))
    if (entry.is_regular_file(error)) sum += entry.file_size(error);
  return sum;
}

/// As --target takes them.
std::string target_names(const CompileOptions& options) {
  std::string s, kind;
  const auto add = [&](std::string_view of_kind, const std::string& name) {
    if (!s.empty()) s += ",";
    if (kind != of_kind) s += fmt::format("{}:", kind = of_kind);
    s += name;
  };
  for (const Target& t : options.targets) {
    if (t.architectures.empty()) add("cpu", t.name);
    for (const std::string& architecture : t.architectures) add("cuda", architecture);
  }
  return s;
}

/// In a sentence: the narrowest of the processor's targets decides.
std::string runs_on(const CompileOptions& options) {
  constexpr std::pair<std::string_view, std::string_view> kProcessors[] = {
      {"x86-64-v2", "SSE4.2: Intel and AMD since 2011"},
      {"x86-64-v3", "AVX2 and FMA: Intel Haswell, AMD Zen and newer"},
      {"x86-64-v4", "AVX-512: Intel Skylake-SP, AMD Zen 4 and newer"},
      {"x86-64-v4-vnni", "AVX-512 with VNNI: Intel Cascade Lake, AMD Zen 4 and newer"},
      {"x86-64-v4-bf16", "AVX-512 with VNNI and bf16: Intel Sapphire Rapids, AMD Zen 4 and newer"},
      {"x86-64-v4-amx", "the same with tile registers (AMX): Intel Sapphire Rapids and newer"}};
  const Target& narrowest = options.targets.back();
  std::string text;
  for (const std::string& a : narrowest.architectures)
    text += fmt::format("{} {}", text.empty() ? "NVIDIA cards of" : ",", a == "ptx" ? "sm_80 and newer" : a);
  for (const auto& [name, what] : kProcessors)
    if (narrowest.name == name) text = fmt::format("any processor of {} ({})", name, what);
  return text + ", Linux, glibc 2.34 or newer";
}

/// How code finds the model in it; empty for a program.
std::string interface_line(const CompileOptions& options) {
  const std::string api = name_of(options) + "_api";
  if (const auto header = header_of_output(options)) return fmt::format("  {} declares {}\n", header->string(), api);
  if (options.kind == OutputKind::Program) return "";
  return fmt::format("  exports {}, and as cameo_model_api the same\n", api);
}

/// What PTX without code for any card costs; empty where nothing.
std::string note_on_loading(const CompileOptions& options) {
  for (const Target& t : options.targets)
    if (t.compiles_when_loaded())
      return "  the driver compiles this PTX when it is first loaded, which takes it seconds, and keeps the result in "
             "its own cache; cuda:sm_80 and newer need ptxas and cost nothing then\n";
  return "";
}

std::string precision_line(const PrecisionError& e) {
  if (e.share < 0) return fmt::format("  precision bf16: error not measured: {}\n", e.how);
  return fmt::format("  precision bf16: largest error {:.2g} of the output's largest magnitude (random inputs, {})\n",
                     e.share, e.how);
}

/// What came of a build that wrote something.
struct Report {
  const CompileOptions& options;
  const Compiled& compiled;
  uint64_t bytes;  // of the output; 0: it is no file
};

std::string text_of(const Report& r, bool names_targets, double seconds) {
  const CompileOptions& o = r.options;
  std::string text =
      fmt::format("{}: {}--target={}{}, {:.1f} s\n", o.output.string(), r.bytes ? human_bytes(r.bytes) + ", " : "",
                  target_names(o), names_targets ? "" : " (this machine's)", seconds);
  text += interface_line(o) + fmt::format("  runs on {}\n", runs_on(o)) + note_on_loading(o);
  if (r.compiled.precision) text += precision_line(*r.compiled.precision);
  return text;
}
std::string weights_line(const CompileOptions& options) {
  return fmt::format("  weights in {}, {}\n", options.weights.string(), human_bytes(bytes_of(options.weights)));
}

void add_json(const Report& r, Json& body) {
  const CompileOptions& o = r.options;
  if (r.compiled.precision) {
    const auto& [share, how] = *r.compiled.precision;
    body["precision"] = {{"type", "bf16"}, {"largest_error", share < 0 ? Json(nullptr) : Json(share)}, {"how", how}};
  }
  if (r.compiled.weights) body.update({{"weights", o.weights.string()}, {"weights_bytes", bytes_of(o.weights)}});
  body["output"] = o.output.string();
  body["bytes"] = nullptr;
  if (r.bytes) body["bytes"] = r.bytes;
  body["runs_on"] = runs_on(o);
  if (o.kind != OutputKind::Program) body["api"] = name_of(o) + "_api";
  if (const auto header = header_of_output(o)) body["header"] = header->string();
  for (const Target& t : o.targets) body["targets"].push_back(t.name);
}

double seconds_of(const Console& console) {
  double seconds = 0;
  for (const Console::Stage& s : console.stages()) seconds += s.seconds;
  return seconds;
}

/// Whether the artifact goes to stdout, where nothing else may be printed then.
bool is_on_stdout(const CompileOptions& options, const Console& console) {
  const bool on_stdout = options.stop >= Stop::Sources && goes_to_stdout(options);
  if (on_stdout && console.json)
    throw Failure(kUsage, fmt::format("`-o {}` is where the document of `--json` goes", options.output.string()),
                  "-o x.so");
  return on_stdout;
}

}  // namespace

int build_verb(Console& console, const ModelFlags& given, const BuildFlags& build) {
  ModelFlags flags = given;
  std::optional<TuneOptions> tuning = take_tuning(flags, build);
  CompileOptions options = read_model_flags(flags);
  read_build_flags(build, options);
  const bool on_stdout = is_on_stdout(options, console);
  Diagnostics diagnostics;
  Compiled compiled;
  TuneReport tuned;
  try {
    if (tuning) place_lock(*tuning, options);
    const auto tune_first = [&](const Model& m, CompileOptions& o) { tuned = tune_model(m, o, *tuning, console); };
    compiled = compile(options, console, diagnostics, tuning ? Chooser(tune_first) : Chooser());
  } catch (const CompileError& e) { diagnostics.add(e.diagnostic); }
  console.end();
  console.report(diagnostics);
  const int code = exit_code_of(diagnostics);
  Json body{{"model", flags.model}, {"ok", compiled.ok && code == kOk}};
  if (!console.kept().empty()) body["text"] = console.kept();
  if (compiled.ok && !options.output.empty()) {
    const Report report{options, compiled, on_stdout ? 0 : bytes_of(options.output)};
    const std::string text = text_of(report, !flags.targets.empty(), seconds_of(console)) + tuned.text +
                             (compiled.weights ? weights_line(options) : "");
    if (!console.quiet) on_stdout ? console.note(text) : console.print(text);
    if (tuning) body["tuning"] = tuned.json;
    add_json(report, body);
  }
  body["stages"] = console.stages_json();
  if (build.time) console.print_stages();
  if (console.json) console.document(std::move(body), code);
  return code;
}

}  // namespace cameo
