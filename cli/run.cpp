// `run`, `bench`, `profile`: this process becomes the artifact.
#include "cli/runnable.h"
#include "cli/verbs.h"

namespace cameo {

int report_problems(Console& console, const ModelFlags& flags, const Diagnostics& diagnostics) {
  console.end();
  console.report(diagnostics);
  if (!diagnostics.has_errors()) return kOk;
  const int code = exit_code_of(diagnostics);
  if (console.json) console.document({{"model", flags.model}, {"ok", false}}, code);
  return code;
}

int run_verb(Console& console, const std::string& verb, const ModelFlags& flags, const RunFlags& run) {
  Diagnostics diagnostics;
  std::optional<Runnable> runnable = make_runnable(console, verb, flags, run, diagnostics);
  if (const int code = report_problems(console, flags, diagnostics)) return code;
  if (console.json) runnable->arguments.push_back("--json");
  become(*runnable, verb, runnable->arguments);
}

}  // namespace cameo
