// cameo: the command line.
#include <CLI/CLI.hpp>

#include <fmt/format.h>

#include <cstdio>

#include "cli/compile.h"
#include "codegen/build/worker.h"

int main(int argc, char** argv) {
  using namespace cameo;
  if (auto code = run_worker_if_asked(argc, argv)) return *code;
  CLI::App app{"cameo: ONNX in, one self-contained binary out"};
  CompileOptions options;
  std::vector<std::string> dims;
  std::string emit;
  auto* build = app.add_subcommand("build", "compile a model");
  build->add_option("MODEL", options.model)->required();
  build->add_option("-o", options.output);
  build->add_option("--dim", dims);
  build->add_option("--emit", emit);
  build->add_option("--print-after", options.print_after);
  CLI11_PARSE(app, argc, argv);
  for (auto& d : dims) {
    size_t at = d.rfind('=');
    options.import.dims[d.substr(0, at)] = std::stoll(d.substr(at + 1));
  }
  if (emit == "graph") options.stop = Stop::Graph;
  if (emit == "optimized") options.stop = Stop::Optimized;
  if (emit == "plan") options.stop = Stop::Plan;
  if (emit == "sources") options.stop = Stop::Sources;
  Diagnostics diagnostics;
  BuildOptions how;
  std::map<std::string, double> seconds;
  how.seconds = &seconds;
  bool ok = false;
  try {
    ok = compile(options, diagnostics, how);
  } catch (const CompileError& e) {
    diagnostics.add(e.diagnostic);
  }
  for (auto& d : diagnostics.all()) fmt::print(stderr, "{}", to_string(d));
  for (auto& [stage, s] : seconds) fmt::print(stderr, "{} {:.2f} s\n", stage, s);
  return ok && !diagnostics.has_errors() ? 0 : 3;
}
