// `build`: the road, and one line about what came of it.
#include <fmt/format.h>

#include <filesystem>

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

std::string target_names(const CompileOptions& options) {
  std::string s;
  for (const Target& t : options.targets) s += (s.empty() ? "cpu:" : ",") + t.name;
  return s;
}

}  // namespace

int build_verb(Console& console, const ModelFlags& flags, const BuildFlags& build) {
  CompileOptions options = read_model_flags(flags);
  read_build_flags(build, options);
  Diagnostics diagnostics;
  bool ok = false;
  try {
    ok = compile(options, console, diagnostics);
  } catch (const CompileError& e) { diagnostics.add(e.diagnostic); }
  console.end();
  console.report(diagnostics);
  const int code = exit_code_of(diagnostics);
  Json body{{"model", options.model.string()}, {"ok", ok && code == kOk}};
  if (ok && !options.output.empty()) {
    const uint64_t bytes = bytes_of(options.output);
    double seconds = 0;
    for (const Console::Stage& s : console.stages()) seconds += s.seconds;
    if (!console.quiet)
      console.print(fmt::format("{}: {}, --target={}{}, {:.1f} s\n", options.output.string(), human_bytes(bytes),
                                target_names(options), flags.targets.empty() ? " (this machine's)" : "", seconds));
    body.update({{"output", options.output.string()}, {"bytes", bytes}});
    for (const Target& t : options.targets) body["targets"].push_back(t.name);
  }
  body["stages"] = console.stages_json();
  if (build.time) console.print_stages();
  if (console.json) console.document(std::move(body), code);
  return code;
}

}  // namespace cameo
