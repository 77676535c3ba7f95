// `build`: the road, and one line about what came of it.
#include <fmt/format.h>

#include <filesystem>

#include "cli/tune.h"
#include "cli/verbs.h"

namespace cameo {
namespace {

uint64_t bytes_of(const std::filesystem::path& path) {
  std::error_code error;
  if (!std::filesystem::is_directory(path, error)) return std::filesystem::file_size(path, error);
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

bool has_header(OutputKind kind) { return kind != OutputKind::Program && kind != OutputKind::SharedLibrary; }
std::filesystem::path header_beside(const CompileOptions& options) {
  const bool inside = options.kind == OutputKind::Sources;
  return (inside ? options.output : options.output.parent_path()) / (name_of(options) + ".h");
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
  switch (options.kind) {
    case OutputKind::SharedLibrary: return fmt::format("  exports {}, and as cameo_model_api the same\n", api);
    case OutputKind::Program: return "";
    default: return fmt::format("  {} declares {}\n", header_beside(options).string(), api);
  }
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

}  // namespace

int build_verb(Console& console, const ModelFlags& given, const BuildFlags& build) {
  ModelFlags flags = given;
  std::optional<TuneOptions> tuning = take_tuning(flags, build);
  CompileOptions options = read_model_flags(flags);
  read_build_flags(build, options);
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
    const uint64_t bytes = bytes_of(options.output);
    double seconds = 0;
    for (const Console::Stage& s : console.stages()) seconds += s.seconds;
    if (!console.quiet)
      console.print(fmt::format("{}: {}, --target={}{}, {:.1f} s\n", options.output.string(), human_bytes(bytes),
                                target_names(options), flags.targets.empty() ? " (this machine's)" : "", seconds) +
                    interface_line(options) + fmt::format("  runs on {}\n", runs_on(options)) +
                    note_on_loading(options) + (compiled.precision ? precision_line(*compiled.precision) : "") +
                    tuned.text);
    if (tuning) body["tuning"] = tuned.json;
    if (compiled.precision) {
      const auto& [share, how] = *compiled.precision;
      body["precision"] = {{"type", "bf16"}, {"largest_error", share < 0 ? Json(nullptr) : Json(share)}, {"how", how}};
    }
    if (compiled.weights) {
      const uint64_t weights = bytes_of(options.weights);
      if (!console.quiet)
        console.print(fmt::format("  weights in {}, {}\n", options.weights.string(), human_bytes(weights)));
      body.update({{"weights", options.weights.string()}, {"weights_bytes", weights}});
    }
    body.update({{"output", options.output.string()}, {"bytes", bytes}, {"runs_on", runs_on(options)}});
    if (options.kind != OutputKind::Program) body["api"] = name_of(options) + "_api";
    if (has_header(options.kind)) body["header"] = header_beside(options).string();
    for (const Target& t : options.targets) body["targets"].push_back(t.name);
  }
  body["stages"] = console.stages_json();
  if (build.time) console.print_stages();
  if (console.json) console.document(std::move(body), code);
  return code;
}

}  // namespace cameo
